//===- Launcher.h - Whether this is one process of several ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launchers tell each process by variables of the environment how many they started. A run is one
// process; several of them would each train the whole model alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCHER_H
#define WEIR_RUNTIME_RUN_LAUNCHER_H

namespace weir {

/// Throws Failure(Exit::usage), naming the variable, where a launcher has started more than one.
void requireOneProcess();

} // namespace weir

#endif

//===- Secret.h - The secret of a run's ranks -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCH_SECRET_H
#define WEIR_RUNTIME_RUN_LAUNCH_SECRET_H

#include <string>

namespace weir {

/// What the file at `path` has, the value of WEIR_JOB_SECRET_FILE, without the line's end; "" where
/// it is null or empty. Warns where every user can read it. Throws Failure(Exit::usage) for what is
/// no file of 16 to 4096 bytes, is another user's than this one or root, or may be written to by
/// its group or everybody.
std::string readSecret(const char *path);

} // namespace weir

#endif

//===- CheckFile.h - Running the tests of one file ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No MLIR types here: the driver is built like the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_CHECK_CHECKFILE_H
#define WEIR_TOOLS_DEV_WEIR_CHECK_CHECKFILE_H

#include "support/Error.h"
#include <string>
#include <vector>

namespace weir::check {

/// Runs every function of the file on the back ends of that name, and those whose name continues it
/// after a colon; on all where it is empty. Says on standard output what agreed, on standard error
/// what did not, where, and what was left out and why. Throws Failure for a file that is no test
/// and a name that is no back end's.
Exit checkFile(const std::string &path, const std::string &backend);

/// A line per back end: its name, what it is, and why this machine cannot run it.
std::string describeBackends();

} // namespace weir::check

#endif

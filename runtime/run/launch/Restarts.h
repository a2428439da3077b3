//===- Restarts.h - Restarts a run after a failure ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The run is a child of the started process, which only waits. If the child is killed or crashes, a
// rank of its group is lost, or its device fails, the next child continues from the last complete
// checkpoint. A child inherits nothing of the one before it, neither its device nor its
// connections. The launcher sees one process. This process passes signals on to the child, and ends
// with the last child. If it is killed, its child is killed, too.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCH_RESTARTS_H
#define WEIR_RUNTIME_RUN_LAUNCH_RESTARTS_H

#include "runtime/run/RunOptions.h"
#include "support/Error.h"

namespace weir {

/// Calls `body`: at once without --restarts, and in a child process of a restarting parent; else in
/// one child process after the other. May not be called after threads have been started. Throws
/// what `body` throws, and Failure(Exit::peer) when it gives up.
Exit withRestarts(const RunOptions &options, const std::function<Exit(const RunOptions &)> &body);

/// "; the last complete checkpoint is kept/step-00000042", for the folder of `options`, as far as
/// known.
std::string lastCheckpoint(const RunOptions &options);

} // namespace weir

#endif

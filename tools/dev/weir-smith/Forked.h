//===- Forked.h - Runs in a process of its own ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_FORKED_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_FORKED_H

#include <functional>
#include <string>
#include <vector>

namespace weir::smith {

/// Called in a process that was just forked.
void dieWithParent();

struct ForkResult {
  std::vector<std::string> lines; ///< as far as they were sent
  std::string death;              ///< how it ended, empty if it returned: "SIGABRT: assertion ..."
};

/// Runs `work` in a forked process, which may crash, and returns the lines it sends. It gets
/// `seconds` of processor time. What it writes to standard error is kept for `death` alone.
ForkResult runForked(const std::function<void(const std::function<void(std::string)> &send)> &work,
                     unsigned seconds);

} // namespace weir::smith

#endif

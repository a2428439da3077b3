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

/// The content of the file at `path`, the value of WEIR_JOB_SECRET_FILE, without the newline at its
/// end; "" if `path` is null or empty. Warns if every user can read the file. Throws
/// Failure(Exit::usage) if it is not a file of 16 to 4096 bytes, belongs to a user other than this
/// one and root, or may be written to by its group or everybody.
std::string readSecret(const char *path);

} // namespace weir

#endif

//===- OwnUser.h - Whose a process or a file is ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SYSTEM_OWNUSER_H
#define WEIR_SUPPORT_SYSTEM_OWNUSER_H

#include <optional>
#include <sys/types.h>

namespace weir {

/// Whether that is certainly the user of this process. In a user namespace the kernel shows all
/// users that it does not map as one, the overflow user (65534, nobody). A process that runs as
/// that user there cannot tell its own files and processes from those of strangers.
bool isOwnUser(uid_t user);

/// Who is at the other end of a connected Unix socket, where that is not certainly the user of this
/// process; uid_t(-1) where the kernel does not say.
std::optional<uid_t> strangerAt(int socket);

} // namespace weir

#endif

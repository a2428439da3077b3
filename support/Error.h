//===- Error.h - Failures and their exit statuses -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every failure that is not ours is a Failure: a message for the user (where, what was expected,
// what was found, what to do) and the exit status that launchers act on. Ours are asserts.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_ERROR_H
#define WEIR_SUPPORT_ERROR_H

#include <cerrno>
#include <stdexcept>
#include <string>

namespace weir {

/// Exit statuses of every Weir tool; docs/reference/running.md lists them for users.
enum class Exit : int {
  ok = 0,
  internal = 1, ///< a fault of ours
  usage = 2,    ///< unknown option, --set or --data name, checkpoint folder in use
  model = 3,   ///< bad model or artifact, or one for another CPU level; checkpoint of another model
  data = 4,    ///< bad data
  numeric = 5, ///< not finite under --nan abort
  device = 6,  ///< device or memory
  peer = 7,    ///< a peer lost or a collective timed out
  storage = 8, ///< cannot write, no whole checkpoint left
  requeue = 75, ///< checkpointed on a signal, start me again
};

class Failure : public std::runtime_error {
public:
  Failure(Exit exit, const std::string &message) : std::runtime_error(message), exit(exit) {}
  const Exit exit;
};

/// What is there could not be read: by its permissions, its disk or what the machine has left. It
/// says nothing about the content.
class Unreadable : public Failure {
public:
  using Failure::Failure;
};

/// Whether `reason`, an errno, is that the machine has no more of something: Exit::device.
inline bool isScarce(int reason) {
  return reason == ENOMEM || reason == EMFILE || reason == ENFILE;
}

} // namespace weir

#endif

//===- Channel.h - Messages over a socket ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_CHANNEL_H
#define WEIR_RUNTIME_COLLECTIVES_CHANNEL_H

#include "runtime/collectives/Messages.h"
#include <chrono>
#include <deque>

namespace weir::collectives {

/// One end of a connection. Never waits, but in next(). One thread at a time.
class Channel {
public:
  using Clock = std::chrono::steady_clock;

  /// Takes a connected socket. Until trust(), short messages alone are taken, and few.
  explicit Channel(int socket);
  ~Channel();
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  void trust() { isTrusted = true; }

  /// Sends as much as goes at once; the rest with move().
  void put(const Message &message);
  /// Sends and receives what there is. False once nothing will come any more: the other end has
  /// closed, or what it sends is no message.
  bool move();
  /// The next message that has come.
  std::optional<Message> take();
  /// Waits for it; nothing where none comes until then.
  std::optional<Message> next(Clock::time_point until);

  /// Nothing is put any more: the other end is told so.
  void close();

  int socket() const { return file; }
  bool isSending() const { return !out.empty(); }

private:
  void send();
  bool receive();

  int file;
  bool isTrusted = false, isOpen = true;
  std::string in, out;
  std::deque<Message> came;
};

} // namespace weir::collectives

#endif

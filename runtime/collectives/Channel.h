//===- Channel.h - Messages over a socket ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_CHANNEL_H
#define WEIR_RUNTIME_COLLECTIVES_CHANNEL_H

#include "runtime/collectives/Links.h"
#include "runtime/collectives/Messages.h"
#include <chrono>
#include <deque>
#include <memory>

namespace weir::collectives {

/// One end of a connection. Never waits, but in next(). One thread at a time.
class Channel {
public:
  using Clock = std::chrono::steady_clock;

  /// Takes a connected socket. With `secure` nothing is sent or taken but over it, once it is
  /// proved. Until trust(), short messages alone are taken, and few.
  explicit Channel(int socket, std::unique_ptr<SecureStream> secure = nullptr);
  ~Channel();
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  void trust() { isTrusted = true; }

  /// Sends as much as goes at once; the rest with move().
  void put(const Message &message);
  /// Without TLS, to who does not speak it: last words, behind which nothing is put or taken.
  void putInTheClear(const Message &message);
  /// Sends and receives what there is. False once nothing will come any more: the other end has
  /// closed, what it sends is no message, or fault() says why.
  bool move();
  /// The next message that has come.
  std::optional<Message> take();
  /// Waits for it; nothing where none comes until then.
  std::optional<Message> next(Clock::time_point until);

  /// Nothing is put any more: the other end is told so.
  void close();

  /// Both ends know the secret, or there is none.
  bool isProved() const { return !secure || secure->isProved(); }
  SecureStream::Fault fault() const { return secure ? secure->fault() : SecureStream::Fault::none; }

  int socket() const { return file; }
  bool isSending() const { return !out.empty(); }

private:
  void send();
  size_t mostToHear() const;
  bool hear(std::string_view bytes);
  bool receive();

  int file;
  const std::unique_ptr<SecureStream> secure;
  size_t unproved = 0; ///< bytes of the handshake that have come
  bool isTrusted = false, isOpen = true;
  std::string in, out;
  std::deque<Message> came;
};

} // namespace weir::collectives

#endif

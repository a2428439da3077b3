//===- Channel.cpp - Messages over a socket -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Channel.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::collectives {

/// Bytes that are taken from the socket at once.
static constexpr size_t most = 1 << 14;

Channel::Channel(int socket, std::unique_ptr<SecureStream> secure)
    : file(socket), secure(std::move(secure)) {
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
  int on = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (this->secure) {
    this->secure->drain(out); // of a client, the beginning of the handshake
    send();
  }
}

Channel::~Channel() { ::close(file); }

/// TLS's own end is not sent: the last message says that it is the last.
void Channel::close() { shutdown(file, SHUT_WR); }

void Channel::put(const Message &message) {
  if (secure) {
    secure->send(encode(message));
    secure->drain(out);
  } else {
    out += encode(message);
  }
  send();
}

void Channel::putInTheClear(const Message &message) {
  isOpen = false;
  out += encode(message);
  send();
}

void Channel::send() {
  while (!out.empty()) {
    ssize_t sent = ::send(file, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0 && errno != EAGAIN)
      out.clear(); // what is closed is noticed by who receives
    if (sent <= 0)
      return;
    out.erase(0, size_t(sent));
  }
}

/// Takes whole messages from the front of what has come. False where one is none.
bool Channel::receive() {
  constexpr size_t fewOfStranger = 4;
  const size_t longest = isTrusted ? Message::mostBytes : Message::mostOfStranger;
  size_t at = 0;
  uint32_t length = 0;
  while (in.size() - at >= sizeof length) {
    std::memcpy(&length, in.data() + at, sizeof length);
    if (length > longest)
      return false;
    if (in.size() - at - sizeof length < length)
      break;
    std::optional<Message> message =
        decode(std::string_view(in).substr(at + sizeof length, length));
    if (!message || (!isTrusted && came.size() >= fewOfStranger))
      return false;
    came.push_back(std::move(*message));
    at += sizeof length + length;
  }
  in.erase(0, at);
  return true;
}

/// A stranger's handshake is as short as its messages.
size_t Channel::mostToHear() const {
  return isProved() ? most : Message::mostOfStranger - unproved;
}

bool Channel::hear(std::string_view bytes) {
  if (!secure) {
    in += bytes;
    return receive();
  }
  unproved += isProved() ? 0 : bytes.size();
  bool isWhole = secure->receive(bytes, in);
  secure->drain(out);
  send();
  return receive() && isWhole && mostToHear() > 0;
}

bool Channel::move() {
  send();
  char some[most];
  while (isOpen) {
    ssize_t got = recv(file, some, mostToHear(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      break;
    isOpen = got > 0 && hear(std::string_view(some, size_t(got)));
  }
  return isOpen;
}

std::optional<Message> Channel::take() {
  if (came.empty())
    return std::nullopt;
  Message first = std::move(came.front());
  came.pop_front();
  return first;
}

std::optional<Message> Channel::next(Clock::time_point until) {
  while (true) {
    bool more = move();
    if (auto message = take())
      return message;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (!more || left <= 0)
      return std::nullopt;
    pollfd ready{file, short(POLLIN | (isSending() ? POLLOUT : 0)), 0};
    poll(&ready, 1, int(std::min<int64_t>(left, 1000)));
  }
}

} // namespace weir::collectives

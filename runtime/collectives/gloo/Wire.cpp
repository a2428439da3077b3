//===- Wire.cpp - A socket, with TLS or without ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/gloo/Wire.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::collectives {

/// Bytes that are taken from the socket at once: four records.
static constexpr size_t most = 1 << 16;
/// And of a stranger's handshake in all. One takes less than 700 bytes.
static constexpr size_t mostUnproved = 1024;
/// Sent bytes are removed from the buffer when they are so many: a slow link may never empty it.
static constexpr size_t mostSent = 1 << 16;

Wire::Wire(int socket, std::unique_ptr<SecureStream> secure)
    : file(socket), secure(std::move(secure)) {
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
  int on = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A Unix socket's buffer does not grow by itself; the kernel cuts this to what it allows.
  int size = 1 << 22;
  if (isPlain())
    setsockopt(file, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  if (this->secure)
    this->secure->drain(out); // of a client, the beginning of the handshake
  flush();
}

Wire::~Wire() { close(file); }

bool Wire::fail(const std::string &why) {
  if (broken.empty())
    broken = why;
  return false;
}

void Wire::put(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (secure) {
    secure->send(text);
    secure->drain(out);
    return;
  }
  if (unsent() == 0)
    sendNow(text);
  out += text;
}

void Wire::sendNow(std::string_view &bytes) {
  while (!bytes.empty() && broken.empty()) {
    ssize_t done = send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0 && errno == EAGAIN)
      return;
    if (done < 0) {
      fail(std::strerror(errno));
      return;
    }
    bytes.remove_prefix(size_t(done));
    gone += uint64_t(done);
  }
}

bool Wire::flush() {
  std::string_view rest = std::string_view(out).substr(sent);
  sendNow(rest);
  sent = out.size() - rest.size();
  if (sent >= mostSent || rest.empty()) {
    out.erase(0, sent);
    sent = 0;
  }
  return broken.empty();
}

bool Wire::receive(void *memory, size_t size, size_t &got) {
  got = 0;
  if (!broken.empty())
    return false;
  ssize_t came = recv(file, memory, size, MSG_DONTWAIT);
  if (came < 0 && (errno == EINTR || errno == EAGAIN))
    return true;
  if (came < 0)
    return fail(std::strerror(errno));
  if (came == 0)
    return fail("the other end closed it");
  got = size_t(came);
  return true;
}

bool Wire::readInto(std::span<std::byte> memory, size_t &got) {
  return receive(memory.data(), memory.size(), got);
}

bool Wire::read() {
  char some[most];
  size_t got = 0;
  if (!receive(some, isProved() ? most : mostUnproved - unproved, got) || got == 0)
    return broken.empty();
  if (!secure) {
    in.append(some, got);
    return true;
  }
  unproved += isProved() ? 0 : got;
  bool isWhole = secure->receive({some, got}, in);
  secure->drain(out);
  if (!isWhole || (!isProved() && unproved == mostUnproved)) {
    flush(); // the alert, for the other end to know
    return fail(secure->fault() == SecureStream::Fault::forged
                    ? "it delivered bytes that the other end did not send, so something on the "
                      "network path modifies them"
                    : "the other end did not prove that it knows the secret");
  }
  return flush();
}

} // namespace weir::collectives

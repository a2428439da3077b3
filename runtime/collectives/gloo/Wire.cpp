//===- Wire.cpp - A socket that speaks TLS --------------------------------===//
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
  secure->send({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  secure->drain(out);
}

bool Wire::flush() {
  while (unsent() > 0 && broken.empty()) {
    ssize_t done = send(file, out.data() + sent, unsent(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0 && errno == EAGAIN)
      return true;
    if (done < 0)
      return fail(std::strerror(errno));
    sent += size_t(done);
    gone += uint64_t(done);
    if (sent >= mostSent) {
      out.erase(0, sent);
      sent = 0;
    }
  }
  out.clear();
  sent = 0;
  return broken.empty();
}

bool Wire::read() {
  if (!broken.empty())
    return false;
  char some[most];
  ssize_t got = recv(file, some, isProved() ? most : mostUnproved - unproved, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return true;
  if (got < 0)
    return fail(std::strerror(errno));
  if (got == 0)
    return fail("the other end has closed it");
  unproved += isProved() ? 0 : size_t(got);
  bool isWhole = secure->receive({some, size_t(got)}, in);
  secure->drain(out);
  if (!isWhole || (!isProved() && unproved == mostUnproved)) {
    flush(); // the alert, for the other end to know
    return fail(secure->fault() == SecureStream::Fault::forged
                    ? "it brought bytes that the other end has not sent, so something on the way "
                      "changes them"
                    : "the other end has not proved to know the secret");
  }
  return flush();
}

} // namespace weir::collectives

//===- Wire.h - A socket, with TLS or without -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_GLOO_WIRE_H
#define WEIR_RUNTIME_COLLECTIVES_GLOO_WIRE_H

#include "runtime/collectives/Links.h"

namespace weir::collectives {

/// A connected socket and the TLS over it, if any, for bytes that have no end. Never waits. One
/// thread at a time.
class Wire {
public:
  /// Takes the socket. Until the other end has proved itself, few bytes of it are taken. `secure`
  /// is null where the kernel has said who it is.
  Wire(int socket, std::unique_ptr<SecureStream> secure);
  ~Wire();
  Wire(const Wire &) = delete;
  Wire &operator=(const Wire &) = delete;

  int socket() const { return file; }
  bool isProved() const { return !secure || secure->isProved(); }

  /// Whether bytes go over the socket as they are.
  bool isPlain() const { return !secure; }

  /// Encrypts where there is TLS, for flush() to send. Else sends what goes at once.
  void put(std::span<const std::byte> bytes);
  /// Sends what goes at once. False where the connection is broken: why() says how.
  bool flush();
  /// Bytes that the socket has not taken yet, and those that it has taken since the beginning.
  size_t unsent() const { return out.size() - sent; }
  uint64_t taken() const { return gone; }

  /// Takes some of what there is on the socket. False once nothing comes any more; what has come
  /// ahead of that is good.
  bool read();
  /// What the other end has said; the caller removes what it has used.
  std::string &came() { return in; }
  /// The same as read() where isPlain(), into that memory. `got`: how many bytes.
  bool readInto(std::span<std::byte> memory, size_t &got);

  const std::string &why() const { return broken; }

private:
  bool fail(const std::string &why);
  /// As much as goes at once; the rest is `bytes`.
  void sendNow(std::string_view &bytes);
  /// As recv(), and 0 where nothing is there. False where it is broken.
  bool receive(void *memory, size_t size, size_t &got);

  const int file;
  const std::unique_ptr<SecureStream> secure;
  size_t unproved = 0; ///< bytes of the handshake that have come
  std::string in, out; ///< plain, and as it goes over the socket
  size_t sent = 0;     ///< of `out`
  uint64_t gone = 0;
  std::string broken;
};

} // namespace weir::collectives

#endif

//===- Wire.h - A socket that speaks TLS ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_GLOO_WIRE_H
#define WEIR_RUNTIME_COLLECTIVES_GLOO_WIRE_H

#include "runtime/collectives/Links.h"

namespace weir::collectives {

/// A connected socket and the TLS over it, for bytes that have no end. Never waits. One thread at a
/// time.
class Wire {
public:
  /// Takes the socket. Until the other end has proved itself, few bytes of it are taken.
  Wire(int socket, std::unique_ptr<SecureStream> secure);
  ~Wire();
  Wire(const Wire &) = delete;
  Wire &operator=(const Wire &) = delete;

  int socket() const { return file; }
  bool isProved() const { return secure->isProved(); }

  /// Encrypts, for flush() to send.
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

  const std::string &why() const { return broken; }

private:
  bool fail(const std::string &why);

  const int file;
  const std::unique_ptr<SecureStream> secure;
  size_t unproved = 0; ///< bytes of the handshake that have come
  std::string in, out; ///< plain and encrypted
  size_t sent = 0;     ///< of `out`
  uint64_t gone = 0;
  std::string broken;
};

} // namespace weir::collectives

#endif

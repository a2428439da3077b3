//===- Endpoint.h - Where rank 0 is reached -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An address of rank 0's host, less the port. A loopback address is that of this machine alone, but
// all of its users reach it, and who is taken for rank 0 sends an artifact, which is machine code.
// So what has a loopback address is reached over a Unix socket, of which the kernel says whose
// process is at the other end: one of the same user, or it is not talked to. The socket has a name
// in the abstract namespace, made of the user, the address and the port; like ports, such names
// belong to a network namespace and leave no file.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_ENDPOINT_H
#define WEIR_RUNTIME_COLLECTIVES_ENDPOINT_H

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/types.h>
#include <vector>

namespace weir::collectives {

struct Meeting;

class Endpoint {
public:
  /// Those of the meeting's host, IPv4 before IPv6: all loopback ones or none. Throws
  /// Failure(Exit::usage) for a host that is not known here, cannot be reached by the other ranks,
  /// or is open to a network although there is no secret.
  static std::vector<Endpoint> of(const Meeting &meeting);

  bool isThisMachine() const;
  /// "127.0.0.1".
  std::string text() const;
  /// "127.0.0.1:29501".
  std::string place(uint16_t port) const;

  /// A socket that listens, or -1 with errno. Nothing of the three waits.
  int listen(uint16_t port, int backlog) const;
  /// One that connects (poll for POLLOUT), or -1 with errno.
  int connect(uint16_t port) const;

  /// This process's address, towards the other end of a connected socket.
  std::string ownAddress(int socket) const;
  /// The other end's, or this machine's where that has none of its own.
  std::string otherAddress(int socket) const;
  /// The user at the other end, where it is another one than this process's and that matters.
  std::optional<uid_t> stranger(int socket) const;

private:
  /// As the kernel takes it.
  struct Raw {
    sockaddr_storage storage{};
    socklen_t length = 0;
  };
  Raw at(uint16_t port) const;
  int open() const;

  Raw internet;
  bool isUnix = false;
};

} // namespace weir::collectives

#endif

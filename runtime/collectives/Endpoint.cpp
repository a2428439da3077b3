//===- Endpoint.cpp - Where rank 0 is reached -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Endpoint.h"
#include "runtime/collectives/Rendezvous.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/system/OwnUser.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

namespace weir::collectives {
namespace {

sockaddr *raw(sockaddr_storage &storage) { return reinterpret_cast<sockaddr *>(&storage); }

std::string numeric(const sockaddr_storage &storage, socklen_t length) {
  char name[NI_MAXHOST] = "?";
  getnameinfo(reinterpret_cast<const sockaddr *>(&storage), length, name, sizeof name, nullptr, 0,
              NI_NUMERICHOST);
  return name;
}

/// Where rank 0 listens so, no other machine finds it, and all would wait for who cannot come.
void requireReachable(const Meeting &meeting, const Endpoint &endpoint) {
  if (!endpoint.isThisMachine() || meeting.beside == 0 || meeting.beside >= meeting.size)
    return;
  throw Failure(
      Exit::usage,
      concat("the address of rank 0, ", meeting.host, ", resolves to ", endpoint.text(),
             " on this machine, which no other machine can reach, but the launcher started only ",
             meeting.beside, " of the ", meeting.size,
             " processes on this machine. Set MASTER_ADDR to an address of rank 0's machine that "
             "the other machines can reach (Debian's /etc/hosts maps the machine's own name to "
             "127.0.1.1); if all processes run on one machine, give --rendezvous 127.0.0.1:29500"));
}

} // namespace

std::vector<Endpoint> Endpoint::of(const Meeting &meeting) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(meeting.host.c_str(), nullptr, &hints, &found);
  if (error)
    throw Failure(Exit::usage,
                  concat("the address of rank 0, ", meeting.host,
                         ", cannot be resolved on this machine: ", gai_strerror(error)));
  std::vector<Endpoint> all;
  for (int family : {AF_INET, AF_INET6})
    for (const addrinfo *one = found; one; one = one->ai_next)
      if (one->ai_family == family) {
        Endpoint endpoint;
        std::memcpy(&endpoint.internet.storage, one->ai_addr, one->ai_addrlen);
        endpoint.internet.length = one->ai_addrlen;
        endpoint.isUnix = endpoint.isThisMachine() && !meeting.trustsNetwork;
        all.push_back(endpoint);
      }
  freeaddrinfo(found);
  if (all.empty())
    throw Failure(Exit::usage,
                  concat("the address of rank 0, ", meeting.host, ", has no IPv4 or IPv6 address"));
  bool isHere = all[0].isThisMachine();
  std::erase_if(all, [&](const Endpoint &one) { return one.isThisMachine() != isHere; });
  requireReachable(meeting, all[0]);
  if (all[0].isUnix && !isOwnUser(geteuid()))
    throw Failure(Exit::usage,
                  concat("ranks on one machine identify each other by their user, but this process "
                         "runs in a user namespace as user ",
                         geteuid(),
                         ", to which all users outside the namespace are mapped: run it as another "
                         "user, or give --trust-network and a secret in WEIR_JOB_SECRET_FILE"));
  if (!isHere && meeting.secret.empty() && !meeting.trustsNetwork)
    throw Failure(Exit::usage,
                  concat("the address of rank 0, ", meeting.host,
                         ", is reachable from the network: set WEIR_JOB_SECRET_FILE to a file with "
                         "a secret that all ranks share, or give --trust-network if anybody on the "
                         "network may join the run"));
  return all;
}

bool Endpoint::isThisMachine() const {
  if (internet.storage.ss_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in &>(internet.storage).sin_addr.s_addr) >> 24) ==
           127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 &>(internet.storage).sin6_addr);
}

std::string Endpoint::text() const { return numeric(internet.storage, internet.length); }

std::string Endpoint::place(uint16_t port) const {
  std::string address = text();
  bool colons = address.find(':') != std::string::npos;
  return concat(colons ? "[" : "", address, colons ? "]" : "", ":", port);
}

Endpoint::Raw Endpoint::at(uint16_t port) const {
  Raw made = internet;
  if (isUnix) {
    std::string name = concat("weir ", geteuid(), " ", place(port));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1); // behind a null byte
    std::memcpy(&made.storage, &address, sizeof address);
    made.length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  } else if (made.storage.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in &>(made.storage).sin_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in6 &>(made.storage).sin6_port = htons(port);
  }
  return made;
}

int Endpoint::open() const {
  return socket(isUnix ? AF_UNIX : internet.storage.ss_family,
                SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/// Closes, and leaves errno as it was.
static int failed(int file) {
  int reason = errno;
  if (file >= 0)
    close(file);
  errno = reason;
  return -1;
}

int Endpoint::listen(uint16_t port, int backlog) const {
  int file = open(), on = 1;
  Raw address = at(port);
  if (file < 0)
    return -1;
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(file, raw(address.storage), address.length) != 0 || ::listen(file, backlog) != 0)
    return failed(file);
  return file;
}

int Endpoint::connect(uint16_t port) const {
  int file = open();
  Raw address = at(port);
  if (file < 0)
    throw Failure(Exit::device, concat("cannot create a socket: ", std::strerror(errno)));
  if (::connect(file, raw(address.storage), address.length) != 0 && errno != EINPROGRESS)
    return failed(file);
  return file;
}

std::string Endpoint::ownAddress(int socket) const {
  if (isUnix)
    return text();
  Raw own;
  own.length = sizeof own.storage;
  getsockname(socket, raw(own.storage), &own.length);
  return numeric(own.storage, own.length);
}

std::string Endpoint::otherAddress(int socket) const {
  if (isUnix)
    return text();
  Raw other;
  other.length = sizeof other.storage;
  if (getpeername(socket, raw(other.storage), &other.length) != 0)
    return "an unknown address";
  return numeric(other.storage, other.length);
}

std::optional<uid_t> Endpoint::stranger(int socket) const {
  return isUnix ? strangerAt(socket) : std::nullopt;
}

} // namespace weir::collectives

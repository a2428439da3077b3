//===- Connector.cpp - Connections that prove who is at the other end -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/gloo/Connector.h"
#include "runtime/collectives/gloo/Tls.h"
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <sstream>
#include <stdexcept>
#include <sys/random.h>
#include <sys/un.h>
#include <unistd.h>

namespace weir::collectives {
namespace {

/// For a stranger to prove itself; who is slower calls again.
constexpr std::chrono::seconds toProve(5), toProveInACrowd(1);
constexpr std::chrono::milliseconds betweenCalls(100);
constexpr size_t mostVisitors = 128; ///< a crowd

std::runtime_error errnoError(const std::string &what) {
  return std::runtime_error(what + ": " + std::strerror(errno));
}

sockaddr *raw(sockaddr_storage &storage) { return reinterpret_cast<sockaddr *>(&storage); }

/// Throws where that is no numeric address. Port 0: any that is free.
socklen_t resolve(const std::string &host, const std::string &port, sockaddr_storage &storage) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0)
    throw std::runtime_error(host + " port " + port + " is not a valid address");
  socklen_t length = found->ai_addrlen;
  std::memcpy(&storage, found->ai_addr, length);
  freeaddrinfo(found);
  return length;
}

/// Of an abstract Unix socket: it has no file, and is gone with the process. Who does not know the
/// random bits does not find it, and the kernel says who has.
socklen_t resolve(const std::string &random, sockaddr_storage &storage) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name = "weir links " + random;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1); // behind a null byte
  std::memcpy(&storage, &address, sizeof address);
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

std::string drawRandom() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw errnoError("cannot get random numbers");
  std::string text;
  for (unsigned char byte : bytes)
    for (int half : {byte >> 4, byte & 15})
      text += "0123456789abcdef"[half];
  return text;
}

} // namespace

Connector::Connector(const Links::Settings &settings)
    : settings(settings), random(drawRandom()), wires(size_t(settings.size)) {
  if (settings.rank + 1 == settings.size)
    return;
  secured(settings.rank + 1, random); // it fails here, or for nobody who comes
  sockaddr_storage storage{};
  socklen_t length =
      usesUnixSockets() ? resolve(random, storage) : resolve(settings.interface, "0", storage);
  listening = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listening < 0 || bind(listening, raw(storage), length) != 0 ||
      listen(listening, SOMAXCONN) != 0) {
    std::runtime_error error = errnoError("cannot listen at " + settings.interface);
    if (listening >= 0)
      close(listening);
    throw error;
  }
}

Connector::~Connector() {
  if (listening >= 0)
    close(listening);
  for (Visitor &visitor : visitors)
    if (visitor.file >= 0)
      close(visitor.file);
  for (Call &call : calls)
    if (call.file >= 0)
      close(call.file);
}

std::vector<std::string> Connector::addresses() const {
  std::vector<std::string> all(size_t(settings.size));
  if (listening < 0)
    return all;
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (getsockname(listening, raw(own), &length) != 0)
    throw errnoError("cannot read the port");
  in_port_t port = own.ss_family == AF_INET    ? reinterpret_cast<sockaddr_in &>(own).sin_port
                   : own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 &>(own).sin6_port
                                               : 0;
  for (auto peer = size_t(settings.rank) + 1; peer < all.size(); ++peer)
    all[peer] = settings.interface + " " + std::to_string(ntohs(port)) + " " + random;
  return all;
}

/// What the two prove the secret under. The connections to rank 0 have names that begin otherwise.
std::string Connector::nameOf(int64_t peer, const std::string &random) const {
  return "weir links 1 " + std::to_string(std::min(peer, settings.rank)) + "-" +
         std::to_string(std::max(peer, settings.rank)) + " " + random + " " + settings.run;
}

std::unique_ptr<SecureStream> Connector::secured(int64_t peer, const std::string &random) const {
  if (usesUnixSockets())
    return nullptr;
  return makeSecure(peer < settings.rank ? SecureStream::End::client : SecureStream::End::server,
                    settings.secret, nameOf(peer, random));
}

Connector::Address Connector::parse(int64_t peer, const std::string &text) const {
  std::istringstream words(text);
  std::string host, port;
  Address address;
  if (!(words >> host >> port >> address.random))
    throw std::runtime_error("rank " + std::to_string(peer) + " sent no address");
  address.length = usesUnixSockets() ? resolve(address.random, address.storage)
                                     : resolve(host, port, address.storage);
  address.text = usesUnixSockets() ? "its socket" : host + " port " + port;
  return address;
}

std::vector<std::unique_ptr<Wire>> Connector::connect(const std::vector<std::string> &addresses) {
  const auto until = Clock::now() + settings.patience;
  for (int64_t peer = 0; peer < settings.rank; ++peer)
    calls.push_back({peer, parse(peer, addresses[size_t(peer)])});
  auto missing = [&] {
    for (int64_t peer = 0; peer < settings.size; ++peer)
      if (peer != settings.rank && !wires[size_t(peer)])
        return true;
    return false;
  };
  while (missing()) {
    if (Clock::now() > until)
      fail();
    std::vector<pollfd> files;
    if (visitors.size() < mostVisitors && Clock::now() >= nextWelcome)
      files.push_back({listening, POLLIN, 0});
    for (const Visitor &visitor : visitors)
      files.push_back({visitor.wire ? visitor.wire->socket() : visitor.file, POLLIN, 0});
    for (const Call &call : calls)
      files.push_back(
          {call.wire ? call.wire->socket() : call.file, short(call.wire ? POLLIN : POLLOUT), 0});
    poll(files.data(), files.size(), int(betweenCalls.count()));
    welcome();
    auto limit = visitors.size() < mostVisitors ? toProve : toProveInACrowd;
    std::erase_if(visitors, [&](Visitor &visitor) { return hear(visitor, limit); });
    for (Call &call : calls)
      goOn(call);
    std::erase_if(calls, [&](const Call &call) { return wires[size_t(call.peer)] != nullptr; });
  }
  return std::move(wires);
}

void Connector::fail() const {
  for (const Call &call : calls)
    throw std::runtime_error("rank " + std::to_string(call.peer) + " cannot be reached at " +
                             call.address.text + ": " +
                             (call.failure.empty() ? "it does not answer" : call.failure));
  int64_t peer = settings.rank + 1;
  while (wires[size_t(peer)])
    ++peer;
  throw std::runtime_error("rank " + std::to_string(peer) +
                           " cannot be reached: it has not connected to this rank's port");
}

void Connector::welcome() {
  for (size_t come = 0; listening >= 0 && come < mostVisitors && visitors.size() < mostVisitors;
       ++come) {
    int file = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (file < 0) {
      if (errno == EMFILE || errno == ENFILE) // poll() would come back at once
        nextWelcome = Clock::now() + betweenCalls;
      return;
    }
    if (isStrangers(file))
      close(file);
    else
      visitors.push_back({file, Clock::now()});
  }
}

/// False once it is not to be heard any more.
bool Connector::introduce(Visitor &visitor) {
  ssize_t got = recv(visitor.file, visitor.said.data() + visitor.heard,
                     visitor.said.size() - visitor.heard, MSG_DONTWAIT);
  if (got <= 0)
    return got < 0 && (errno == EAGAIN || errno == EINTR);
  visitor.heard += size_t(got);
  if (visitor.heard < visitor.said.size())
    return true;
  for (unsigned char byte : visitor.said)
    visitor.peer = std::max<int64_t>(visitor.peer, 0) << 8 | byte;
  if (visitor.peer <= settings.rank || visitor.peer >= settings.size)
    return false;
  visitor.wire = std::make_unique<Wire>(visitor.file, secured(visitor.peer, random));
  visitor.file = -1;
  return true;
}

bool Connector::hear(Visitor &visitor, std::chrono::seconds limit) {
  bool isHeard = (visitor.wire || introduce(visitor)) && (!visitor.wire || visitor.wire->read());
  if (isHeard && visitor.wire && visitor.wire->isProved()) {
    // One byte that says so: who calls knows then that it need not call again. Where it has, the
    // first connection was cut.
    const std::byte taken{1};
    visitor.wire->put(std::span(&taken, 1));
    if (visitor.wire->flush())
      wires[size_t(visitor.peer)] = std::move(visitor.wire);
    return true;
  }
  if (isHeard && Clock::now() < visitor.since + limit)
    return false;
  if (visitor.file >= 0)
    close(visitor.file);
  return true;
}

void Connector::begin(Call &call) {
  call.file = socket(call.address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (call.file < 0)
    throw errnoError("cannot create a socket");
  if (::connect(call.file, raw(call.address.storage), call.address.length) != 0 &&
      errno != EINPROGRESS)
    giveUp(call, std::strerror(errno));
}

void Connector::giveUp(Call &call, const std::string &why) {
  call.failure = why;
  call.wire.reset();
  if (call.file >= 0)
    close(call.file);
  call.file = -1;
  call.next = Clock::now() + betweenCalls;
}

void Connector::goOn(Call &call) {
  if (!call.wire && call.file < 0) {
    if (Clock::now() >= call.next)
      begin(call);
    return;
  }
  if (!call.wire) {
    pollfd ready{call.file, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0)
      return;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(call.file, SOL_SOCKET, SO_ERROR, &error, &size);
    if (!error && isStrangers(call.file))
      return giveUp(call, "another user's process listens there");
    auto rank = uint32_t(settings.rank);
    unsigned char said[] = {
        static_cast<unsigned char>(rank >> 24), static_cast<unsigned char>(rank >> 16),
        static_cast<unsigned char>(rank >> 8), static_cast<unsigned char>(rank)};
    if (error || send(call.file, said, sizeof said, MSG_NOSIGNAL) != sizeof said)
      return giveUp(call, std::strerror(error ? error : errno));
    call.wire = std::make_unique<Wire>(call.file, secured(call.peer, call.address.random));
    call.file = -1;
  }
  bool isOpen = call.wire->read();
  if (!call.wire->came().empty()) {
    call.wire->came().erase(0, 1); // that it is taken
    wires[size_t(call.peer)] = std::move(call.wire);
  } else if (!isOpen) {
    giveUp(call, std::string(call.wire->why()));
  }
}

} // namespace weir::collectives

//===- Connector.h - Connecting ranks that share a secret -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank listens for those of higher numbers, and calls those of lower ones. Who calls says its
// rank in the clear, and then both prove by TLS that they know the secret, under a name that says
// what the connection is for: the run, the two ranks, and a random number of who listens, which
// came over the proved channel. So a connection of other ranks, of another run or of another
// purpose proves nothing here, whoever passes it on.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_GLOO_CONNECTOR_H
#define WEIR_RUNTIME_COLLECTIVES_GLOO_CONNECTOR_H

#include "runtime/collectives/gloo/Wire.h"
#include "support/system/OwnUser.h"
#include <array>
#include <chrono>
#include <poll.h>
#include <sys/socket.h>

namespace weir::collectives {

class Connector {
public:
  /// Listens, at a TCP port or, without a secret, at a Unix socket. Throws std::exception.
  explicit Connector(const Links::Settings &settings);
  ~Connector();

  /// As Links'. To ranks of lower numbers nothing.
  std::vector<std::string> addresses() const;
  /// A proved connection to each other rank, at its number. Throws std::exception where one is not
  /// there in time. A stranger has 5 s to prove itself, in a crowd of 128 one.
  std::vector<std::unique_ptr<Wire>> connect(const std::vector<std::string> &addresses);

private:
  using Clock = std::chrono::steady_clock;
  struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;
    std::string text;   ///< "127.0.0.1 port 40000", or "its socket"
    std::string random; ///< of who listens
  };
  /// Who has come.
  struct Visitor {
    int file; ///< until it has said who it is, then -1
    Clock::time_point since;
    std::array<unsigned char, 4> said{}; ///< its rank, the high byte first
    size_t heard = 0;                    ///< bytes of it
    int64_t peer = -1;
    std::unique_ptr<Wire> wire = nullptr;
  };
  /// To one rank, again and again.
  struct Call {
    int64_t peer;
    Address address;
    int file = -1; ///< until it is connected, then -1
    std::unique_ptr<Wire> wire = nullptr;
    Clock::time_point next{}; ///< of nothing under way: when to try again
    std::string failure = {};
  };

  std::string nameOf(int64_t peer, const std::string &random) const;
  /// Ranks of one user on one machine need no secret: the kernel says who is at the other end.
  bool usesUnixSockets() const { return settings.secret.empty(); }
  bool isStrangers(int file) const { return usesUnixSockets() && strangerAt(file).has_value(); }
  /// Null over Unix sockets.
  std::unique_ptr<SecureStream> secured(int64_t peer, const std::string &random) const;
  Address parse(int64_t peer, const std::string &text) const;
  void welcome();
  /// Whether it is done with: proved, or sent away.
  bool hear(Visitor &visitor, std::chrono::seconds limit);
  bool introduce(Visitor &visitor);
  void begin(Call &call);
  void goOn(Call &call);
  void giveUp(Call &call, const std::string &why);
  [[noreturn]] void fail() const;

  const Links::Settings settings;
  int listening = -1;
  std::string random;
  Clock::time_point nextWelcome{}; ///< later than now where there was no file for who came
  std::vector<Visitor> visitors;
  std::vector<Call> calls;
  std::vector<std::unique_ptr<Wire>> wires;
};

} // namespace weir::collectives

#endif

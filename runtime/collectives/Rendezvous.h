//===- Rendezvous.h - How the processes of a run find each other ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank 0 listens at the first free port from a given one on, and the others look for it there: who
// listens at a port may be of another job, or no program of ours. Other addresses than this
// machine's own want a secret, or the word that everybody on the network may be trusted; on this
// machine ranks talk to processes of their own user alone (Endpoint.h). Where there is a secret,
// all that is said goes over TLS, whose handshake proves to both ends that the other one knows it
// (Links.h), and nothing is believed ahead of that. Who passes the bytes on between the two is no
// more than a cable.
//
// A rank tries all ports side by side. A refusal ends the visit to one port: it ends the rank only
// where none of the ports has welcomed it. Who does not prove to know the secret ends no rank: it
// looks on for as long as it may, and says after a while what it has found.
//
// Each time that all have met is a generation of the run. Who comes says of which one it was last.
// The server stays as long as a generation does, for those who come again: who was of this one has
// left it, and so ends it; who was of an older one, and has another in its place, is refused; who
// is new looks on until there is a place for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_RENDEZVOUS_H
#define WEIR_RUNTIME_COLLECTIVES_RENDEZVOUS_H

#include "runtime/collectives/Channel.h"
#include "runtime/collectives/Endpoint.h"
#include "runtime/collectives/Links.h"
#include "support/Error.h"
#include <functional>
#include <map>
#include <memory>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace weir::collectives {

/// How many ports there are to be found at.
constexpr int rendezvousPorts = 16;

/// Grows with every change of what is said.
constexpr uint32_t rendezvousProtocol = 5;

/// Who comes where.
struct Meeting {
  int64_t rank = 0, size = 1;
  std::string host = {};   ///< rank 0's, a name or an address
  uint16_t port = 0;       ///< the first
  std::string job = {};    ///< the same for all ranks of a run, and no other run's; a short name
  std::string secret = {}; ///< "": there is none
  bool trustsNetwork = false;
  int64_t beside = 0; ///< how many of the ranks are said to be on this machine; 0: nobody says
  int64_t last = 0;   ///< the generation that this process, or the one before it, was of; 0: none
  std::chrono::milliseconds patience = std::chrono::minutes(5); ///< with who has not come yet
  /// How much later rank 0 may begin to listen before warn() names who listens in its place.
  std::chrono::milliseconds lateness = std::chrono::seconds(10);
  /// After which a rank says whom it waits for.
  std::chrono::milliseconds notice = std::chrono::seconds(10);
  /// What the user has to know, from any thread.
  std::function<void(const std::string &)> warn = [](const std::string &) {};
};

/// What connections to rank 0 prove the secret under.
std::string secretName(const std::string &job);

/// That the others are not met, which trying again does not mend: some have not come in the time
/// that there is for it, or will not have this one.
class NotMet : public Failure {
public:
  using Failure::Failure;
};

/// Rank 0's. The caller polls.
class RendezvousServer {
public:
  /// Listens. Throws Failure: Exit::usage for an address that is not this machine's or not safe,
  /// Exit::peer where no port is free, Exit::device where there is no TLS to be had.
  RendezvousServer(const Meeting &meeting, const LinksPlugin &crypto);
  ~RendezvousServer();

  /// Adds what to wait for.
  void await(std::vector<pollfd> &files) const;
  /// Hears who comes. Returns who has proved to be of the run since, by rank.
  std::map<int64_t, std::unique_ptr<Channel>> admit();

  /// All are here, and that is the number of their generation.
  void holds(int64_t generation) { this->generation = generation; }
  /// Who was of this generation, and has come again since.
  std::vector<int64_t> cameAgain() { return std::exchange(again, {}); }

  /// "127.0.0.1:29501".
  std::string place() const;
  /// The address alone.
  std::string address() const { return endpoint.text(); }
  bool areAllHere() const { return int64_t(here.size()) == meeting.size - 1; }
  /// The ranks that have not come.
  std::vector<int64_t> missing() const;

private:
  struct Visitor {
    std::unique_ptr<Channel> channel;
    Channel::Clock::time_point since;
  };
  void sayWhereElse() const;
  /// Of who has not proved to know the secret.
  void doubt(const Visitor &visitor);
  /// Whether it is done with, as one of the run or as a stranger.
  bool hear(Visitor &visitor, const Message &hello,
            std::map<int64_t, std::unique_ptr<Channel>> &admitted);
  Message answerAgain(int64_t rank, int64_t last);

  const Meeting meeting;
  const LinksPlugin &crypto;
  int listening = -1;
  Endpoint endpoint;
  uint16_t port = 0;
  std::vector<Visitor> visitors;
  Channel::Clock::time_point nextWelcome{}; ///< later than now where there was no file for one
  std::map<int64_t, bool> here;
  bool hasDoubted = false;
  int64_t generation = 0; ///< 0: they are still meeting
  int64_t newest; ///< of this process and all who have come, the generation that they were of
  std::vector<int64_t> again;
};

/// What another rank has found.
struct Entered {
  std::unique_ptr<Channel> channel; ///< to rank 0
  std::string place;                ///< rank 0's
  std::string address;              ///< this process's own, towards rank 0
};

/// Looks for rank 0. Throws Failure: as above, and Exit::usage where rank 0 will not have this one,
/// or who answers has another secret until the end, and no other port welcomes it; NotMet where it
/// does not answer in time, or goes on without this one.
Entered enter(const Meeting &meeting, const LinksPlugin &crypto);

} // namespace weir::collectives

#endif

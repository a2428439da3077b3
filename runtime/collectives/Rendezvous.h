//===- Rendezvous.h - How the processes of a run find each other ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank 0 listens at the first free port from a given one on, and the others look for it there: who
// listens at a port may be of another job, or no program of ours. Both ends prove that they know
// the job's secret, where there is one, and neither sends it. Other addresses than this machine's
// own want one, or the word that everybody on the network may be trusted.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_RENDEZVOUS_H
#define WEIR_RUNTIME_COLLECTIVES_RENDEZVOUS_H

#include "runtime/collectives/Channel.h"
#include "runtime/collectives/Links.h"
#include <map>
#include <memory>
#include <poll.h>
#include <sys/socket.h>

namespace weir::collectives {

/// How many ports there are to be found at.
constexpr int rendezvousPorts = 16;

/// Who comes where.
struct Meeting {
  int64_t rank = 0, size = 1;
  std::string host = {};   ///< rank 0's, a name or an address
  uint16_t port = 0;       ///< the first
  std::string job = {};    ///< the same for all ranks of a run, and no other run's
  std::string secret = {}; ///< "": there is none
  bool trustsNetwork = false;
  std::chrono::milliseconds patience = std::chrono::minutes(5); ///< with who has not come yet
};

/// Rank 0's. The caller polls.
class Door {
public:
  /// Listens. Throws Failure: Exit::usage for an address that is not this machine's or not safe,
  /// Exit::peer where no port is free.
  Door(const Meeting &meeting, const LinksPlugin &crypto);
  ~Door();

  /// Adds what to wait for.
  void await(std::vector<pollfd> &files) const;
  /// Hears who comes. Returns who has proved to be of the run since, by rank.
  std::map<int64_t, std::unique_ptr<Channel>> admit();

  /// "127.0.0.1:29501".
  std::string place() const;
  /// The address alone.
  const std::string &address() const { return numeric; }
  bool areAllHere() const { return int64_t(here.size()) == meeting.size - 1; }
  /// The ranks that have not come.
  std::vector<int64_t> missing() const;

private:
  struct Visitor {
    std::unique_ptr<Channel> channel;
    std::string nonce;
    Channel::Clock::time_point until;
  };
  /// Whether it is done with, as one of the run or as a stranger.
  bool hear(Visitor &visitor, const Message &hello,
            std::map<int64_t, std::unique_ptr<Channel>> &admitted);

  const Meeting meeting;
  const LinksPlugin &crypto;
  int listening = -1;
  uint16_t port = 0;
  std::string numeric;
  std::vector<Visitor> visitors;
  std::map<int64_t, bool> here;
};

/// What another rank has found.
struct Entered {
  std::unique_ptr<Channel> channel; ///< to rank 0
  std::string place;                ///< rank 0's
  std::string address;              ///< this process's own, towards rank 0
};

/// Looks for rank 0. Throws Failure: Exit::usage as above, and where rank 0 will not have this one,
/// Exit::peer where it does not answer in time.
Entered enter(const Meeting &meeting, const LinksPlugin &crypto);

} // namespace weir::collectives

#endif

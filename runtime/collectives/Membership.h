//===- Membership.h - Who of a run is alive -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread beside the run: each rank has a connection to rank 0, over which both say every second
// that they are alive. Who closes it without a word, or is not heard of for a time, is lost; who
// fails says so. Rank 0 tells all others, and the run is over for everybody.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_MEMBERSHIP_H
#define WEIR_RUNTIME_COLLECTIVES_MEMBERSHIP_H

#include "runtime/collectives/Rendezvous.h"
#include "support/Error.h"
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace weir::collectives {

/// Why a run is over.
struct Verdict {
  Exit exit = Exit::peer;
  int64_t rank = -1; ///< whose fault it is; -1: of no one
  std::string words; ///< "rank 2 exited without a message"
};

class Membership {
public:
  struct Settings {
    Meeting meeting;
    std::chrono::milliseconds silence = std::chrono::seconds(8); ///< after which one is lost
    /// From the verdict on, for this process to leave by itself.
    std::chrono::milliseconds grace = std::chrono::milliseconds(1500);
    /// Both on the thread beside: the run is over, and this process has not left in time.
    std::function<void()> onOver = [] {};
    std::function<void(const Verdict &)> onStuck = [](const Verdict &) {};
  };

  /// Meets the others, or begins to: allToAll() waits for those who have not come. Throws Failure
  /// as RendezvousServer and enter() do.
  Membership(const Settings &settings, const LinksPlugin &crypto);
  /// As if it had been killed, unless it has left.
  ~Membership();

  /// All have met, and that is the number of their generation.
  void holds(int64_t generation);

  /// Gives each rank what is at its number, and returns what each has for this one. Every rank
  /// calls it, with the same `what`. Throws Failure with the verdict; NotMet where it is that some
  /// have not come.
  std::vector<std::string> allToAll(const std::string &what, std::vector<std::string> parts);

  /// Why it is over, if it is; waits so long for it.
  std::optional<Verdict> over(std::chrono::milliseconds wait = {}) const;
  /// It is, for that reason, which all others are told of.
  void end(const Verdict &verdict);

  /// At that time it is over for the reason that `why` gives then; nothing takes it back.
  void endAt(std::optional<Channel::Clock::time_point> time,
             std::function<Verdict()> why = nullptr);

  /// The last words: what this process has failed with, or that all are done. Waits until they are
  /// on their way, and, where all are done, for the others, as long as they are alive: rank 0 may
  /// have reports to write.
  void fail(Exit exit, const std::string &text);
  void finish();

  const std::string &place() const { return where; }       ///< rank 0's
  const std::string &address() const { return interface; } ///< of this process

private:
  using Clock = Channel::Clock;
  struct Peer {
    std::unique_ptr<Channel> channel; ///< null: closed
    Clock::time_point heard;
    bool hasLeft = false;
  };

  void run();
  void turn(Clock::time_point now);
  void hear(int64_t rank, const Message &message);
  void lose(int64_t rank, const std::string &how);
  bool isGivenUp() const;
  Verdict ownStop() const;
  void decide(const Verdict &verdict);
  void tell(const Message &message, int64_t except = -1);
  void meetParts();
  void leave(std::unique_lock<std::mutex> &lock);
  void wake() const;

  const Settings settings;
  const int64_t rank, size;
  std::unique_ptr<RendezvousServer> server; ///< rank 0's, until it is over
  std::string where, interface;
  int waker = -1;
  std::thread thread;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::map<int64_t, Peer> peers;       ///< of rank 0 all others, else rank 0
  std::map<int64_t, Message> gathered; ///< rank 0's, by rank: what each has for all
  std::optional<std::vector<std::string>> given;
  std::optional<Verdict> verdict;
  Clock::time_point decided;
  std::chrono::milliseconds stopped{}; ///< how long the thread beside did not run, when it last was
  Clock::time_point wentOn;            ///< and when that was over
  std::optional<Clock::time_point> deadline;
  std::function<Verdict()> whyLate;
  bool hasNoticed = false; ///< whom rank 0 waits for
  std::string notice;      ///< to be said once the lock is free
  const Clock::time_point begun = Clock::now();
  bool isEnding = false; ///< the last meeting has been called
  bool hasEnded = false; ///< and held: who closes is no loss
  bool hasLeft = false;
  bool stopping = false;
};

} // namespace weir::collectives

#endif

//===- Group.h - The processes of one run ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each rank of a mesh is a process, all of them run the same host program: they make the same
// calls in the same order, and what could come out differently (a signal, a clock, a disk) they
// agree on first.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_GROUP_H
#define WEIR_RUNTIME_CORE_GROUP_H

#include "support/Error.h"
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace weir {

/// The group has failed, and what was asked of the others is not known.
class GroupFailure : public Failure {
public:
  using Failure::Failure;
};

class Group {
public:
  virtual ~Group() = default;

  virtual int64_t rank() const = 0; ///< this process's
  virtual int64_t size() const = 0;
  /// Processes that share this one's cores, itself included.
  virtual int64_t neighbours() const = 0;
  /// Which of its machine's processes this one is, from 0 on.
  virtual int64_t numberOnMachine() const = 0;

  /// What is exchanged on one lane never meets what is on another: the host program has one, and
  /// each axis of a mesh.
  static constexpr unsigned hostLane = 0;
  static constexpr unsigned laneOf(unsigned axis) { return 1 + axis; }

  /// Gives each of `members`, ranks in ascending order with this one among them, what is in `to`
  /// for it and gets what they give this one, as Transport::exchange does. One thread at a time on
  /// each lane. Throws GroupFailure: Exit::peer where a member is lost or at something else, and
  /// with the status of one that has failed; nothing is exchanged any more then.
  virtual void exchange(unsigned lane, std::span<const int64_t> members, const std::string &what,
                        std::span<const std::span<const std::byte>> to,
                        std::span<const std::span<std::byte>> from) = 0;

  /// This process waits in `what`, as it has since then, for what the others do elsewhere than in
  /// exchange(). Throws GroupFailure where that is in vain: the group has failed, or it has waited
  /// for too long, of which the others are told. By any thread.
  virtual void check(const std::string &what, std::chrono::steady_clock::time_point since) = 0;

  /// How often the processes have met for this run, others in place of lost ones included; from 1.
  virtual int64_t generation() const { return 1; }
  /// The name of a rank's machine.
  virtual std::string host(int64_t) const { return ""; }
  /// This rank has waited so long for the others, and computed nothing meanwhile. By any thread.
  virtual void addWaited(std::chrono::nanoseconds) {}
  /// Seconds that it has waited so far, those of exchanges on the host program's lane included.
  virtual double waited() const { return 0; }

  /// Nothing is exchanged any more: whoever waits in an exchange throws. By any thread.
  virtual void end() = 0;

  /// As Transport::send() and receive(), with a process. Groups that carry no messages throw.
  virtual void send(int64_t peer, uint64_t tag, const std::string &what,
                    std::span<const std::byte> bytes) {
    (void)peer, (void)tag, (void)what, (void)bytes;
    throw GroupFailure(Exit::internal, "this group sends nothing from one process to another");
  }
  virtual void receive(int64_t peer, uint64_t tag, const std::string &what,
                       std::span<std::byte> bytes) {
    (void)peer, (void)tag, (void)what, (void)bytes;
    throw GroupFailure(Exit::internal, "this group sends nothing from one process to another");
  }

  /// Waits until the others have what was sent. Behind an entry's run, which receives all of it.
  virtual void finishSending() {}

  /// Every process calls it with what it has of rank 0. Without a secret, what exchange() brings
  /// comes over connections that prove nothing; a cryptographic hash of it comes over those by
  /// which the processes have met. Throws GroupFailure(Exit::peer) where the bytes are not rank
  /// 0's.
  virtual void requireFirsts(const std::string &what, std::span<const std::byte> bytes) {
    (void)what, (void)bytes;
  }

  /// What comes next is of that step: for messages, and so that nobody is a step ahead unnoticed.
  virtual void at(int64_t step) = 0;

  /// What says, in lines, which were the last actions of this process's rank: they are written to a
  /// file where the run fails. With null what it says now is kept. It may be called by another
  /// thread while actions go on.
  virtual void recordWith(std::function<std::string()> lastActions) = 0;

  /// This process has failed: the others, which may wait for it, are told at once, unless they know
  /// of a failure.
  virtual void fail(Exit exit, const std::string &text) = 0;

  /// Nothing comes next, and nobody is missed from now on. Waits for the others.
  virtual void finish() = 0;
};

} // namespace weir

#endif

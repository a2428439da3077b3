//===- Processes.h - Ranks that are processes -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The group of a run's processes, one rank each: links between each two of them (Links.h) for what
// ranks exchange, and a thread that knows who is alive (Membership.h).
//
// Ahead of what is exchanged goes a tag: at which step, how many exchanges the two have had on that
// lane, how many bytes and for what, in words. Nothing is received under another tag than that
// which is expected, so ranks that are at different things find out, and do not take one for the
// other.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_PROCESSES_H
#define WEIR_RUNTIME_COLLECTIVES_PROCESSES_H

#include "runtime/collectives/Membership.h"
#include "runtime/core/Group.h"
#include "runtime/core/Transport.h"
#include "support/mesh/Mesh.h"
#include <atomic>
#include <map>
#include <optional>

namespace weir::collectives {

class Processes : public Group {
public:
  struct Settings {
    Meeting meeting;
    std::chrono::milliseconds silence = std::chrono::seconds(8);
    std::chrono::milliseconds timeout = std::chrono::minutes(5); ///< with who is alive and late
    /// This process has not left in time after the run was over; on another thread.
    std::function<void(const Verdict &)> onStuck = [](const Verdict &) {};
  };

  /// Meets all others and connects to them. `plugin` outlives it. Throws Failure.
  Processes(const Settings &settings, const LinksPlugin &plugin);

  int64_t rank() const override { return own; }
  int64_t size() const override { return all; }
  int64_t neighbours() const override { return beside; }
  int64_t generation() const override { return met; }
  std::string host(int64_t rank) const override { return hosts[size_t(rank)]; }
  void addWaited(std::chrono::nanoseconds time) override { waits += time.count(); }
  double waited() const override { return 1e-9 * double(waits.load()); }
  int64_t numberOnMachine() const override { return number; }
  void exchange(unsigned lane, std::span<const int64_t> members, const std::string &what,
                std::span<const std::span<const std::byte>> to,
                std::span<const std::span<std::byte>> from) override;
  void check(const std::string &what, std::chrono::steady_clock::time_point since) override;
  void end() override { stop(std::nullopt); }
  void send(int64_t peer, uint64_t tag, const std::string &what,
            std::span<const std::byte> bytes) override;
  void receive(int64_t peer, uint64_t tag, const std::string &what,
               std::span<std::byte> bytes) override;
  void finishSending() override;
  void requireFirsts(const std::string &what, std::span<const std::byte> bytes) override;
  void at(int64_t step) override { this->step = step; }
  void recordWith(std::function<std::string()> lastActions) override;
  void fail(Exit exit, const std::string &text) override;
  void finish() override;

  /// What recordWith() was given says.
  std::string lastActions();

  /// Where rank 0 was found.
  const std::string &place() const { return membership->place(); }

private:
  struct Header;
  /// One that is under way.
  struct Exchange {
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<uint64_t> *counts; ///< of the lane's exchanges before, by peer
    Channel::Clock::time_point late;
    std::shared_ptr<std::atomic<int64_t>> peer; ///< that is waited for
  };

  void introduce(int64_t last);
  struct Carried;
  /// All of an exchange, in these steps; its buffers are given back at the end, failed or not.
  void carry(Exchange &exchange, Carried &carried);
  void prepare(Exchange &exchange, Carried &carried);
  void start(Exchange &exchange, Carried &carried);
  void waitReceived(Exchange &exchange, Carried &carried);
  void waitSent(Exchange &exchange, Carried &carried);
  Exchange &begin(unsigned lane);
  void letGo(Exchange &exchange);
  void leave(unsigned lane);
  void setLate();
  Header headerFor(uint64_t count, const std::string &what, size_t bytes) const;
  std::string describe(const Header &header) const;
  void compare(int64_t peer, const Header &expected, const Header &found, size_t bytes) const;
  [[noreturn]] void give(const std::string &what, int64_t peer, const std::string &broken) const;
  std::string words(const std::string &what, int64_t peer) const;
  void stop(std::optional<GroupFailure> why);

  const LinksPlugin &plugin;
  const int64_t own, all;
  const std::chrono::milliseconds timeout;
  int64_t step = -1; ///< -1: before the first
  int64_t beside = 1, number = 0, met = 1;
  std::vector<std::string> hosts;
  std::atomic<int64_t> waits = 0; ///< nanoseconds
  std::unique_ptr<Links> links;
  std::atomic<bool> isConnected = false;

  mutable std::mutex mutex;
  bool isOver = false;
  std::optional<GroupFailure> reason;               ///< why, where an exchange has failed here
  std::map<unsigned, std::vector<uint64_t>> counts; ///< by lane, as Exchange::counts
  std::map<unsigned, Exchange> underway;            ///< by lane
  /// What is sent from a copy.
  struct Outgoing {
    std::vector<std::byte> bytes;
    int64_t peer;
    std::string what;
    std::unique_ptr<Buffer> buffer;
  };
  std::vector<std::unique_ptr<Outgoing>> outgoing;
  std::function<std::string()> record;
  std::string recorded;

  std::mutex lateMutex; ///< of who tells `control` when the first of them is late

  std::unique_ptr<Membership> membership; ///< its thread stops what is under way
};

/// One rank's end of a program's collectives.
class ProcessTransport : public Transport {
public:
  ProcessTransport(Group &group, const Mesh &mesh) : group(group), mesh(mesh) {}

  void exchange(unsigned axis, const std::string &what,
                std::span<const std::span<const std::byte>> to,
                std::span<const std::span<std::byte>> from) override {
    group.exchange(Group::laneOf(axis), mesh.along(group.rank(), axis), what, to, from);
  }
  void check(const std::string &what, std::chrono::steady_clock::time_point since) override {
    group.check(what, since);
  }
  void send(unsigned axis, unsigned peer, Tag tag, const std::string &what,
            std::span<const std::byte> bytes) override {
    group.send(mesh.along(group.rank(), axis)[peer], numberOf(tag), what, bytes);
  }
  void receive(unsigned axis, unsigned peer, Tag tag, const std::string &what,
               std::span<std::byte> bytes) override {
    group.receive(mesh.along(group.rank(), axis)[peer], numberOf(tag), what, bytes);
  }

private:
  static uint64_t numberOf(Tag tag) { return uint64_t(tag.number) << 32 | tag.round; }

  Group &group;
  const Mesh mesh;
};

} // namespace weir::collectives

#endif

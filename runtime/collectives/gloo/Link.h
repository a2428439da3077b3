//===- Link.h - Messages between two ranks --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes go once both ends have posted them: who receives says so, with a number, and who sends
// answers with the bytes in pieces under that number. So nothing is kept for who has not asked for
// it, no end waits for the other to read, and what is short does not wait for what is long. Ranks
// that know the secret trust each other: of what one asks for, no bound is kept.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_GLOO_LINK_H
#define WEIR_RUNTIME_COLLECTIVES_GLOO_LINK_H

#include "runtime/collectives/gloo/Wire.h"
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <poll.h>
#include <unordered_map>

namespace weir::collectives {

/// How far a buffer has come. For any thread.
class Progress {
public:
  enum Way : uint8_t { sending, receiving };

  void begin(Way way);
  void end(Way way);
  void fail(const std::string &why);
  void stop();
  /// As Buffer's.
  bool wait(Way way);
  bool isUnderWay();

private:
  std::mutex mutex;
  std::condition_variable changed;
  size_t left[2] = {};
  bool isStopped = false;
  std::string failure; ///< "": none
};

/// One connection's messages. Never waits. One thread at a time.
class Link {
public:
  explicit Link(std::unique_ptr<Wire> wire) : wire(std::move(wire)) {}

  /// The memory stays until `progress` has come to its end, or forget().
  void send(Progress &progress, std::span<const std::byte> bytes, uint64_t tag);
  void receive(Progress &progress, std::span<std::byte> bytes, uint64_t tag);
  void forget(const Progress &progress);

  /// Take and send what goes at once, up to a bound. Where the connection breaks, all that is under
  /// way fails, and what comes later.
  void read();
  void write();
  void breakOff(const std::string &why);

  bool isOpen() const { return wire != nullptr; }
  /// Whether write() has something to do.
  bool isSending() const { return wire && (wire->unsent() > 0 || hasMore()); }
  /// What to wait for; a file of -1 where it is broken.
  pollfd awaited() const;

private:
  enum class Kind : uint64_t { ask = 1, piece = 2 };
  struct Header {
    Kind kind;
    uint64_t number; ///< of the message, as the receiver counts them
    uint64_t tag;    ///< of who asks
    uint64_t size;   ///< of the message, or of the piece that follows
  };
  struct Sending {
    Progress *progress;
    std::span<const std::byte> bytes;
    uint64_t number = 0;
    size_t done = 0;
  };
  struct Leaving {
    Progress *progress;
    uint64_t end; ///< Wire::taken() once the socket has all of it
  };
  struct Receiving {
    Progress *progress;
    std::span<std::byte> bytes;
    size_t done = 0;
  };

  bool hasMore() const { return !asks.empty() || !answers.empty(); }
  void match(uint64_t tag);
  size_t putNext();
  size_t readSome();
  std::span<std::byte> room();
  size_t use(std::string_view plain);
  void begin(const Header &header);
  void endPiece();

  std::unique_ptr<Wire> wire; ///< null once it is broken
  std::string broken;

  std::unordered_map<uint64_t, std::deque<Sending>> offered; ///< by tag: nobody has asked yet
  std::unordered_map<uint64_t, std::deque<Header>> wanted;   ///< by tag: nobody has offered yet
  std::deque<Header> asks;                                   ///< to be said
  std::deque<Sending> answers;         ///< to be sent, a piece of each in turn
  std::deque<Leaving> leaving;         ///< whose last piece waits for the socket
  std::map<uint64_t, Receiving> asked; ///< by number
  uint64_t next = 1;                   ///< number
  uint64_t pieceOf = 0;                ///< the number of what is coming; 0: a header comes
  size_t pieceLeft = 0;
};

} // namespace weir::collectives

#endif

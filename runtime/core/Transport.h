//===- Transport.h - What carries bytes between ranks ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_TRANSPORT_H
#define WEIR_RUNTIME_CORE_TRANSPORT_H

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weir {

/// One rank's end. Bytes are carried and never changed: sums are made by the ranks' programs.
class Transport {
public:
  virtual ~Transport() = default;

  /// Gives each member along an axis of the mesh, in its order, what is in `to` for it, and gets
  /// what they give this one; itself is one of them. Every member calls it with the same `what`, in
  /// words for messages, and with sizes that agree. Returns when `from` is filled and `to` is no
  /// longer read. Throws Failure{Exit::peer} where a member has ended or is at something else: this
  /// rank has failed then. Several threads may call it at once, each along another axis.
  virtual void exchange(unsigned axis, const std::string &what,
                        std::span<const std::span<const std::byte>> to,
                        std::span<const std::span<std::byte>> from) = 0;

  /// This rank waits in `what`, as it has since then, for what the members do elsewhere than in
  /// exchange(). Throws Failure{Exit::peer} where that is in vain: one has ended, or has not come
  /// in time. By any thread.
  virtual void check(const std::string &what, std::chrono::steady_clock::time_point since) = 0;

  /// What tells the messages from one rank to another apart: those of one number and round come in
  /// the order of sending.
  struct Tag {
    uint32_t number, round;
    auto operator<=>(const Tag &) const = default;
  };

  /// Gives the rank at `peer` along the axis some bytes, which it receives under the same tag. Does
  /// not wait for it: the bytes are copied. (A rank of a process of several does wait for these.)
  /// Throws Failure{Exit::peer} where it has ended.
  virtual void send(unsigned axis, unsigned peer, Tag tag, const std::string &what,
                    std::span<const std::byte> bytes) = 0;

  /// Gets what the rank at `peer` sends under that tag, of the same size. Returns when it is there.
  /// Throws Failure{Exit::peer} where the other has ended, or sends something else.
  virtual void receive(unsigned axis, unsigned peer, Tag tag, const std::string &what,
                       std::span<std::byte> bytes) = 0;
};

} // namespace weir

#endif

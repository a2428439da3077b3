//===- Clocks.h - What happens before what, among the nodes of all streams --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks: nodes are laid out in chains, in which each is ordered after the one before; a
// clock says for each chain how far it is known to have come. A node's clock is made when it is
// enqueued: from those it waits for, and from what the host had waited for by then.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_CLOCKS_H
#define WEIR_TEST_EMULATED_CUDA_CLOCKS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::emulated {

class Clock {
public:
  uint32_t at(size_t chain) const { return chain < ticks.size() ? ticks[chain] : 0; }
  void set(size_t chain, uint32_t tick) {
    if (chain >= ticks.size())
      ticks.resize(chain + 1);
    ticks[chain] = tick;
  }
  void join(const Clock &other) {
    for (size_t i = 0; i < other.ticks.size(); ++i)
      if (other.ticks[i] > at(i))
        set(i, other.ticks[i]);
  }

private:
  std::vector<uint32_t> ticks;
};

/// A node's place in its chain.
struct Moment {
  uint32_t chain = 0, tick = 0;
  /// Whether it is ordered before what has the clock.
  bool isBefore(const Clock &clock) const { return clock.at(chain) >= tick; }
};

class Chains {
public:
  /// Gives a node that knows `clock` a place at the end of a chain whose end it knows, or of a new
  /// one, and enters that in the clock.
  Moment place(Clock &clock) {
    size_t chain = 0;
    while (all.at(chain) != clock.at(chain))
      ++chain;
    uint32_t tick = all.at(chain) + 1;
    all.set(chain, tick);
    clock.set(chain, tick);
    return {uint32_t(chain), tick};
  }

  /// Of one who knows every node so far.
  const Clock &now() const { return all; }

private:
  Clock all;
};

} // namespace weir::emulated

#endif

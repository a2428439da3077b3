//===- Rewrite.h - A step in which some is recomputed or offloaded --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_REWRITE_H
#define WEIR_PASSES_REMAT_REWRITE_H

#include "passes/buffers/BufferRules.h"

namespace weir::remat {

// Rematerialization rewrites and measures the model of passes/buffers.
using namespace buffers;

/// What is not kept from the forward computation to the backward one.
struct Released {
  // Truth values, compared by the byte.
  std::vector<uint8_t> again; ///< by action: what it makes is made again
  std::vector<uint8_t> away;  ///< by tensor: it lies with the host meanwhile, whoever makes it

  Released() = default;
  explicit Released(const Step &step) : again(step.actions.size()), away(step.tensors.size()) {}
  auto operator<=>(const Released &) const = default;
};

/// The step in which what is released comes back where it is first needed at `boundary` or behind
/// it. What is made behind it is not released. An action that is repeated reads what is gathered
/// again (Tensor::regathered), and the second all-gather moves ahead of it.
struct Rewritten {
  Step step;
  int boundary = 0;         ///< the first action at it, or that is there for one
  double cost = 0;          ///< of what is done again, and of transfers
  std::vector<int> repeats; ///< the actions that are, in that order
  std::vector<int> away;    ///< the tensors that go to the host, in the order in which they do
};
Rewritten rewrite(const Step &step, int boundary, const Released &released);

/// Whether what an action makes of this may be given up and made again: it is no port's, and no
/// variable's.
bool mayDrop(const Step &step, int tensor);

/// Whether it may also lie with the host.
bool mayGo(const Step &step, int tensor);

/// Where a step turns from forward to backward: the action ahead of which most bytes are kept of
/// what may be dropped and is read at it or behind it. Where gradients read what is marked, not
/// behind the first of these, and not ahead of the first gradient of all.
int boundaryOf(const Step &step);

/// Nothing but what the actions that are marked make.
Released marked(const Step &step);

} // namespace weir::remat

#endif

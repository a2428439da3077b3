//===- Regather.h - Parameters that the backward pass gathers again -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With ZeRO 3, the forward pass gathers a parameter, and the backward pass gathers it again, so
// that the gathered values take no memory in between. A kernel that the backward pass recomputes
// reads the second ones. The second all-gather moves ahead of it, which needs weir.equal_shards:
// other ranks would keep it where it is.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_REGATHER_H
#define WEIR_PASSES_REMAT_REGATHER_H

#include "ir/weir/collective/Collective.h"
#include "passes/buffers/ReadStep.h"

namespace weir::remat {

/// The op in a block that gathers again what `first` gathers, in the same block or another. Null:
/// there is none, or it must not move.
AllGatherOp gatheredAgain(AllGatherOp first, mlir::Block &block);

/// Sets Tensor::regathered.
void findRegathered(EntryStep &entry);

} // namespace weir::remat

#endif

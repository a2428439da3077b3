//===- Regather.h - Parameters that the backward pass gathers again -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With ZeRO 3, the forward pass gathers a parameter, and the backward pass gathers it again, so
// that the gathered values take no memory in between. A kernel that the backward pass recomputes
// reads the second ones.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_REGATHER_H
#define WEIR_PASSES_REMAT_REGATHER_H

#include "ir/weir/collective/Collective.h"
#include "passes/buffers/ReadStep.h"

namespace weir::remat {

/// The op in a block that gathers again what `first` gathers, in the same block or another. Null:
/// there is none.
AllGatherOp gatheredAgain(AllGatherOp first, mlir::Block &block);

/// Sets Tensor::regathered. Rewriting moves these collectives, so the ranks that take part in one
/// must run the same program.
void findRegathered(EntryStep &entry);

} // namespace weir::remat

#endif

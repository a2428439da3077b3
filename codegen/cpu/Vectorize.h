//===- Vectorize.h - Vector code from scalar loops ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_VECTORIZE_H
#define WEIR_CODEGEN_CPU_VECTORIZE_H

#include "codegen/cpu/Processor.h"

namespace weir {

/// Moves what does not change in a loop out of it, loads of inputs included.
void hoistInvariants(mlir::Operation *root);

/// Makes vector code of the loops that carry `lanesName` (Emission.h): a main loop of several
/// registers' lanes, then single registers, then a masked rest. Loops inside such a loop stay, with
/// vectors for what they carry. A loop with something in it that has no vector form is left as it
/// is.
void vectorizeLoops(mlir::Operation *root, const Processor &processor);

} // namespace weir

#endif

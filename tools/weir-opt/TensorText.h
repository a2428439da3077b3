//===- TensorText.h - Tensors on a command line ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor is written as its type and its elements in row-major order, "2x2xf32=1,2,3,4", where one
// element stands for all ("17x40xf32=0.5"); or it is the array of a file that weir run reads,
// "@x.npy". Types are f32, i32, ui8 and i1; numbers may be nan, inf and -inf, truth values true and
// false.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPT_TENSORTEXT_H
#define WEIR_TOOLS_WEIR_OPT_TENSORTEXT_H

#include "ir/reference/Tensor.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace weir {

/// The tensor that `text` writes, which has to be of type `type`. An error says what was expected
/// and what was found.
llvm::Expected<Tensor> parseTensor(llvm::StringRef text, mlir::RankedTensorType type);

/// "2x2xf32".
std::string shapeText(mlir::RankedTensorType type);

/// The elements, nine digits each: one line per row, with the index of the row where there are
/// several.
void printTensor(llvm::raw_ostream &out, const Tensor &tensor, mlir::RankedTensorType type);

} // namespace weir

#endif

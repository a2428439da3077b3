//===- VerifyData.h - Rows of data that weir verify runs a model on -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_VERIFYDATA_H
#define WEIR_TOOLS_WEIR_COMMANDS_VERIFYDATA_H

#include "verify/RandomInputs.h"
#include <string>
#include <vector>

namespace weir {

/// The inputs of an entry, in the order of its arguments: rows of the files that `data`
/// ("INPUT=PATH") names, those that follow each other or windows apart from each other; which ones
/// depends on `seed`. Files for inputs that this entry does not have are not opened. Nothing for
/// an entry, other than the step, with an input that no file is given for: a prediction takes the
/// model's arguments, which the recipe may compute. Throws Failure as Dataset does.
Tensors rowsOfData(mlir::func::FuncOp entry, const std::vector<std::string> &data, unsigned seed);

} // namespace weir

#endif

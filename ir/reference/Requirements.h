//===- Requirements.h - The memory that an interpreted entry takes --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where memory is promised that there is not, a process that uses it is killed without a word, so
// what cannot fit into the machine is refused before it is run. (What a container may use of it is
// not asked.)
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_REQUIREMENTS_H
#define WEIR_IR_REFERENCE_REQUIREMENTS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace weir {

/// Why an entry cannot be interpreted on this machine, or "": what it holds (inputs and variables,
/// tensors of the dialect) and its largest value take more memory than there is. At least: what
/// else lives with them is not counted.
std::string tooLargeToInterpret(mlir::Operation *entry, llvm::ArrayRef<mlir::Type> held);

} // namespace weir

#endif

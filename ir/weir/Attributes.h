//===- Attributes.h - Each attribute weir.* and where it may stand -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_ATTRIBUTES_H
#define WEIR_IR_WEIR_ATTRIBUTES_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// A discardable attribute of the dialect. The dialect's verifier refuses all others.
struct AttributeRow {
  /// Where it may stand: on a module, an argument or a result of a function, or another op.
  enum Place : unsigned { module = 1, argument = 2, result = 4, op = 8 };

  llvm::StringRef name;
  unsigned places; ///< of Place
  bool (*is)(mlir::Attribute);
  llvm::StringRef expected; ///< what it has to be, for messages
};

llvm::ArrayRef<AttributeRow> attributeRows();

/// An error at an op whose attribute `name` is a sharding over axes that the module's mesh has not,
/// or, unless `type` is null, with other dimensions than the tensor.
mlir::LogicalResult verifySharding(mlir::Operation *at, llvm::StringRef name, ShardingAttr sharding,
                                   mlir::RankedTensorType type);

} // namespace weir

#endif

//===- WeirDialect.h - The weir dialect -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The training step as tensors: see WeirBase.td for the dialect, WeirInterfaces.td for what passes
// ask of an op, and Program.h for how a module is laid out. The ops themselves have a header for
// each family, such as product/Product.h: include those that you use.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_WEIRDIALECT_H
#define WEIR_IR_WEIR_WEIRDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weir {

/// Floating-point operations, and bytes of operands and results. Operations are a double, since a
/// product of two tensors that fit in 64 bits may need more than 64 bits to count them.
struct Cost {
  double flops = 0;
  int64_t bytes = 0;
};

/// Whether an op's work is products of its operands, and of which.
enum class Multiplies {
  nothing,
  wide, ///< of f32: operands of low precision are widened before
  low,  ///< of floats of low precision as they are
};

/// What may be stored as a low-precision float (never whole numbers, truth values or statistics);
/// the work itself is done in the op's `compute` type. Sums of an op that accumulates are kept in
/// its `accumulate` type, whatever its operands are.
struct CastRule {
  llvm::SmallVector<bool> operands;
  llvm::SmallVector<bool> results;
  bool accumulates = false;
  Multiplies multiplies = Multiplies::nothing;
};

/// How an op's results differ from what exact arithmetic gives.
enum class RoundingKind {
  none,      ///< not at all: it moves, chooses or negates
  once,      ///< each result is rounded
  sum,       ///< adds up many numbers: off by a part of the sum of their magnitudes
  products,  ///< the same of products of its operands
  composite, ///< computes many things in one: as if its operands had been off
  logOfSum,  ///< the same, and in its first result is the logarithm of a sum of 1 or more
};

/// In which operands an op is linear. None says nothing.
enum class Linearity {
  none,
  first,    ///< the first, whatever the others
  any,      ///< any one of them, whatever the others
  together, ///< all of them together
};

/// What fusion does with an op. One that is not Fusible stays outside of kernels.
enum class FusionClass {
  fused,   ///< grows into map and row kernels
  cheap,   ///< cloned into every kernel that uses it
  alias,   ///< another shape of the same memory, in no kernel
  root,    ///< a kernel of its own: products, convolutions, attention, segment sums, plain nests
  outside, ///< reads, writes, regions, terminators
};

/// How a reduction divides its operand's dimensions into rows (the first ones) and columns.
struct ReductionSplit {
  int64_t rows;
  bool alongRow; ///< a value per row results
};

/// Element (i, j, ..) lies `offset + i * strides[0] + j * strides[1] + ..` elements into memory.
struct Strides {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides;
};

/// How often a view uses its operand's elements.
enum class ViewUse {
  each, ///< each of them once
  some, ///< each at most once
  more, ///< some of them repeatedly
};

/// Integers that lie in [0, count).
struct Picks {
  mlir::Value integers;
  int64_t count;
};

/// A dimension of an op's iteration space, which may be cut into shards unless it is whole.
struct Factor {
  enum class Kind {
    parallel, ///< each shard of the results from the same shard of the operands
    sum,      ///< in no result: shards of the operands give results that are to be added,
    max,      ///< or of which the largest
    min,      ///< or the smallest is taken,
    combined, ///< or of which the op makes one (Combining)
    whole,    ///< must not be cut
  };
  int64_t size;
  Kind kind;
  /// Whether it is a loop of its own: the places of an image follow from those of a window and of a
  /// result.
  bool loops = true;
  /// Whether integers of an operand count in it: those of a shard count from where it begins
  /// (Localizable), and a shard is one run of places.
  bool counted = false;
};

/// The factors that make up every dimension, the outermost first (a dimension of size 1 may have
/// none). iota and random count in indices of the whole tensor.
struct ShardRule {
  using Dimension = llvm::SmallVector<unsigned, 1>;
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<llvm::SmallVector<Dimension>> operands;
  llvm::SmallVector<llvm::SmallVector<Dimension>> results;
};

/// What a rank has of an op's dimensions, for Localizable.
class Shares {
public:
  virtual ~Shares() = default;
  /// Where its share of a factor begins: a scalar of i32; null of a factor that is not cut.
  virtual mlir::Value begin(unsigned factor) = 0;
  /// For each element that it has of the first result: the place in each dimension of the whole,
  /// times that dimension's stride, added up; of i32.
  virtual mlir::Value places(llvm::ArrayRef<int64_t> strides) = 0;
};

/// A copy of an op with other operands, and results of other types.
mlir::Operation *cloneWith(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands,
                           mlir::TypeRange types);

/// The scalar of an operand (by position) at indices; see Lowerable.
using ElementOf = llvm::function_ref<mlir::Value(unsigned operand, mlir::ValueRange indices)>;

/// The shape of a value of tensor type.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Bytes of a tensor as stored: i1 and ui8 take one byte.
int64_t storageBytes(mlir::Type tensor);

/// Bytes of an op's operands and results.
int64_t trafficBytes(mlir::Operation *op);

} // namespace weir

namespace weir {
// What other headers only pass on.
class GradientOp;
class KernelOp;
class MatmulOp;
class MicrobatchesOp;
class ReduceOp;
class VariableOp;
class WriteOp;
} // namespace weir

#include "ir/weir/WeirDialect.h.inc"
#include "ir/weir/WeirEnums.h.inc"
#include "ir/weir/WeirInterfaces.h.inc"

namespace weir {
/// What a simple operation is to an elementary function (exp, tanh), which is a polynomial.
constexpr int64_t elementaryWeight = 12;

/// Fusible's answers for any op.
FusionClass fusionClass(mlir::Operation *op);
std::optional<ReductionSplit> reductionSplit(mlir::Operation *op);
/// Whether the op's result is another shape of its operand's memory, in no kernel.
inline bool isAlias(mlir::Operation *op) { return fusionClass(op) == FusionClass::alias; }
/// The value whose memory a value shows, under whatever shape.
inline mlir::Value memoryOf(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!isAlias(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}
/// The value whose elements, each once, a value is in another order; itself at worst.
mlir::Value beforeViews(mlir::Value value);

/// Folding and interfaces of every Pointwise op.
mlir::OpFoldResult foldPointwise(Pointwise op, llvm::ArrayRef<mlir::Attribute> operands);
mlir::Value elementwiseElement(Pointwise op, mlir::OpBuilder &builder, mlir::ValueRange indices,
                               ElementOf operand);
ShardRule elementwiseShardRule(mlir::Operation *op);
} // namespace weir

namespace weir {
// Values of attributes, by reference: ir/weir/Strategy.h and ir/weir/Sharding.h have them.
struct Mesh;
struct Sharding;
struct Strategy;
} // namespace weir

#define GET_ATTRDEF_CLASSES
#include "ir/weir/WeirAttributes.h.inc"

#endif

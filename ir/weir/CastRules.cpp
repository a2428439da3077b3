//===- CastRules.cpp - Which values may be of low precision -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values that are multiplied, moved or compared may be low; statistics (means, log-sum-exps,
// losses) and sums may not, since a small term would vanish beside them.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/WeirDialect.h"

using namespace mlir;

namespace weir {

// Every float but the operands and results named by position.
static CastRule floatsBut(Operation *op, bool accumulates, ArrayRef<unsigned> operands,
                          ArrayRef<unsigned> results) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
  };
  CastRule rule;
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    rule.operands.push_back(isFloat(type) && !llvm::is_contained(operands, i));
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    rule.results.push_back(isFloat(type) && !llvm::is_contained(results, i));
  rule.accumulates = accumulates;
  return rule;
}
static CastRule floats(Operation *op, bool accumulates = false) {
  return floatsBut(op, accumulates, {}, {});
}

CastRule elementwiseCastRule(Operation *op) { return floats(op); }

CastRule ConstantOp::castRule() { return floats(*this); }
CastRule IotaOp::castRule() { return floats(*this); }
CastRule BroadcastOp::castRule() { return floats(*this); }
CastRule TransposeOp::castRule() { return floats(*this); }
CastRule SplitDimOp::castRule() { return floats(*this); }
CastRule MergeDimsOp::castRule() { return floats(*this); }
CastRule SliceOp::castRule() { return floats(*this); }
CastRule PadOp::castRule() { return floats(*this); }
CastRule ConcatOp::castRule() { return floats(*this); }
CastRule GatherOp::castRule() { return floats(*this); }
CastRule SegmentSumOp::castRule() { return floatsBut(*this, true, {}, {0}); }

CastRule ReduceOp::castRule() {
  if (getKind() == Reduction::sum)
    return floatsBut(*this, true, {}, {0});
  return floats(*this);
}
CastRule ArgMaxOp::castRule() { return floats(*this); }
CastRule MatmulOp::castRule() { return floats(*this, true); }
CastRule ConvolutionOp::castRule() { return floats(*this, true); }
CastRule ConvolutionInputGradOp::castRule() { return floats(*this, true); }
CastRule ConvolutionWeightGradOp::castRule() { return floats(*this, true); }
CastRule MaxPoolOp::castRule() { return floats(*this); }
// The windows over one element may overlap.
CastRule MaxPoolGradOp::castRule() { return floats(*this, true); }

CastRule NormalizeOp::castRule() { return floatsBut(*this, true, {}, {1, 2}); }
CastRule NormalizeGradOp::castRule() { return floatsBut(*this, true, {1, 2}, {}); }
CastRule SoftmaxCrossEntropyOp::castRule() { return floatsBut(*this, true, {}, {0, 1}); }
CastRule SoftmaxCrossEntropyGradOp::castRule() { return floatsBut(*this, false, {2, 3}, {}); }
CastRule AttendOp::castRule() { return floatsBut(*this, true, {}, {1}); }
CastRule AttendGradOp::castRule() { return floatsBut(*this, true, {4}, {}); }
CastRule RandomOp::castRule() { return floats(*this); }

} // namespace weir

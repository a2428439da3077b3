//===- Contracting.cpp - FLOPs of products, and a model's -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/Locations.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/program/Microbatches.h"
#include "llvm/ADT/MapVector.h"

#include "ir/weir/Contracting.cpp.inc"

using namespace mlir;

namespace weir {
namespace {

template <class Op, auto executed, auto model>
struct Rule : Contracting::ExternalModel<Rule<Op, executed, model>, Op> {
  double executedFlops(Operation *op) const { return executed(cast<Op>(op)); }
  double modelFlops(Operation *op) const { return model(cast<Op>(op)); }
};

template <class Op, auto executed, auto model = executed> void attach(MLIRContext &context) {
  Op::template attachInterface<Rule<Op, executed, model>>(context);
}

/// Of an op that computes nothing but products: padding of a convolution counts, as everywhere.
template <class Op> double all(Op op) { return op.cost().flops; }

/// `products` of the features of each query with those of each key, or the like, of the pairs that
/// see each other: with a causal mask about half of all.
template <int64_t products, class Op> double ofPairs(Op op) {
  return attentionPairs(op.getQuery(), op.getKey(), op.getCausal()) *
         double(2 * products * shapeOf(op.getQuery())[3]);
}

} // namespace

void attachContracting(MLIRContext &context) {
  attach<MatmulOp, all<MatmulOp>>(context);
  attach<ConvolutionOp, all<ConvolutionOp>>(context);
  attach<ConvolutionInputGradOp, all<ConvolutionInputGradOp>>(context);
  attach<ConvolutionWeightGradOp, all<ConvolutionWeightGradOp>>(context);
  attach<AttentionOp, ofPairs<2, AttentionOp>>(context);
  // The scores are computed once more: the forward pass does not save them.
  attach<AttentionGradOp, ofPairs<5, AttentionGradOp>, ofPairs<4, AttentionGradOp>>(context);
}

static int64_t timesOf(Operation *op, Operation *entry) {
  int64_t times = 1;
  for (Operation *around = op->getParentOp(); around != entry; around = around->getParentOp())
    if (auto microbatches = dyn_cast<MicrobatchesOp>(around))
      times *= microbatches.getCount();
  return times;
}

SmallVector<LineFlops> modelFlopsOf(func::FuncOp entry) {
  llvm::MapVector<std::pair<Attribute, unsigned>, LineFlops> lines;
  entry.walk([&](Contracting op) {
    FileLineColLoc line = modelLine(op->getLoc());
    Location at = line ? Location(line) : UnknownLoc::get(entry.getContext());
    std::pair<Attribute, unsigned> key;
    if (line)
      key = {line.getFilename(), line.getLine()};
    lines.try_emplace(key, LineFlops{at, 0}).first->second.flops +=
        double(timesOf(op, entry)) * op.modelFlops();
  });
  SmallVector<LineFlops> list;
  for (auto &[key, line] : lines)
    list.push_back(line);
  return list;
}

void setModelFlops(ModuleOp module, StringRef entry, ArrayRef<LineFlops> lines) {
  Builder builder(module.getContext());
  SmallVector<Attribute> list;
  for (const LineFlops &line : lines)
    list.push_back(
        builder.getArrayAttr({LocationAttr(line.at), builder.getF64FloatAttr(line.flops)}));
  NamedAttrList entries(module->getAttrOfType<DictionaryAttr>(modelFlopsAttrName));
  entries.set(entry, builder.getArrayAttr(list));
  module->setAttr(modelFlopsAttrName, entries.getDictionary(module.getContext()));
}

std::optional<SmallVector<LineFlops>> modelFlops(ModuleOp module, StringRef entry) {
  auto entries = module->getAttrOfType<DictionaryAttr>(modelFlopsAttrName);
  auto list = entries ? entries.getAs<ArrayAttr>(entry) : ArrayAttr();
  if (!list)
    return std::nullopt;
  SmallVector<LineFlops> lines;
  for (Attribute one : list) {
    ArrayRef<Attribute> fields = cast<ArrayAttr>(one).getValue();
    lines.push_back({cast<LocationAttr>(fields[0]), cast<FloatAttr>(fields[1]).getValueAsDouble()});
  }
  return lines;
}

} // namespace weir

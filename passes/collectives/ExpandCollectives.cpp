//===- ExpandCollectives.cpp - Sums over ranks as moves and local sums ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// passes/sharding/Reshard.cpp inserts collectives, and this pass expands those that add up values.
// Each rank adds up what it receives in the order of ranks. So a step has the same bits with every
// transport:
//
//   weir.reduce_scatter %x   ->   an all_to_all of the members' rows, and a sum of them
//   weir.all_reduce %x       ->   a reduce_scatter, and an all_gather of the sums; for a small
//                                 tensor (Expansion.h), an all_gather of all values and a sum
//
// Over several axes, a member along the first one reduces only its own rows over the others.
// Together, these collectives move as many bytes as one collective over all axes would.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "passes/Passes.h"
#include "passes/collectives/Expansion.h"

namespace weir {
#define GEN_PASS_DEF_EXPANDCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::collectives;

namespace {

Shape withRows(Value value, int64_t rows) {
  Shape shape(shapeOf(value));
  shape[0] = rows;
  return shape;
}

class Expander {
public:
  Expander(Operation *op, const Mesh &mesh) : loc(op->getLoc()), builder(op), mesh(mesh) {}

  Value expand(AllReduceOp op) {
    auto axes = llvm::to_vector(op.getAxes().getAsValueRange<StringAttr>());
    const int64_t own = tensorType(op.getInput()).getNumElements();
    return allReduce(op.getInput(), axes, int64_t(op.getFullest().value_or(own)));
  }

  Value expand(ReduceScatterOp op) {
    return reduceScatter(op.getInput(), op.getAxis(), op.getRows(), shapeOf(op.getResult())[0]);
  }

private:
  Value allReduce(Value value, ArrayRef<StringRef> axes, int64_t ofFullest) {
    if (axes.empty())
      return value;
    const int64_t members = mesh.axes[size_t(mesh.find(axes[0].str()))].size,
                  elements = tensorType(value).getNumElements();
    if (gathersToReduce(ofFullest, members)) {
      Value row = MergeDimsOp::create(builder, loc, value, int64_t(0), int64_t(0));
      Value all = allGather(row, axes[0], SmallVector<int64_t>(members, 1));
      return allReduce(sumOfMembers(all), axes.drop_front(), ofFullest);
    }
    Shape shape(shapeOf(value));
    Value flat = value;
    if (shape.size() > 1)
      flat = MergeDimsOp::create(builder, loc, flat, int64_t(0), int64_t(shape.size()));
    const int64_t share = (elements + members - 1) / members;
    const SmallVector<int64_t> shares(members, share);
    const int64_t zero[] = {0}, one[] = {1};
    if (share * members != elements)
      flat = PadOp::create(builder, loc, typeLike(flat, {share * members}), flat, zero, one);
    flat = reduceScatter(flat, axes[0], shares, share);
    flat = allReduce(flat, axes.drop_front(), (ofFullest + members - 1) / members);
    flat = allGather(flat, axes[0], shares);
    if (share * members != elements)
      flat = SliceOp::create(builder, loc, typeLike(flat, {elements}), flat, zero, one);
    return shape.size() > 1 ? SplitDimOp::create(builder, loc, flat, int64_t(0), shape).getResult()
                            : flat;
  }

  Value reduceScatter(Value value, StringRef axis, ArrayRef<int64_t> rows, int64_t own) {
    const int64_t members = rows.size();
    Value parts = AllToAllOp::create(builder, loc, typeLike(value, withRows(value, members * own)),
                                     value, axis, rows);
    return sumOfMembers(
        SplitDimOp::create(builder, loc, parts, int64_t(0), ArrayRef<int64_t>{members, own}));
  }

  Value allGather(Value value, StringRef axis, ArrayRef<int64_t> rows) {
    int64_t all = 0;
    for (int64_t count : rows)
      all += count;
    return AllGatherOp::create(builder, loc, typeLike(value, withRows(value, all)), value, axis,
                               rows, /*again=*/false, /*fullest=*/IntegerAttr());
  }

  /// Sums over the first dimension, in order and in f32.
  Value sumOfMembers(Value parts) {
    RankedTensorType type = tensorType(parts);
    const bool isLow = isa<FloatType>(type.getElementType()) && !type.getElementType().isF32();
    if (isLow)
      parts = CastOp::create(builder, loc, type.clone(builder.getF32Type()), parts);
    Value sum = ReduceOp::create(builder, loc, parts, Reduction::sum, ArrayRef<int64_t>{0});
    return isLow ? CastOp::create(builder, loc, type.clone(shapeOf(sum)), sum).getResult() : sum;
  }

  const Location loc;
  OpBuilder builder;
  const Mesh &mesh;
};

struct ExpandCollectives : weir::impl::ExpandCollectivesBase<ExpandCollectives> {
  void runOnOperation() override {
    const Mesh *mesh = meshOf(getOperation()->getParentOfType<ModuleOp>());
    if (!mesh)
      return markAllAnalysesPreserved();
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (auto gather = dyn_cast<AllGatherOp>(op))
        gather.removeFullestAttr();
      if (!isa<AllReduceOp, ReduceScatterOp>(op))
        return WalkResult::advance();
      if (failed(hasItsAxes(op, *mesh)))
        return WalkResult::interrupt();
      auto all = dyn_cast<AllReduceOp>(op);
      Expander expander(op, *mesh);
      Value made = all ? expander.expand(all) : expander.expand(cast<ReduceScatterOp>(op));
      op->getResult(0).replaceAllUsesWith(made);
      op->erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult hasItsAxes(Operation *op, const Mesh &mesh) {
    SmallVector<Attribute> axes;
    if (auto all = dyn_cast<AllReduceOp>(op))
      llvm::append_range(axes, all.getAxes());
    else
      axes.push_back(cast<ReduceScatterOp>(op).getAxisAttr());
    for (Attribute axis : axes)
      if (mesh.find(cast<StringAttr>(axis).str()) < 0)
        return op->emitOpError("is over ") << axis << ", and the mesh is " << mesh.text();
    if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
      const int64_t members = mesh.axes[size_t(mesh.find(scatter.getAxis().str()))].size;
      if (int64_t(scatter.getRows().size()) != members)
        return op->emitOpError("has rows of ") << scatter.getRows().size() << " members, and "
                                               << scatter.getAxis() << " has " << members;
    }
    return success();
  }
};

} // namespace

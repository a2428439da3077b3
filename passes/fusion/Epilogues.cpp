//===- Epilogues.cpp - Epilogues of products, library calls and attention -===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/Epilogues.h"
#include "ir/weir/Phase.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/kernel/KernelLimits.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include <limits>
#include <utility>

using namespace mlir;

namespace weir {

static Type elementTypeOf(Value value) { return tensorType(value).getElementType(); }

/// What attention reads through: the same numbers elsewhere, or in a narrower type.
static bool isReadThrough(Operation *op) {
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return cast.widens();
  auto view = dyn_cast_or_null<View>(op);
  return view && view.use() != ViewUse::more;
}

/// The cast to a float of low precision that is a value's only use.
static CastOp narrowing(Value value) {
  auto cast = value.hasOneUse() ? dyn_cast<CastOp>(*value.user_begin()) : CastOp();
  return cast && cast.narrows() ? cast : CastOp();
}

/// The vector that a value repeats along its last dimension, if it does, widened perhaps.
static Value biasOf(Value value) {
  if (auto cast = value.getDefiningOp<CastOp>(); cast && cast.widens())
    value = cast.getInput();
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast || shapeOf(broadcast.getInput()).size() != 1)
    return {};
  ArrayRef<int64_t> shape = shapeOf(value);
  if (broadcast.getDimensions()[0] != int64_t(shape.size()) - 1 ||
      shapeOf(broadcast.getInput())[0] != shape.back())
    return {};
  Operation *source = broadcast.getInput().getDefiningOp();
  // A view would have to be cloned into the product, and the library reads memory.
  return source && fusionClass(source) == FusionClass::cheap ? Value() : broadcast.getInput();
}

/// The multiplication of a value that nothing else uses with one number, which is in memory or part
/// of a vector there.
static MulOp scaling(Value value) {
  auto mul = value.hasOneUse() ? dyn_cast<MulOp>(*value.user_begin()) : MulOp();
  if (!mul)
    return {};
  Value other = mul.getLhs() == value ? mul.getRhs() : mul.getLhs();
  auto spread = other.getDefiningOp<BroadcastOp>();
  if (!spread || tensorType(spread.getInput()).getNumElements() != 1)
    return {};
  Operation *source = spread.getInput().getDefiningOp();
  if (auto slice = dyn_cast_or_null<SliceOp>(source);
      slice && shapeOf(slice.getInput()).size() == 1)
    source = slice.getInput().getDefiningOp();
  return source && fusionClass(source) == FusionClass::cheap ? MulOp() : mul;
}

/// The same, twice.
static std::pair<MulOp, MulOp> scalings(MatmulOp product) {
  MulOp first = scaling(product.getResult()), second = first ? scaling(first.getResult()) : MulOp();
  return {second ? first : MulOp(), second};
}

bool scalesProduct(Operation *op) {
  auto second = dyn_cast<MulOp>(op);
  auto first = second ? second.getLhs().getDefiningOp<MulOp>() : MulOp();
  auto product = first ? first.getLhs().getDefiningOp<MatmulOp>() : MatmulOp();
  return product && scalings(product).second == second;
}

/// split(a b) + bias becomes split(a b + bias): the sum then belongs to the product.
static void sinkSplit(MatmulOp matmul) {
  MulOp scaled = scalings(matmul).second;
  Value product = scaled ? scaled.getResult() : matmul.getResult();
  if (!product.hasOneUse() || shapeOf(product).size() != 2)
    return;
  auto split = dyn_cast<SplitDimOp>(*product.user_begin());
  if (!split || split.getDimension() != 0 || !split->hasOneUse())
    return;
  auto add = dyn_cast<AddOp>(*split->user_begin());
  if (!add)
    return;
  Value bias = biasOf(add.getLhs() == split.getResult() ? add.getRhs() : add.getLhs());
  if (!bias)
    return;
  OpBuilder builder(add);
  auto type = matmul.getType();
  Value wide = BroadcastOp::create(builder, add.getLoc(), type.clone(elementTypeOf(bias)), bias,
                                   ArrayRef<int64_t>{1});
  if (wide.getType() != type)
    wide = CastOp::create(builder, add.getLoc(), type, wide);
  Value sum = AddOp::create(builder, add.getLoc(), product, wide, add.getComputeAttr());
  Value shaped = SplitDimOp::create(builder, split.getLoc(), split.getType(), sum,
                                    split.getDimensionAttr(), split.getSizesAttr());
  add.replaceAllUsesWith(shaped);
  add.erase();
  split.erase();
}

/// Where attention's result leaves through transpose and merge_dims, its other users read it back
/// through their inverses.
static void oneLayout(AttentionOp attention) {
  Value result = attention.getResult();
  if (CastOp cast = narrowing(result))
    result = cast.getResult();
  for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
    auto transpose = dyn_cast<TransposeOp>(user);
    if (!transpose || !transpose->hasOneUse())
      continue;
    auto merge = dyn_cast<MergeDimsOp>(*transpose->user_begin());
    if (!merge || merge.getFirst() != 2 || merge.getCount() != 2)
      continue;
    ArrayRef<int64_t> shape = shapeOf(transpose.getResult()),
                      permutation = transpose.getPermutation();
    SmallVector<int64_t> inverse(permutation.size());
    for (auto [i, d] : llvm::enumerate(permutation))
      inverse[d] = i;
    SmallVector<OpOperand *> others;
    for (OpOperand &use : result.getUses())
      if (use.getOwner() != transpose)
        others.push_back(&use);
    if (others.empty())
      return;
    for (OpOperand *use : others)
      if (use->getOwner()->getBlock() != merge->getBlock())
        return;
    transpose->moveAfter(result.getDefiningOp());
    merge->moveAfter(transpose);
    OpBuilder builder(merge->getContext());
    builder.setInsertionPointAfter(merge);
    Value apart = SplitDimOp::create(builder, merge.getLoc(), transpose.getType(),
                                     merge.getResult(), builder.getI64IntegerAttr(2),
                                     builder.getDenseI64ArrayAttr(shape.drop_front(2)));
    Value back =
        TransposeOp::create(builder, merge.getLoc(), apart, builder.getDenseI64ArrayAttr(inverse));
    for (OpOperand *use : others)
      use->set(back);
    return;
  }
}

static bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return number && number.getValue().isZero();
}

/// 0 >= x is 0 >= max(0, x): the mask of a relu's gradient then needs the result alone, and x need
/// not be kept.
static void maskFromResult(MaxOp relu) {
  Value zero = relu.getLhs(), input = relu.getRhs();
  if (!isZero(zero) || isZero(input))
    return;
  for (OpOperand &use : llvm::make_early_inc_range(input.getUses())) {
    auto compare = dyn_cast<CompareOp>(use.getOwner());
    if (compare && compare.getPredicate() == Predicate::ge && isZero(compare.getLhs()) &&
        use.getOperandNumber() == 1 && compare->getBlock() == relu->getBlock() &&
        relu->isBeforeInBlock(compare))
      use.set(relu.getResult());
  }
}

/// A concatenation of more tensors than a kernel takes becomes one of concatenations. (An element's
/// tensor is found by comparing with one after the other: the code grows with their square.)
static void nestConcat(ConcatOp concat) {
  constexpr size_t most = 128;
  static_assert(most < mostKernelOperands);
  PhaseListener phase(phaseOf(concat));
  OpBuilder builder(concat, &phase);
  SmallVector<Value> parts(concat.getInputs());
  while (parts.size() > most) {
    SmallVector<Value> nested;
    for (size_t i = 0; i < parts.size(); i += most) {
      auto some = ArrayRef<Value>(parts).slice(i).take_front(most);
      nested.push_back(some.size() == 1 ? some[0]
                                        : ConcatOp::create(builder, concat.getLoc(), some,
                                                           concat.getDimension()));
    }
    parts = std::move(nested);
  }
  concat.getInputsMutable().assign(parts);
}

/// A view of what is widened is the narrow one's view, widened: views move what is in memory, and
/// whoever computes with it widens it on the way.
static void widenBehindViews(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto cast = isa<View>(op) ? op.getOperand(0).getDefiningOp<CastOp>() : CastOp();
    if (!cast || !cast.widens())
      continue;
    Value result = op.getResult(0);
    Type wide = result.getType();
    op.setOperand(0, cast.getInput());
    result.setType(tensorType(result).clone(tensorType(cast.getInput()).getElementType()));
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(&op);
    auto again = CastOp::create(builder, cast.getLoc(), wide, result);
    result.replaceAllUsesExcept(again, again);
    if (cast.use_empty())
      cast.erase();
  }
}

/// And what is narrowed is narrowed before it is viewed, where only that is looked at: whoever
/// computes it stores it so.
static void narrowBeforeViews(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto cast = dyn_cast<CastOp>(op);
    if (!cast || !cast.narrows())
      continue;
    Value value = cast.getInput();
    Type low = cast.getType().getElementType();
    SmallVector<Operation *> views;
    while (auto view = value.getDefiningOp<View>()) {
      if (view.use() != ViewUse::each || !value.hasOneUse() || view->getBlock() != &block)
        break;
      views.push_back(view);
      value = view->getOperand(0);
    }
    if (views.empty())
      continue;
    OpBuilder builder(views.back());
    Value narrow = CastOp::create(builder, cast.getLoc(), tensorType(value).clone(low), value);
    views.back()->setOperand(0, narrow);
    for (Operation *view : views)
      view->getResult(0).setType(tensorType(view->getResult(0)).clone(low));
    cast.replaceAllUsesWith(views.front()->getResult(0));
    cast.erase();
  }
}

LogicalResult decomposeDeclined(Block &block, const Target &target) {
  SmallVector<Decomposable> declined;
  for (Operation &op : block)
    if (fusionClass(&op) == FusionClass::root && !isa<Lowerable>(op) &&
        !target.declines(cast<Fusible>(op).kernelShape(), &op).empty())
      declined.push_back(cast<Decomposable>(op));
  for (Decomposable op : declined) {
    PhaseListener phase(phaseOf(op));
    OpBuilder builder(op, &phase);
    Operation *before = op->getPrevNode();
    op->replaceAllUsesWith(op.decompose(builder));
    for (Operation *part = op->getPrevNode(); part != before; part = part->getPrevNode())
      for (Value value : part->getResults())
        if (int64_t elements = tensorType(value).getNumElements(); elements > target.mostIndexed())
          return op.emitError() << "is decomposed for this target ("
                                << target.declines(cast<Fusible>(*op).kernelShape(), op)
                                << ") into tensors of " << elements
                                << " elements: expected at most " << target.mostIndexed()
                                << "; make its operands smaller (--set)";
    op->erase();
  }
  return success();
}

void reduceInSteps(Block &block) {
  for (auto reduce : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    if (reduce.reductionSplit())
      continue;
    ArrayRef<int64_t> axes = reduce.getAxes();
    int64_t rank = tensorType(reduce.getInput()).getRank(), count = axes.size(), last = 0,
            first = 0;
    while (last < count && axes[count - 1 - last] == rank - 1 - last)
      ++last;
    while (first < count && axes[first] == first)
      ++first;
    if (!last && !first)
      continue;
    SmallVector<int64_t> step(last ? axes.take_back(last) : axes.take_front(first)),
        others(last ? axes.drop_back(last) : axes.drop_front(first));
    if (!last)
      for (int64_t &axis : others)
        axis -= first;
    PhaseListener phase(phaseOf(reduce));
    OpBuilder builder(reduce, &phase);
    Value value = ReduceOp::create(builder, reduce.getLoc(), reduce.getInput(), reduce.getKind(),
                                   step, reduce.getAccumulateAttr());
    reduce.replaceAllUsesWith(ReduceOp::create(builder, reduce.getLoc(), value, reduce.getKind(),
                                               others, reduce.getAccumulateAttr())
                                  .getResult());
    reduce.erase();
  }
}

void placeEpilogues(Block &block) {
  widenBehindViews(block);
  SmallVector<ConcatOp> concats;
  SmallVector<MatmulOp> products;
  SmallVector<AttentionOp> attentions;
  for (Operation &op : block) {
    if (auto concat = dyn_cast<ConcatOp>(op))
      concats.push_back(concat);
    if (auto matmul = dyn_cast<MatmulOp>(op))
      products.push_back(matmul);
    if (auto attention = dyn_cast<AttentionOp>(op))
      attentions.push_back(attention);
    if (auto relu = dyn_cast<MaxOp>(op))
      maskFromResult(relu);
  }
  llvm::for_each(concats, nestConcat);
  llvm::for_each(products, sinkSplit);
  narrowBeforeViews(block);
  llvm::for_each(attentions, oneLayout);
}

/// Clones what an operand is read through for this op alone.
static void absorbOperand(OpOperand &operand, llvm::SetVector<Operation *> &ops) {
  Operation *view = operand.get().getDefiningOp();
  if (!isReadThrough(view))
    return;
  OpBuilder builder(operand.getOwner());
  Operation *own = builder.clone(*view);
  operand.set(own->getResult(0));
  absorbOperand(own->getOpOperand(0), ops);
  ops.insert(own);
}

/// Whether pads of one result each fill a stretch of one dimension, and together all of it.
static bool tile(ArrayRef<PadOp> pads) {
  ArrayRef<int64_t> whole = shapeOf(PadOp(pads.front()).getResult());
  SmallVector<std::pair<int64_t, int64_t>> stretches;
  std::optional<size_t> along;
  for (PadOp pad : pads) {
    ArrayRef<int64_t> part = shapeOf(pad.getInput());
    if (shapeOf(pad.getResult()) != whole ||
        llvm::any_of(pad.getStrides(), [](int64_t s) { return s != 1; }))
      return false;
    for (size_t d = 0; d < whole.size(); ++d)
      if (part[d] != whole[d]) {
        if (along.value_or(d) != d)
          return false;
        along = d;
      }
    if (!along)
      return false;
    stretches.push_back({pad.getOffsets()[*along], part[*along]});
  }
  llvm::sort(stretches);
  int64_t end = 0;
  for (auto [offset, size] : stretches) {
    if (offset != end)
      return false;
    end += size;
  }
  return end == whole[*along];
}

RootKernel attentionKernel(Operation *root) {
  RootKernel kernel;
  llvm::SetVector<Operation *> ops;
  for (OpOperand &operand : root->getOpOperands())
    absorbOperand(operand, ops);
  ops.insert(root);
  // Behind: where the results go without a copy.
  SmallVector<Value> ends(root->getResults());
  auto grow = [&](auto &&takes) {
    for (bool grew = true; std::exchange(grew, false);)
      for (Value &end : ends) {
        Operation *user = end.hasOneUse() ? *end.user_begin() : nullptr;
        bool isOurs = user && user->getBlock() == root->getBlock() && takes(user) &&
                      llvm::all_of(user->getOperands(), [&](Value operand) {
                        return llvm::is_contained(ends, operand) && operand.hasOneUse();
                      });
        if (!isOurs)
          continue;
        ops.insert(user);
        end = user->getResult(0);
        llvm::erase_if(ends,
                       [&](Value other) { return llvm::is_contained(user->getOperands(), other); });
        grew = true;
        break;
      }
  };
  auto narrows = [](Operation *op) {
    auto cast = dyn_cast<CastOp>(op);
    return cast && cast.narrows();
  };
  grow([&](Operation *op) { return isa<TransposeOp, MergeDimsOp>(op) || narrows(op); });
  // Next to each other in one tensor: a sum of pads that leaves no gap.
  auto apart = std::pair(ops, ends);
  SmallVector<PadOp> pads;
  grow([&](Operation *op) {
    if (auto pad = dyn_cast<PadOp>(op))
      pads.push_back(pad);
    return isa<PadOp>(op) || (isa<AddOp>(op) && llvm::all_of(op->getOperands(), [](Value operand) {
                                return isa_and_nonnull<PadOp, AddOp>(operand.getDefiningOp());
                              }));
  });
  if (!pads.empty() && (ends.size() != 1 || !tile(pads)))
    std::tie(ops, ends) = apart;
  grow(narrows);
  for (Value end : ends)
    if (!end.use_empty())
      kernel.results.push_back(end);
  kernel.ops.assign(ops.begin(), ops.end());
  sortNearby(kernel.ops);
  return kernel;
}

/// A reduction that is no row's computes its input on the way, where that takes no more than two
/// tensors to read.
static void absorbProducers(ReduceOp reduce, FusionGroup *group, Groups &groups) {
  constexpr unsigned mostOps = 16, mostReads = 2;
  ArrayRef<int64_t> full = shapeOf(reduce.getInput());
  llvm::SetVector<Operation *> producers;
  llvm::SetVector<Value> reads;
  SmallVector<Value> frontier{reduce.getInput()};
  while (!frontier.empty()) {
    Value value = frontier.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && producers.contains(op))
      continue;
    // What is narrowed is stored so.
    auto cast = dyn_cast_or_null<CastOp>(op);
    if (!op || !isa<Pointwise>(op) || op->getBlock() != reduce->getBlock() ||
        producers.size() == mostOps || (cast && cast.narrows())) {
      reads.insert(value);
      continue;
    }
    producers.insert(op);
    for (Source source : sources(op)) {
      if (!source.direct)
        return;
      if (shapeOf(source.value) == full)
        frontier.push_back(source.value);
    }
  }
  if (producers.empty() || reads.size() > mostReads)
    return;
  SmallVector<Operation *> ordered(producers.begin(), producers.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  IRMapping mapping;
  OpBuilder builder(reduce);
  for (Operation *op : ordered)
    groups.adopt(builder.clone(*op, mapping), group);
  reduce.getInputMutable().assign(mapping.lookup(reduce.getInput()));
}

KernelShape rootShape(Operation *root, const Target &target) {
  KernelShape shape = cast<Fusible>(root).kernelShape();
  return target.declines(shape, root).empty() ? shape : KernelShape::nest;
}

void absorbNeighbours(Groups &groups, Block &block, const Target &target) {
  SmallVector<Operation *> roots;
  for (Operation &op : block)
    if (fusionClass(&op) == FusionClass::root)
      roots.push_back(&op);
  for (Operation *root : roots) {
    FusionGroup *group = groups.of(root);
    if (auto reduce = dyn_cast<ReduceOp>(root)) {
      absorbProducers(reduce, group, groups);
      continue;
    }
    KernelShape shape = rootShape(root, target);
    if (shape == KernelShape::nest && root->getNumResults() == 1)
      if (CastOp cast = narrowing(root->getResult(0)))
        groups.adopt(cast, group); // computed and stored element by element
    if (shape == KernelShape::nest || shape != cast<Fusible>(root).kernelShape())
      continue;
    SmallVector<Operation *> behind;
    size_t joining = 0;
    Epilogue epilogue;
    Value end = root->getResult(0);
    auto next = [&] { return end.hasOneUse() ? *end.user_begin() : nullptr; };
    auto append = [&](Operation *op) {
      behind.push_back(op);
      end = op->getResult(0);
      if (target.takes(root, epilogue))
        joining = behind.size();
    };
    if (auto product = dyn_cast<MatmulOp>(root))
      if (auto [first, second] = scalings(product); second) {
        epilogue.scaled = true;
        behind.push_back(first);
        append(second);
      }
    auto add = dyn_cast_or_null<AddOp>(next());
    if (Value bias = add && shapeOf(end).size() == 2
                         ? biasOf(add.getLhs() == end ? add.getRhs() : add.getLhs())
                         : Value()) {
      epilogue.bias = elementTypeOf(bias);
      append(add);
      auto relu = dyn_cast_or_null<MaxOp>(next());
      if (relu && (isZero(relu.getLhs()) || isZero(relu.getRhs()))) {
        epilogue.relu = true;
        append(relu);
      }
    }
    if (CastOp cast = narrowing(end)) {
      epilogue.result = cast.getType().getElementType();
      append(cast);
    }
    // A target may take a longer one, though not what it begins with.
    for (Operation *op : ArrayRef(behind).take_front(joining))
      groups.adopt(op, group);
  }
}

} // namespace weir

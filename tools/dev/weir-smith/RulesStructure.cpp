//===- RulesStructure.cpp - Constants, layout and indexing ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/structure/Structure.h"
#include "tools/dev/weir-smith/Rules.h"
#include <numeric>

using namespace mlir;

namespace weir::smith {
namespace {

Element anyElement(Scope &s) {
  return s.random().one({Element::f32, Element::f32, Element::f32, Element::f32, Element::i32,
                         Element::u8, Element::b8});
}

void constant(Scope &s) {
  Element element = anyElement(s);
  double value = element == Element::f32   ? s.random().one({-0.5, 0.0, 1.0, 2.5})
                 : element == Element::i32 ? s.random().one({-4, 0, 1, 11})
                 : element == Element::u8  ? s.random().one({0, 1, 200})
                                           : s.random().one({0, 1});
  s.give(s.constant(s.type(s.shape(0, 3), element), value));
}

void iota(Scope &s) {
  Shape shape = s.shape(1, 3);
  s.give(s.make<IotaOp>(s.type(shape, Element::i32),
                        s.builder.getI64IntegerAttr(s.random().below(shape.size()))));
}

void broadcast(Scope &s) {
  Value value = s.any(anyElement(s), 0, 3);
  Shape shape;
  SmallVector<int64_t> dimensions;
  auto widen = [&] {
    while (s.random().chance(0.3) && shape.size() < 4)
      shape.push_back(s.size(7));
  };
  for (int64_t size : shapeOf(value)) {
    widen();
    dimensions.push_back(shape.size());
    shape.push_back(size == 1 && s.random().chance(0.6) ? s.size(17) : size);
  }
  widen();
  if (ShapedType::getNumElements(shape) > s.mostElements())
    throw Refused();
  s.give(s.make<BroadcastOp>(s.type(shape, elementOf(value)), value, dimensions));
}

void transpose(Scope &s) {
  Value value = s.any(anyElement(s), 1, 5);
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
  for (size_t i = permutation.size(); i > 1; --i)
    std::swap(permutation[i - 1], permutation[s.random().below(i)]);
  s.give(s.make<TransposeOp>(value, permutation));
}

void splitDim(Scope &s) {
  Value value = s.any(anyElement(s), 1, 4);
  int64_t dimension = s.random().below(tensorType(value).getRank());
  int64_t left = shapeOf(value)[dimension];
  SmallVector<int64_t> sizes;
  while (left > 1 || s.random().chance(0.2)) {
    int64_t factor = 1;
    for (int64_t f : {2, 3, 4, 5, 7, 8, 11})
      if (left % f == 0 && s.random().chance(0.6))
        factor = f;
    if (factor == 1 && s.random().chance(0.6))
      factor = left;
    sizes.push_back(factor);
    left /= factor;
    if (sizes.size() > 3)
      throw Refused();
  }
  s.give(s.make<SplitDimOp>(value, dimension, sizes));
}

void mergeDims(Scope &s) {
  Value value = s.any(anyElement(s), 0, 4);
  int64_t rank = tensorType(value).getRank(), first = s.random().below(rank + 1);
  s.give(s.make<MergeDimsOp>(value, first, s.random().below(rank - first + 1)));
}

void slice(Scope &s) {
  Value value = s.any(anyElement(s), 1, 4);
  SmallVector<int64_t> shape, offsets, strides;
  for (int64_t size : shapeOf(value)) {
    bool whole = s.random().chance(0.4);
    strides.push_back(whole ? 1 : 1 + s.random().below(std::min<int64_t>(3, size)));
    offsets.push_back(whole ? 0 : s.random().below(size));
    int64_t most = (size - offsets.back() - 1) / strides.back() + 1;
    shape.push_back(whole ? size : 1 + s.random().below(most));
  }
  s.give(s.make<SliceOp>(s.type(shape, elementOf(value)), value, offsets, strides));
}

void pad(Scope &s) {
  Value value = s.any(anyElement(s), 1, 4);
  SmallVector<int64_t> shape, offsets, strides;
  for (int64_t size : shapeOf(value)) {
    bool whole = s.random().chance(0.4);
    offsets.push_back(whole ? 0 : s.random().below(4));
    strides.push_back(whole ? 1 : 1 + s.random().below(3));
    shape.push_back(offsets.back() + (size - 1) * strides.back() + 1 +
                    (whole ? 0 : s.random().below(3)));
  }
  if (ShapedType::getNumElements(shape) > s.mostElements())
    throw Refused();
  s.give(s.make<PadOp>(s.type(shape, elementOf(value)), value, offsets, strides));
}

void concat(Scope &s) {
  Value first = s.any(anyElement(s), 1, 4);
  int64_t dimension = s.random().below(tensorType(first).getRank());
  SmallVector<Value> inputs{first};
  int64_t total = tensorType(first).getNumElements();
  for (int64_t more = s.random().below(3); more > 0; --more) {
    Shape shape(shapeOf(first));
    shape[dimension] = s.random().chance(0.4) ? shape[dimension] : s.size(9);
    total += ShapedType::getNumElements(shape);
    if (total > s.mostElements())
      throw Refused();
    inputs.push_back(s.shaped(shape, elementOf(first)));
  }
  for (size_t i = inputs.size(); i > 1; --i)
    std::swap(inputs[i - 1], inputs[s.random().below(i)]);
  s.give(s.make<ConcatOp>(inputs, dimension));
}

void gather(Scope &s) {
  Value table = s.any(anyElement(s), 1, 3);
  int64_t rows = shapeOf(table)[0], row = tensorType(table).getNumElements() / rows;
  Shape shape = s.shape(0, 2, std::max<int64_t>(1, s.mostElements() / 2 / row));
  s.give(s.make<GatherOp>(table, s.indices(shape, rows)));
}

void segmentSum(Scope &s) {
  Value input = s.any(Element::f32, 0, 4);
  auto shape = shapeOf(input);
  int64_t leading = s.random().below(shape.size() + 1), segments = s.size(12);
  Shape result{segments};
  result.append(shape.begin() + leading, shape.end());
  if (ShapedType::getNumElements(result) > s.mostElements())
    throw Refused();
  Value indices = s.indices(shape.take_front(leading), segments);
  s.give(s.make<SegmentSumOp>(s.type(result), input, indices, TypeAttr()));
}

} // namespace

ArrayRef<Rule> structureRules() {
  static constexpr Rule all[] = {
      {"constant", constant},
      {"iota", iota},
      {"broadcast", broadcast},
      {"transpose", transpose},
      {"split_dim", splitDim},
      {"merge_dims", mergeDims},
      {"slice", slice},
      {"pad", pad},
      {"concat", concat},
      {"gather", gather},
      {"segment_sum", segmentSum},
  };
  return all;
}

} // namespace weir::smith

//===- Random.cpp - What is known of random ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 as in runtime/data/Philox.h, in a form that vectorizes: 64-bit products of
// zero-extended 32-bit words, no branches. Key words: seed, step. Counter words: element index low
// and high, `key` low and high.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/random/Random.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/interfaces/Rules.h"

using namespace mlir;

namespace weir {

namespace {
struct Philox {
  Scalars &s;

  Value word(uint32_t value) { return s.constant(s.builder.getI32Type(), double(int32_t(value))); }
  Value low(Value wide) {
    return arith::TruncIOp::create(s.builder, s.loc, s.builder.getI32Type(), wide);
  }
  Value high(Value wide) {
    Value shift = arith::ConstantIntOp::create(s.builder, s.loc, 32, 64);
    return low(arith::ShRUIOp::create(s.builder, s.loc, wide, shift));
  }
  Value product(Value a, uint32_t factor) {
    Value wide = arith::ExtUIOp::create(s.builder, s.loc, s.builder.getI64Type(), a);
    Value constant = arith::ConstantIntOp::create(s.builder, s.loc, int64_t(factor), 64);
    return arith::MulIOp::create(s.builder, s.loc, wide, constant);
  }
  Value exclusive(Value a, Value b, Value c) {
    return arith::XOrIOp::create(s.builder, s.loc, arith::XOrIOp::create(s.builder, s.loc, a, b),
                                 c);
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(s.builder, s.loc, a, b); }

  std::array<Value, 4> operator()(std::array<Value, 2> key, std::array<Value, 4> counter) {
    for (int round = 0; round < 10; ++round) {
      Value a = product(counter[0], 0xD2511F53), b = product(counter[2], 0xCD9E8D57);
      counter = {exclusive(high(b), counter[1], key[0]), low(b),
                 exclusive(high(a), counter[3], key[1]), low(a)};
      key = {add(key[0], word(0x9E3779B9)), add(key[1], word(0xBB67AE85))};
    }
    return counter;
  }

  /// The upper 24 bits of a word, plus `offset`, times 2^-24: exact in f32.
  Value fraction(Value bits, int offset) {
    Value top = arith::ShRUIOp::create(s.builder, s.loc, bits, word(8));
    if (offset)
      top = add(top, word(offset));
    Value number = arith::SIToFPOp::create(s.builder, s.loc, s.builder.getF32Type(), top);
    return s.mulf(number, s.f32(0x1p-24));
  }
};
} // namespace

/// Of what a place says, which has 32 bits.
static constexpr uint64_t mostPlaces = uint64_t(1) << 32;

Value RandomOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Location loc = getLoc();
  Philox philox{s};
  Type i64 = builder.getI64Type();
  auto type = tensorType(getResult());
  auto place = [&](unsigned number) -> Value {
    return arith::ExtUIOp::create(builder, loc, i64, operand(3 + number, indices));
  };
  Value position =
      getPlaces().empty()
          ? arith::IndexCastOp::create(builder, loc, i64, s.linear(indices, type.getShape()))
          : place(0);
  if (getPlaces().size() > 1) {
    Value size = arith::ConstantIntOp::create(builder, loc, *getBlock(), 64);
    Value ahead = arith::MulIOp::create(builder, loc, place(1), size);
    position = arith::AddIOp::create(builder, loc, ahead, position);
  }
  Value round = arith::ExtUIOp::create(builder, loc, i64, operand(2, {}));
  Value elements =
      arith::ConstantIntOp::create(builder, loc, getElements().value_or(type.getNumElements()), 64);
  Value before = arith::MulIOp::create(builder, loc, round, elements);
  Value element = arith::AddIOp::create(builder, loc, before, position);
  auto keyWord = [&](int64_t place) {
    Value word = philox.word(uint32_t(uint64_t(getKey()) >> (32 * place)));
    word.getDefiningOp()->setAttr(randomKeyWordName,
                                  builder.getDenseI64ArrayAttr({int64_t(getKey()), place}));
    return word;
  };
  Value low = keyWord(0), high = keyWord(1);
  auto words = philox({operand(0, {}), operand(1, {})},
                      {philox.low(element), philox.high(element), low, high});
  if (getDistribution() == Distribution::uniform)
    return philox.fraction(words[getWord().value_or(0)], 0);
  // Box and Muller, "A note on the generation of random normal deviates", 1958. The first fraction
  // lies in (0, 1], so that its logarithm is finite.
  Value logarithm = s.log(philox.fraction(words[0], 1));
  Value radius = math::SqrtOp::create(builder, loc, s.mulf(logarithm, s.f32(-2)));
  Value angle = s.mulf(philox.fraction(words[1], 0), s.f32(6.283185307179586));
  return s.mulf(radius, math::CosOp::create(builder, loc, angle));
}

LogicalResult RandomOp::verify() {
  std::optional<uint64_t> word = getWord();
  if (word && (*word < 1 || *word > 3 || getDistribution() != Distribution::uniform))
    return emitOpError("C1: `word` is 1, 2 or 3, of a uniform draw, but is ")
           << int64_t(*word) << " of a " << stringifyDistribution(getDistribution()) << " one";
  if (getPlaces().empty() == bool(getElements()))
    return emitOpError("C2: `places` and `elements` are there together");
  uint64_t elements = getElements().value_or(1), block = getBlock().value_or(0);
  if (elements > mostPlaces ? getPlaces().size() != 2 || !block || block > mostPlaces ||
                                  elements % block || elements / block > mostPlaces
                            : getPlaces().size() > 1 || getBlock())
    return emitOpError("C3: of ")
           << elements << " random elements, in runs of " << block << ", " << getPlaces().size()
           << " places are said, of 32 bits each: make it smaller (--set, --microbatches)";
  for (Value places : getPlaces())
    if (failed(expectShape(*this, "places", places, shapeOf(getResult()))))
      return failure();
  return success();
}

ShardRule RandomOp::shardRule() {
  Rule rule;
  Factors all = rule.factors(shapeOf(getResult()));
  for (int scalar = 0; scalar < 3; ++scalar)
    rule.operand(Factors());
  for (size_t i = 0; i < getPlaces().size(); ++i)
    rule.operand(all);
  return rule.result(all).rule;
}

Operation *RandomOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types,
                              Shares &shares) {
  auto made = cast<RandomOp>(cloneWith(builder, *this, operands, types));
  if (types[0] == getType())
    return made;
  assert(getPlaces().empty() && "programs are partitioned once");
  ArrayRef<int64_t> shape = shapeOf(getResult());
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = strides.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(made);
  int64_t elements = tensorType(getResult()).getNumElements();
  made.setElements(elements);
  if (elements <= int64_t(mostPlaces)) {
    made.getPlacesMutable().assign(shares.places(strides));
    return made;
  }
  // A run is all of the last dimensions, of as many as can be.
  int64_t block = *llvm::find_if(strides, [](int64_t run) { return run <= int64_t(mostPlaces); });
  SmallVector<int64_t> inside(strides), across(strides);
  for (size_t d = 0; d < strides.size(); ++d)
    (strides[d] < block ? across : inside)[d] = 0;
  for (int64_t &stride : across)
    stride /= block;
  made.setBlock(block);
  made.getPlacesMutable().assign({shares.places(inside), shares.places(across)});
  return made;
}

// A normal number comes of a cosine, and the like.
RoundingKind RandomOp::rounding() {
  return getDistribution() == Distribution::uniform ? RoundingKind::none : RoundingKind::once;
}

// Ten rounds of two products and four other operations; a normal number adds a logarithm, a root, a
// cosine and a few more.
Cost RandomOp::cost() {
  return costOf(*this, double(elements(getResult())) *
                           (getDistribution() == Distribution::uniform ? 62 : 72));
}

} // namespace weir

//===- Factors.cpp - An op's dimensions in one line -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Factors.h"
#include "ir/weir/ElementTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace weir {
namespace {

struct Letter {
  StringRef name;
  bool isList, isWhole = false, isTied = false, isCounted = false, isCombined = false;
};

/// One operand or result.
struct Side {
  StringRef name;
  SmallVector<Letter, 4> letters;

  explicit Side(StringRef named) {
    auto [before, dimensions] = named.split(':');
    name = before.trim();
    SmallVector<StringRef, 4> words;
    dimensions.split(words, ' ', -1, false);
    for (StringRef word : words) {
      bool isList = word.consume_front("*");
      Letter letter{word, isList};
      // What stands last is taken first.
      letter.isTied = letter.name.consume_back("~");
      letter.isWhole = letter.name.consume_back("!");
      letter.isCounted = letter.name.consume_back("#");
      letter.isCombined = letter.name.consume_back("&");
      letters.push_back(letter);
    }
  }
};

SmallVector<Side, 4> sidesOf(StringRef text) {
  SmallVector<StringRef, 4> parts;
  text.split(parts, ',');
  return SmallVector<Side, 4>(llvm::map_range(parts, [](StringRef part) { return Side(part); }));
}

/// The sizes behind the letters.
class Sizes {
public:
  /// Of each letter the first value that has it counts.
  void learn(ArrayRef<Side> sides, ValueRange values) {
    assert(sides.size() == values.size() && "the factors name every operand and result");
    // What is left of a value for one list is known once its other lists are.
    for (int round = 0; round < 2; ++round)
      for (auto [side, value] : llvm::zip_equal(sides, values))
        learn(side, shapeOf(value));
  }

  /// Nothing where a letter is not known.
  std::optional<Shape> shapeOf(const Side &side) const {
    Shape shape;
    for (const Letter &letter : side.letters) {
      auto found = known.find(letter.name);
      if (found == known.end())
        return std::nullopt;
      llvm::append_range(shape, found->second);
    }
    return shape;
  }
  ArrayRef<int64_t> operator[](const Letter &letter) const { return known.at(letter.name); }

private:
  static ArrayRef<int64_t> shapeOf(Value value) { return weir::shapeOf(value); }

  void learn(const Side &side, ArrayRef<int64_t> shape) {
    size_t lists = 0, others = 0;
    for (const Letter &letter : side.letters) {
      auto found = known.find(letter.name);
      if (letter.isList && found == known.end())
        ++lists;
      else
        others += letter.isList ? found->second.size() : 1;
    }
    if (lists > 1 || others > shape.size() || (lists == 0 && others != shape.size()))
      return;
    size_t rest = shape.size() - others;
    for (const Letter &letter : side.letters) {
      auto found = known.find(letter.name);
      size_t count = !letter.isList ? 1 : found != known.end() ? found->second.size() : rest;
      if (found == known.end())
        known[letter.name] = Shape(shape.take_front(count));
      shape = shape.drop_front(count);
    }
  }

  llvm::StringMap<Shape> known;
};

} // namespace

ShardRule ruleOf(Operation *op, StringRef factors) {
  auto [left, right] = factors.split("->");
  SmallVector<Side, 4> operands = sidesOf(left), results = sidesOf(right);
  Sizes sizes;
  sizes.learn(operands, op->getOperands());
  sizes.learn(results, op->getResults());
  llvm::StringSet<> kept;
  for (const Side &side : results)
    for (const Letter &letter : side.letters)
      kept.insert(letter.name);

  // Bytes and booleans have no sums.
  bool canBeAdded = llvm::all_of(op->getResultTypes(), [](Type type) {
    Type element = cast<ShapedType>(type).getElementType();
    return isa<FloatType>(element) || element.isInteger(32);
  });
  auto kindOf = [&](const Letter &letter) {
    return letter.isWhole || (letter.isTied && !letter.isCounted) ? Factor::Kind::whole
           : letter.isCombined                                    ? Factor::Kind::combined
           : kept.contains(letter.name)                           ? Factor::Kind::parallel
           : canBeAdded                                           ? Factor::Kind::sum
                                                                  : Factor::Kind::whole;
  };

  ShardRule rule;
  llvm::StringMap<SmallVector<unsigned>> numbers;
  auto dimensionsOf = [&](const Side &side) {
    SmallVector<ShardRule::Dimension> dimensions;
    for (const Letter &letter : side.letters) {
      auto [place, isNew] = numbers.try_emplace(letter.name);
      if (isNew)
        for (int64_t size : sizes[letter]) {
          place->second.push_back(rule.factors.size());
          rule.factors.push_back({size, kindOf(letter), !letter.isTied, letter.isCounted});
        }
      for (unsigned factor : place->second)
        dimensions.push_back({factor});
    }
    return dimensions;
  };
  for (const Side &side : operands)
    rule.operands.push_back(dimensionsOf(side));
  for (const Side &side : results)
    rule.results.push_back(dimensionsOf(side));
  return rule;
}

LogicalResult inferByFactors(StringRef factors, ValueRange operands, SmallVectorImpl<Type> &types) {
  auto [left, right] = factors.split("->");
  Sizes sizes;
  sizes.learn(sidesOf(left), operands);
  for (const Side &side : sidesOf(right)) {
    std::optional<Shape> shape = sizes.shapeOf(side);
    if (!shape)
      return failure();
    Type element = tensorType(operands[0]).getElementType();
    if (isLow(element))
      element = Float32Type::get(element.getContext());
    types.push_back(RankedTensorType::get(*shape, element));
  }
  return success();
}

LogicalResult expectFactors(Operation *op, StringRef factors) {
  auto [left, right] = factors.split("->");
  SmallVector<Side, 4> operands = sidesOf(left), results = sidesOf(right);
  Sizes sizes;
  sizes.learn(operands, op->getOperands());
  sizes.learn(results, op->getResults());
  auto expect = [&](ArrayRef<Side> sides, ValueRange values) -> LogicalResult {
    for (auto [side, value] : llvm::zip_equal(sides, values)) {
      std::optional<Shape> shape = sizes.shapeOf(side);
      assert(shape && "the ranks have been verified, or there is but one that fits");
      if (failed(expectShape(op, ("the " + side.name).str(), value, *shape)))
        return failure();
    }
    return success();
  };
  return success(succeeded(expect(operands, op->getOperands())) &&
                 succeeded(expect(results, op->getResults())));
}

} // namespace weir

//===- Scope.cpp - The material a program is built from -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-smith/Scope.h"
#include "ir/weir/Names.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/structure/Structure.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace weir::smith {

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

Program::Program(MLIRContext &context, uint64_t seed)
    : context(context), module(ModuleOp::create(UnknownLoc::get(&context))), random(seed),
      large(random.chance(0.04)) {
  OpBuilder builder(&context);
  Operation *op = module->getOperation();
  op->setAttr("smith.seed", builder.getI64IntegerAttr(static_cast<int64_t>(seed)));
  op->setAttr(modelAttrName, builder.getStringAttr("smith"));
  op->setAttr(configsAttrName, builder.getDictionaryAttr({}));
  for (StringRef one : {batchAttrName, accumulateAttrName, stepsAttrName})
    op->setAttr(one, builder.getI64IntegerAttr(1));
  op->setAttr(epochsAttrName, builder.getI64IntegerAttr(0));
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  variable(runSeedName, Role::run, scalar, 0, 1 << 20);
  variable(runStepName, Role::run, scalar, 0, 30);
  variable(runTotalStepsName, Role::run, scalar, 50, 100);
}

VariableOp Program::variable(const std::string &name, Role role, RankedTensorType type, double low,
                             double high) {
  OpBuilder builder(&context);
  if (lastVariable)
    builder.setInsertionPointAfter(lastVariable);
  else
    builder.setInsertionPointToStart(module->getBody());
  auto op = VariableOp::create(builder, UnknownLoc::get(&context), name, role, type);
  op->setAttr("smith.low", builder.getF64FloatAttr(low));
  op->setAttr("smith.high", builder.getF64FloatAttr(high));
  lastVariable = op;
  return op;
}

std::string Program::newName(const std::string &prefix) {
  return prefix + std::to_string(ordinal++);
}

//===----------------------------------------------------------------------===//
// A scope
//===----------------------------------------------------------------------===//

Scope::Scope(Program &program, func::FuncOp function)
    : program(program), function(function), block(&function.getBody().front()),
      builder(OpBuilder::atBlockEnd(block)), trial(std::make_shared<Trial>()) {}

Scope::Scope(Scope &outer, int64_t count)
    : program(outer.program), function(outer.function), outer(&outer), microbatches(count),
      block(new Block()), builder(&outer.program.context), trial(outer.trial) {
  builder.setInsertionPointToEnd(block);
  round = block->addArgument(type({}, Element::i32), location());
  Tensor zero({}, 0);
  trial->values[round] = {zero, zero, true};
  sharedVariables = outer.sharedVariables;
}

Location Scope::location() {
  return FileLineColLoc::get(&program.context, "smith", ++program.ordinal, 1);
}

Element lowElement(Random &random) {
  return random.one({Element::bf16, Element::bf16, Element::f16, Element::f8e4m3, Element::f8e5m2});
}

Element elementOf(Value value) { return *weir::elementOf(tensorType(value).getElementType()); }

RankedTensorType Scope::type(ArrayRef<int64_t> shape, Element element) {
  return RankedTensorType::get(shape, typeOf(&program.context, element));
}

bool Scope::attempt(llvm::function_ref<void(Scope &)> rule) {
  Operation *mark = block->empty() ? nullptr : &block->back();
  size_t pooled = pool.size();
  try {
    rule(*this);
    return true;
  } catch (const Refused &) {
    pool.resize(pooled);
    // Reads stand at the entry's beginning and stay.
    while (!block->empty() && &block->back() != mark && !isa<ReadOp>(block->back())) {
      for (Value result : block->back().getResults()) {
        trial->values.erase(result);
        active.erase(result);
        blocked.erase(result);
      }
      block->back().erase();
    }
    return false;
  }
}

void Scope::admit(Operation *op) {
  if (!trying)
    return;
  if (!trial->execute(*op))
    throw Refused();
  bool anyActive = false, anyBlocked = false;
  for (Value operand : op->getOperands()) {
    const Scope *where = operand.getParentBlock() == block || !outer ? this : outer;
    anyActive |= where->active.contains(operand);
    anyBlocked |= where->blocked.contains(operand);
  }
  for (OpResult result : op->getResults()) {
    if (!isa<FloatType>(tensorType(result).getElementType()))
      continue;
    if (anyActive)
      active.insert(result);
    if (anyBlocked || (anyActive && (!isa<Differentiable>(op) ||
                                     (isa<AttentionOp>(op) && result.getResultNumber() == 1))))
      blocked.insert(result);
  }
}

static double largest(const Known &known) {
  double most = 0;
  for (double x : known.truth.values)
    most = std::max(most, std::fabs(x));
  return most;
}

void Scope::give(Value value) {
  double most = largest(known(value));
  if (elementOf(value) == Element::f32 && most > 5)
    value = random().chance(0.3) ? map<TanhOp>(scaled(value, 2 / most)) : scaled(value, 2 / most);
  else if (elementOf(value) == Element::f32 && most > 0 && most < 0.05)
    value = scaled(value, 1 / most);
  else if (elementOf(value) == Element::i32 && most > 500)
    value = map<RemOp>(value, constant(value.getType(), 97));
  pool.push_back(value);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t Scope::size(int64_t most) {
  static constexpr int64_t sizes[] = {1, 1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 12, 16, 17, 33, 40};
  if (most == 0)
    most = program.large ? 300 : 40;
  if (program.large && random().chance(0.4))
    if (int64_t result = random().one({65, 100, 130, 257}); result <= most)
      return result;
  int64_t result;
  do
    result = sizes[random().below(std::size(sizes))];
  while (result > most);
  return result;
}

Shape Scope::shape(int64_t leastRank, int64_t mostRank, int64_t mostElements) {
  Shape result;
  if (mostElements == 0)
    mostElements = program.large ? 30000 : 1700;
  int64_t rank = leastRank + random().below(mostRank - leastRank + 1), left = mostElements;
  for (int64_t d = 0; d < rank; ++d) {
    result.push_back(size(std::max<int64_t>(1, left)));
    left /= result.back();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Scope::any(llvm::function_ref<bool(Value)> accept) {
  std::vector<Value> found;
  for (Value value : pool)
    if (accept(value))
      found.push_back(value);
  if (outer)
    for (Value value : outer->pool)
      if (accept(value))
        found.push_back(value);
  if (found.empty())
    throw Refused();
  // Mostly what nobody uses yet, so that programs grow deep.
  for (int i = 0; i < 3; ++i) {
    Value value = found[random().below(found.size())];
    if (value.use_empty() || i == 2)
      return value;
  }
  return found.front();
}

Value Scope::any(Element element, int64_t leastRank, int64_t mostRank) {
  auto accept = [&](Value value) {
    int64_t rank = tensorType(value).getRank();
    return elementOf(value) == element && rank >= leastRank && rank <= mostRank;
  };
  if (random().chance(0.85) &&
      (llvm::any_of(pool, accept) || (outer && llvm::any_of(outer->pool, accept))))
    return any(accept);
  return fresh(type(shape(leastRank, std::min<int64_t>(mostRank, std::max<int64_t>(leastRank, 3))),
                    element));
}

Value Scope::number() { return any(random().chance(0.8) ? Element::f32 : Element::i32); }

Value Scope::constant(mlir::Type type, double value) {
  return make<ConstantOp>(cast<RankedTensorType>(type), value);
}

Value Scope::scaled(Value value, double factor, double offset) {
  Value result = map<MulOp>(value, constant(value.getType(), factor));
  return offset == 0 ? result : map<AddOp>(result, constant(value.getType(), offset));
}

Value Scope::awayFromZero(Value value) {
  if (llvm::all_of(known(value).truth.values, [](double x) { return std::fabs(x) > 0.2; }))
    return value;
  return positive(value);
}

Value Scope::positive(Value value) {
  if (llvm::all_of(known(value).truth.values, [](double x) { return x > 0.2; }))
    return value;
  return map<AddOp>(map<MulOp>(value, value), constant(value.getType(), 0.5));
}

Value Scope::broadcast(Value value, ArrayRef<int64_t> shape) {
  int64_t rank = tensorType(value).getRank();
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(shape.size() - rank, shape.size()));
  return make<BroadcastOp>(type(shape, elementOf(value)), value, dimensions);
}

/// A value of another shape, cut out of what is there.
Value Scope::reshaped(ArrayRef<int64_t> shape, Element element) {
  int64_t wanted = ShapedType::getNumElements(shape);
  Value value = any([&](Value value) {
    return elementOf(value) == element && tensorType(value).getNumElements() >= wanted;
  });
  int64_t rank = tensorType(value).getRank();
  if (rank != 1)
    value = make<MergeDimsOp>(value, 0, rank);
  int64_t spare = shapeOf(value)[0] - wanted;
  if (spare > 0)
    value = make<SliceOp>(type({wanted}, element), value,
                          ArrayRef<int64_t>{random().below(spare + 1)}, ArrayRef<int64_t>{1});
  return shape.size() == 1 ? value : make<SplitDimOp>(value, 0, shape);
}

Value Scope::like(RankedTensorType wanted) {
  auto equal = [&](Value value) { return value.getType() == wanted; };
  auto broadcasts = [&](Value value) {
    auto type = tensorType(value);
    if (type.getElementType() != wanted.getElementType() || type.getRank() > wanted.getRank() ||
        type == wanted)
      return false;
    for (auto [from, to] :
         llvm::zip(llvm::reverse(type.getShape()), llvm::reverse(wanted.getShape())))
      if (from != 1 && from != to)
        return false;
    return true;
  };
  auto anywhere = [&](auto accept) {
    return llvm::any_of(pool, accept) || (outer && llvm::any_of(outer->pool, accept));
  };
  Element kind = *weir::elementOf(wanted.getElementType());
  if (random().chance(0.7) && anywhere(equal))
    return any(equal);
  if (random().chance(0.5) && anywhere(broadcasts))
    return broadcast(any(broadcasts), wanted.getShape());
  if (random().chance(0.3)) {
    Value found;
    if (attempt([&](Scope &) { found = reshaped(wanted.getShape(), kind); }))
      return found;
  }
  if (random().chance(0.15) && wanted.getRank() > 0)
    return broadcast(source(type(wanted.getShape().drop_front(), kind)), wanted.getShape());
  return fresh(wanted);
}

Value Scope::indices(ArrayRef<int64_t> shape, int64_t limit) {
  auto wanted = type(shape, Element::i32);
  if (random().chance(0.5))
    return input(wanted, 0, static_cast<double>(limit));
  Value value = like(wanted);
  return map<RemOp>(map<AbsOp>(value), constant(wanted, static_cast<double>(limit)));
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

Value Scope::read(StringRef name) {
  Scope &at = top();
  Value &value = at.reads[name.str()];
  if (!value) {
    OpBuilder early = OpBuilder::atBlockBegin(at.block);
    auto variable = program.module->lookupSymbol<VariableOp>(name);
    value = ReadOp::create(early, location(), variable.getType(), name);
    Tensor data = draw(*program.module, name, variable.getType(), variable->getAttrDictionary());
    trial->values[value] = {data, data, true};
    if (variable.getRole() == Role::parameter) {
      at.active.insert(value);
      at.parameters.push_back(name.str());
    }
  }
  return value;
}

Value Scope::parameter(RankedTensorType type) {
  for (const std::string &name : sharedVariables)
    if (program.module->lookupSymbol<VariableOp>(name).getType() == type && random().chance(0.7))
      return read(name);
  std::string name = program.newName("p");
  program.variable(name, Role::parameter, type, -1, 1);
  return read(name);
}

Value Scope::input(RankedTensorType type, double low, double high) {
  Scope &at = top();
  bool slice = outer && type.getRank() > 0;
  Shape whole(type.getShape());
  if (slice)
    whole[0] *= microbatches;
  auto wholeType = RankedTensorType::get(whole, type.getElementType());
  unsigned number = function.getNumArguments();
  std::string name = program.newName("x");
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr(inputAttrName, builder.getStringAttr(name)),
      builder.getNamedAttr("smith.low", builder.getF64FloatAttr(low)),
      builder.getNamedAttr("smith.high", builder.getF64FloatAttr(high))};
  if (type.getElementType().isInteger(32) && low == 0)
    attributes.push_back(
        builder.getNamedAttr(limitAttrName, builder.getI64IntegerAttr(static_cast<int64_t>(high))));
  DictionaryAttr dictionary = builder.getDictionaryAttr(attributes);
  (void)function.insertArgument(number, wholeType, dictionary, location());
  Value argument = function.getArgument(number);
  Tensor data = draw(*program.module, name, wholeType, dictionary);
  trial->values[argument] = {data, data, true};
  if (!slice)
    return argument;
  at.pool.push_back(argument);
  sliced.push_back(argument);
  // Slices stand before the carried values.
  Value part = block->insertArgument(sliced.size(), type, location());
  Tensor first(type.getShape());
  std::copy_n(data.values.begin(), first.values.size(), first.values.begin());
  trial->values[part] = {first, first, true};
  return part;
}

Value Scope::state(RankedTensorType type) {
  std::string name = program.newName("s");
  bool whole = !isa<FloatType>(type.getElementType());
  auto variable = program.variable(name, Role::state, type, whole ? 0 : -1, whole ? 9 : 1);
  Value old;
  if (outer) {
    Tensor data = draw(*program.module, name, type, variable->getAttrDictionary());
    old = block->addArgument(type, location());
    trial->values[old] = {data, data, true};
  } else {
    old = read(name);
  }
  states.push_back({name, old});
  return old;
}

Value Scope::runScalar(StringRef name) { return read((runPrefix + name).str()); }

Value Scope::source(RankedTensorType type) {
  if (type.getElementType().isInteger(1))
    return make<CompareOp>(random().one({Predicate::lt, Predicate::ge}),
                           source(this->type(type.getShape())),
                           constant(this->type(type.getShape()), random().unit() - 0.5));
  double choice = random().unit();
  Value value;
  if (type.getElementType().isInteger(8))
    value = input(type, 0, 256);
  else if (type.getElementType().isInteger(32))
    value = choice < 0.7 ? input(type, random().one({0, -20}), 20) : state(type);
  else
    value = choice < 0.6 ? parameter(type) : choice < 0.85 ? input(type, -2, 2) : state(type);
  pool.push_back(value);
  return value;
}

Value Scope::fresh(RankedTensorType type) {
  double choice = random().unit();
  bool isFloat = isa<FloatType>(type.getElementType());
  if (choice < 0.8 || !(isFloat || type.getElementType().isInteger(32)))
    return source(type);
  if (choice < 0.85)
    return constant(type, isFloat ? random().one({-1.0, 0.25, 0.5, 1.0, 1.5, 2.0})
                                  : random().one({-3, 1, 2, 7}));
  if (isFloat && choice < 0.93) {
    auto key = static_cast<uint64_t>(random().below(int64_t(1) << 62));
    auto kind = random().one({Distribution::uniform, Distribution::normal});
    Value zero = constant(this->type({}, Element::i32), 0);
    return make<RandomOp>(type, runScalar("seed"), runScalar("step"), round ? round : zero, kind,
                          key);
  }
  if (type.getRank() == 0)
    return source(type);
  int64_t dimension = random().below(type.getRank());
  Value value =
      make<IotaOp>(this->type(type.getShape(), Element::i32), builder.getI64IntegerAttr(dimension));
  if (!isFloat)
    return value;
  return scaled(make<CastOp>(type, value), 1.0 / 16);
}

} // namespace weir::smith

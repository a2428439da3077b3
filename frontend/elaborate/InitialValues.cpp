//===- InitialValues.cpp - Emits the initial values of variables ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/InitialValues.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "support/program/Entries.h"

#include "llvm/Support/xxhash.h"

namespace weir::elab {

int64_t randomKey(const std::string &purpose) {
  return static_cast<int64_t>(llvm::xxh3_64bits(llvm::StringRef(purpose)));
}

void InitialValues::begin(mlir::ModuleOp module, mlir::Location place) {
  restated = nullptr;
  restatedValues.clear();
  opBuilder.setInsertionPointToEnd(module.getBody());
  init = mlir::func::FuncOp::create(opBuilder, place, "init", opBuilder.getFunctionType({}, {}));
  opBuilder.setInsertionPointToStart(init.addEntryBlock());
  seed = ReadOp::create(opBuilder, place, tensors.type({}, tensors.i32()), runSeedName);
  zero = ConstantOp::create(opBuilder, place, tensors.type({}, tensors.i32()),
                            opBuilder.getI32IntegerAttr(0));
}

void InitialValues::end() {
  for (mlir::func::FuncOp entry : {init, restated}) {
    if (!entry)
      continue;
    opBuilder.setInsertionPointToEnd(&entry.getBody().front());
    mlir::func::ReturnOp::create(opBuilder, entry.getLoc());
  }
}

std::optional<Tensor> InitialValues::tensorFor(const Value &init, const Dims &dims,
                                               const ModelPath &path, Range range) {
  if (init.isPoison())
    return std::nullopt;
  if (init.isNumber()) {
    Value value = tensors.constant(init.number(), tensors.f32(), dims, range);
    return value.isPoison() ? std::nullopt : std::optional(*value.get<Tensor>());
  }
  if (const auto *tensor = init.get<Tensor>()) {
    if (tensor->isFloat() && sameSizes(tensor->dims, dims))
      return *tensor;
    reporter.error(range, "the initial value of `" + path.path + "` is " + describe(*tensor) +
                              ", but the variable is f32" + describe(dims));
    return std::nullopt;
  }
  const auto *recipe = init.get<Initializer>();
  if (!recipe) {
    reporter.error(range,
                   "an initial value is a number, `zeros()`, `normal(std = …)` or the like, not " +
                       init.describe());
    return std::nullopt;
  }
  if (recipe->kind == Initializer::Kind::constant)
    return *tensors.constant(recipe->first, tensors.f32(), dims, range).get<Tensor>();
  bool normal = recipe->kind == Initializer::Kind::normal;
  Tensor numbers{RandomOp::create(opBuilder, locations.at(range), tensors.type(dims, tensors.f32()),
                                  seed, zero, zero,
                                  normal ? Distribution::normal : Distribution::uniform,
                                  randomKey("init/" + path.symbol)),
                 dims};
  // normal: mean + std z; uniform: low + (high - low) u.
  double scale = normal ? recipe->second : recipe->second - recipe->first;
  Value scaled = tensors.binary(ast::BinaryOp::mul, numbers, scale, range);
  Value result = recipe->first == 0
                     ? scaled
                     : tensors.binary(ast::BinaryOp::add, scaled, recipe->first, range);
  return *result.get<Tensor>();
}

/// Makes what was emitted into init since `before` independent of other entries: a variable's value
/// there is its initial value. False where something else of an entry is used.
static bool rebase(mlir::Block &init, mlir::Operation *before, mlir::Value &result,
                   const Variables &variables, const Entry &entry) {
  auto initialOf = [&](mlir::Value value) -> mlir::Value {
    if (value.getParentBlock() == &init)
      return value;
    for (const auto &[state, carried] : entry.carriedValues)
      if (carried == value)
        return state->initial;
    auto read = value.getDefiningOp<ReadOp>();
    const Variable *found = read ? variables.find(read.getVariable().str()) : nullptr;
    return found ? found->initial : mlir::Value();
  };
  auto op = before ? std::next(before->getIterator()) : init.begin();
  for (; op != init.end(); ++op)
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      mlir::Value value = initialOf(operand.get());
      if (!value)
        return false;
      operand.set(value);
    }
  result = initialOf(result);
  return result != nullptr;
}

/// Repeats what makes a state's initial value in the entry that runs once weights are loaded, where
/// it depends on a parameter: on itself, or by another such state. `first` is the first op that was
/// emitted for it, null where there is none, and `value` what they made; nothing is rebased yet.
void InitialValues::restate(const Variable &state, mlir::Operation *first, mlir::Value value,
                            const Variables &variables, const Entry &entry) {
  auto variableOf = [&](mlir::Value value) -> const Variable * {
    for (const auto &[other, carried] : entry.carriedValues)
      if (carried == value)
        return other;
    auto read = value.getDefiningOp<ReadOp>();
    return read && value.getParentBlock() != &init.getBody().front()
               ? variables.find(read.getVariable().str())
               : nullptr;
  };
  mlir::Block &block = init.getBody().front();
  std::vector<mlir::Operation *> ops;
  for (auto op = first ? first->getIterator() : block.end(); op != block.end(); ++op)
    ops.push_back(&*op);
  bool depends = false, known = true; // what is not known is an error of its own
  auto look = [&](mlir::Value used) {
    const Variable *variable = variableOf(used);
    depends |= variable && (variable->role == Role::parameter ||
                            restatedValues.contains(variable->path.symbol));
    known &= variable || used.getParentBlock() == &block;
  };
  look(value);
  for (mlir::Operation *op : ops)
    llvm::for_each(op->getOperands(), look);
  if (!depends || !known)
    return;
  mlir::OpBuilder::InsertionGuard guard(opBuilder);
  if (!restated) {
    opBuilder.setInsertionPointToEnd(init->getParentOfType<mlir::ModuleOp>().getBody());
    restated = mlir::func::FuncOp::create(opBuilder, init.getLoc(), statesEntry,
                                          opBuilder.getFunctionType({}, {}));
    restated.addEntryBlock();
  }
  opBuilder.setInsertionPointToEnd(&restated.getBody().front());
  mlir::IRMapping mapping;
  auto valueOf = [&](mlir::Value used) -> mlir::Value {
    if (mapping.contains(used))
      return mapping.lookup(used);
    mlir::Value made;
    if (const Variable *variable = variableOf(used)) {
      made = restatedValues.lookup(variable->path.symbol);
      if (!made)
        made = ReadOp::create(opBuilder, locations.at(variable->range), variable->type,
                              variable->path.symbol);
    } else { // the seed, or a constant of init
      made = opBuilder.clone(*used.getDefiningOp())->getResult(0);
    }
    mapping.map(used, made);
    return made;
  };
  for (mlir::Operation *op : ops) {
    for (mlir::Value operand : op->getOperands())
      valueOf(operand);
    opBuilder.clone(*op, mapping);
  }
  mlir::Value again = valueOf(value);
  WriteOp::create(opBuilder, state.location, state.path.symbol, again);
  restatedValues[state.path.symbol] = again;
}

Variable *InitialValues::declare(const ast::Identifier &name, Role role, const ModelPath &path,
                                 const MakeTensor &initial, Range range, Variables &variables,
                                 const Entry &entry) {
  mlir::OpBuilder::InsertionGuard guard(opBuilder);
  mlir::Block &block = init.getBody().front();
  mlir::Operation *before = &block.back();
  opBuilder.setInsertionPointToEnd(&block);
  std::optional<Tensor> tensor = initial();
  if (!tensor)
    return nullptr;
  mlir::Value value = tensor->value;
  Variable variable{path,
                    role,
                    tensors.type(tensor->dims, tensor->element()),
                    tensor->dims,
                    name.range,
                    calls.userPlace(name.range),
                    locations.at(name.range),
                    value};
  if (role != Role::parameter)
    restate(variable, before->getNextNode(), value, variables, entry);
  if (!rebase(block, before, value, variables, entry)) {
    reporter
        .error(range,
               "the initial value of `" + name.text + "` depends on what is computed in a step")
        .help("initial values are made before the first step, from numbers, shapes and other "
              "variables");
    return nullptr;
  }
  variable.initial = value;
  WriteOp::create(opBuilder, locations.at(name.range), path.symbol, value);
  return variables.add(std::move(variable));
}

} // namespace weir::elab

//===- Variables.cpp - Parameters, state and randomness ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/random/Random.h"
#include "mlir/IR/IRMapping.h"
#include "runtime/base/Entries.h"
#include "runtime/base/NearestName.h"

#include "llvm/Support/xxhash.h"

namespace weir::elab {

/// The counter of a random draw: 64 bits of what it is for.
static int64_t randomKey(const std::string &purpose) {
  return static_cast<int64_t>(llvm::xxh3_64bits(llvm::StringRef(purpose)));
}

Variable *Elaborator::findVariable(const std::string &symbol) {
  auto found = variablesBySymbol.find(symbol);
  return found == variablesBySymbol.end() ? nullptr : found->second;
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

std::optional<Tensor> Elaborator::initialTensor(const Value &init, const Dims &dims,
                                                const ModelPath &path, Range range) {
  if (init.isPoison())
    return std::nullopt;
  if (init.isNumber()) {
    Value value = constant(init.number(), f32(), dims, range);
    return value.isPoison() ? std::nullopt : std::optional(*value.get<Tensor>());
  }
  if (const auto *tensor = init.get<Tensor>()) {
    if (tensor->isFloat() && sameSizes(tensor->dims, dims))
      return *tensor;
    error(range, "the initial value of `" + path.path + "` is " + describe(*tensor) +
                     ", but the variable is f32" + describe(dims));
    return std::nullopt;
  }
  const auto *recipe = init.get<Initializer>();
  if (!recipe) {
    error(range, "an initial value is a number, `zeros()`, `normal(std = …)` or the like, not " +
                     init.describe());
    return std::nullopt;
  }
  if (recipe->kind == Initializer::Kind::constant)
    return *constant(recipe->first, f32(), dims, range).get<Tensor>();
  bool normal = recipe->kind == Initializer::Kind::normal;
  Tensor numbers{RandomOp::create(opBuilder, location(range), type(dims, f32()), initSeed, initZero,
                                  initZero, normal ? Distribution::normal : Distribution::uniform,
                                  randomKey("init/" + path.symbol)),
                 dims};
  // normal: mean + std z; uniform: low + (high - low) u.
  double scale = normal ? recipe->second : recipe->second - recipe->first;
  Value scaled = binary(ast::BinaryOp::mul, numbers, scale, range);
  Value result =
      recipe->first == 0 ? scaled : binary(ast::BinaryOp::add, scaled, recipe->first, range);
  return *result.get<Tensor>();
}

/// Makes what was emitted into init since `before` independent of other entries: a variable's value
/// there is its initial value. False where something else of an entry is used.
static bool rebase(mlir::Block &init, mlir::Operation *before, mlir::Value &result,
                   const std::map<std::string, Variable *> &variables, const Entry &entry) {
  auto initialOf = [&](mlir::Value value) -> mlir::Value {
    if (value.getParentBlock() == &init)
      return value;
    for (const auto &[state, carried] : entry.carriedValues)
      if (carried == value)
        return state->initial;
    auto read = value.getDefiningOp<ReadOp>();
    auto found = read ? variables.find(read.getVariable().str()) : variables.end();
    return found == variables.end() ? mlir::Value() : found->second->initial;
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
void Elaborator::restate(const Variable &state, mlir::Operation *first, mlir::Value value) {
  auto variableOf = [&](mlir::Value value) -> const Variable * {
    for (const auto &[other, carried] : entry()->carriedValues)
      if (carried == value)
        return other;
    auto read = value.getDefiningOp<ReadOp>();
    return read && value.getParentBlock() != &init.getBody().front()
               ? findVariable(read.getVariable().str())
               : nullptr;
  };
  mlir::Block &block = init.getBody().front();
  std::vector<mlir::Operation *> ops;
  for (auto op = first ? first->getIterator() : block.end(); op != block.end(); ++op)
    ops.push_back(&*op);
  bool depends = false, known = true; // what is not known is an error of its own
  auto look = [&](mlir::Value used) {
    const Variable *variable = variableOf(used);
    depends |=
        variable && (variable->role == Role::parameter || restated.values.count(variable) != 0);
    known &= variable || used.getParentBlock() == &block;
  };
  look(value);
  for (mlir::Operation *op : ops)
    llvm::for_each(op->getOperands(), look);
  if (!depends || !known)
    return;
  mlir::OpBuilder::InsertionGuard guard(opBuilder);
  if (!restated.function) {
    opBuilder.setInsertionPointToEnd(module->getBody());
    restated.function = mlir::func::FuncOp::create(opBuilder, init.getLoc(), statesEntry,
                                                   opBuilder.getFunctionType({}, {}));
    restated.function.addEntryBlock();
  }
  opBuilder.setInsertionPointToEnd(&restated.function.getBody().front());
  mlir::IRMapping mapping;
  auto valueOf = [&](mlir::Value used) -> mlir::Value {
    if (mapping.contains(used))
      return mapping.lookup(used);
    mlir::Value made;
    if (const Variable *variable = variableOf(used)) {
      made = restated.values.lookup(variable);
      if (!made)
        made = ReadOp::create(opBuilder, location(variable->range), variable->type,
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
  restated.values[&state] = again;
}

Variable *Elaborator::declareVariable(const ast::Identifier &name, Role role, const ModelPath &path,
                                      const std::function<std::optional<Tensor>()> &initial,
                                      Range range) {
  mlir::OpBuilder::InsertionGuard guard(opBuilder);
  mlir::Block &block = init.getBody().front();
  mlir::Operation *before = &block.back();
  opBuilder.setInsertionPointToEnd(&block);
  std::optional<Tensor> tensor = initial();
  if (!tensor)
    return nullptr;
  mlir::Value value = tensor->value;
  auto variable = std::make_unique<Variable>(
      Variable{path, role, type(tensor->dims, tensor->element()), tensor->dims, name.range,
               userPlace(name.range), location(name.range), value});
  if (role != Role::parameter)
    restate(*variable, before->getNextNode(), value);
  if (!rebase(block, before, value, variablesBySymbol, *entry())) {
    error(range, "the initial value of `" + name.text + "` depends on what is computed in a step")
        .help("initial values are made before the first step, from numbers, shapes and other "
              "variables");
    return nullptr;
  }
  variable->initial = value;
  WriteOp::create(opBuilder, location(name.range), path.symbol, value);
  Variable *result = variable.get();
  variablesBySymbol[path.symbol] = result;
  variables.push_back(std::move(variable));
  return result;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// What a path means already, or null. Paths are names in the program, beside its entries, and in
/// checkpoints, beside the run's counters and what the format keeps for itself.
static const char *reservedFor(const std::string &path) {
  struct Reserved {
    const char *name, *meaning;
  };
  constexpr const char *entry = "the name of an entry of the program",
                       *counter = "the name of a counter of every run",
                       *scaling = "the name of what a run keeps of its loss scale";
  constexpr Reserved all[] = {
      {"init", entry},
      {statesEntry, entry},
      {"step", entry},
      {"eval", entry},
      {"eval_one", entry},
      {"predict", entry},
      {"seed", counter},
      {"total_steps", counter},
      {"loss_scale", scaling},
      {"good_steps", scaling},
      {"__metadata__", "what checkpoint files call their own description"},
  };
  for (const Reserved &reserved : all)
    if (path == reserved.name)
      return reserved.meaning;
  return nullptr;
}

static bool isOwner(const ast::CallableItem *callable) {
  return callable && (callable->callableKind == ast::CallableKind::block ||
                      callable->callableKind == ast::CallableKind::model);
}

static std::string describeKind(const ast::CallableItem *callable) {
  if (!callable)
    return "the recipe";
  return (callable->callableKind == ast::CallableKind::optimizer ? "the optimizer `" : "the fn `") +
         callable->name.text + "`";
}

/// Whether a variable may have a path: no other instance has one there. Reported if not.
static bool claimPath(Elaborator &elaborator, const ModelPath &path, const ast::Identifier &name) {
  const Frame &frame = elaborator.frame();
  auto [place, isNew] = elaborator.entry()->variablePaths.try_emplace(
      path.symbol, PathClaim{frame.instance, name.range, nullptr, frame.execution});
  if (!isNew && place->second.owner != frame.instance)
    elaborator.reportTaken(path.path, name.range, name.text, place->second.range);
  return isNew || place->second.owner == frame.instance;
}

/// Declares a name once in a call; false, reported, the second time.
static bool declareOnce(Elaborator &elaborator, const ast::Identifier &name) {
  auto [place, isNew] =
      elaborator.frame().declared.try_emplace(name.text, Frame::Declared{nullptr, name.range});
  if (!isNew)
    elaborator.error(name.range, "`" + name.text + "` is declared twice")
        .note(place->second.range, "declared here");
  return isNew;
}

void Elaborator::declareParam(const ast::ParamStmt &stmt) {
  const std::string &name = stmt.name.text;
  Value value;
  if (!isOwner(current->callable)) {
    error(stmt.name.range, "only a block or model may own parameters, and this is " +
                               describeKind(current->callable));
    current->scope->names[name] = Binding{Value(), stmt.name.range, {}, {}, false};
    return;
  }
  const auto *tensorType = llvm::dyn_cast<ast::TensorType>(stmt.type.get());
  std::optional<Dims> dims = tensorType ? evaluateDims(*tensorType) : std::nullopt;
  if (!tensorType || tensorType->element != Element::f32) {
    error(stmt.type->range, "a parameter is a tensor of floats, `[…]`");
    dims.reset();
  }
  ModelPath path = current->instance->path.inner(name);
  if (const char *meaning = reservedFor(path.symbol)) {
    error(stmt.name.range, "`" + path.path + "` is " + meaning + "; the parameter needs another");
    dims.reset();
  }
  if (!dims)
    evaluate(*stmt.init); // for what else is wrong
  if (declareOnce(*this, stmt.name) && dims && claimPath(*this, path, stmt.name))
    value = declareAt(stmt.name, Role::parameter, path, *dims, [&] {
      return initialTensor(evaluate(*stmt.init), *dims, path, stmt.init->range);
    });
  current->scope->names[name] = Binding{std::move(value), stmt.name.range, {}, {}, false};
}

Value Elaborator::declareAt(const ast::Identifier &name, Role role, const ModelPath &path,
                            std::optional<Dims> dims,
                            const std::function<std::optional<Tensor>()> &initial) {
  Variable *variable = findVariable(path.symbol);
  if (!variable && entry()->kind != EntryKind::step)
    error(name.range, "`" + path.path + "` exists only outside of training, so nothing trains it")
        .help("declare it for training too: outside of the `if`, or in both of its branches");
  if (!variable)
    variable = declareVariable(name, role, path, initial, name.range);
  if (!variable && dims) // after an error, the shape is known all the same
    return constant(0, f32(), *dims, name.range);
  if (!variable)
    return {};
  if (dims && !sameSizes(*dims, variable->dims)) {
    Diagnostic &report =
        error(name.range, "`" + path.path + "` is " + describe(*dims) + " here, but " +
                              describe(variable->dims) + " elsewhere");
    if (Range again = repeatedCall(); again.valid())
      report.note(again, "the instance is called again here")
          .help("the calls of an instance share its parameters and states; for other shapes make "
                "another instance");
    return constant(0, f32(), *dims, name.range);
  }
  current->declared[name.text].variable = variable;
  return Tensor{readVariable(*variable, name.range), dims ? *dims : variable->dims};
}

void Elaborator::declareState(const ast::StateStmt &stmt) {
  const std::string &name = stmt.name.text;
  Value value;
  bool optimizer = current->target != nullptr;
  if (!isOwner(current->callable) && !optimizer) {
    error(stmt.name.range, "only a block, model or optimizer may own state, and this is " +
                               describeKind(current->callable));
    current->scope->names[name] = Binding{Value(), stmt.name.range, {}, {}, false};
    return;
  }
  ModelPath path = current->instance->path.inner(name);
  if (optimizer) {
    const ModelPath &parameter = current->target->parameter->path;
    std::string prefix = current->callable->name.text + "." + name + "/";
    path = {prefix + parameter.path, prefix + parameter.symbol};
  }
  std::optional<Dims> dims;
  bool good = declareOnce(*this, stmt.name);
  if (stmt.type) {
    const auto *tensorType = llvm::dyn_cast<ast::TensorType>(stmt.type.get());
    if (!tensorType || tensorType->element != Element::f32)
      error(stmt.type->range, "a state is a tensor of floats, `[…]`");
    else
      dims = evaluateDims(*tensorType);
    good &= dims.has_value();
  }
  if (const char *meaning = reservedFor(path.symbol)) {
    error(stmt.name.range, "`" + path.path + "` is " + meaning + "; the state needs another");
    good = false;
  }
  if (good && claimPath(*this, path, stmt.name))
    value = declareAt(stmt.name, optimizer ? Role::optimizer : Role::state, path, dims,
                      [&]() -> std::optional<Tensor> {
                        Value init = evaluate(*stmt.init);
                        if (dims)
                          return initialTensor(init, *dims, path, stmt.init->range);
                        if (const Tensor *tensor = asTensor(init, f32(), stmt.init->range);
                            tensor && tensor->isFloat())
                          return *tensor;
                        if (!init.isPoison())
                          error(stmt.init->range, "the state `" + name +
                                                      "` has no type, and its initial value is " +
                                                      init.describe())
                              .help("write `state " + name + ": […] = …`");
                        return std::nullopt;
                      });
  current->scope->names[name] = Binding{std::move(value), stmt.name.range, {}, {}, false};
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

mlir::Value Elaborator::readVariable(const Variable &variable, Range range) {
  if (entry()->body && variable.role == Role::state) {
    mlir::Value &value = entry()->carriedValues[&variable];
    if (!value) {
      value = entry()->body->addArgument(variable.type, location(range));
      entry()->carried.push_back(&variable);
    }
    return value;
  }
  return readAtTop(variable.path.symbol, variable.type, range);
}

mlir::Value Elaborator::readAtTop(const std::string &symbol, mlir::RankedTensorType type,
                                  Range range) {
  mlir::Value &value = entry()->reads[symbol];
  if (value)
    return value;
  mlir::OpBuilder::InsertionGuard guard(opBuilder);
  if (entry()->lastRead)
    opBuilder.setInsertionPointAfter(entry()->lastRead);
  else
    opBuilder.setInsertionPointToStart(&entry()->function.getBody().front());
  auto read = ReadOp::create(opBuilder, location(range), type, symbol);
  entry()->lastRead = read;
  return value = read;
}

mlir::Value Elaborator::readRun(const std::string &name, Range range) {
  return readAtTop(runPrefix + name, type({}, i32()), range);
}

Value Elaborator::draw(const Dims &dims, Distribution distribution, Range range) {
  unsigned ordinal = entry()->draws[current->instance->path.symbol]++;
  mlir::Value round = entry()->round;
  if (!round)
    round = constant(0, i32(), {}, range).get<Tensor>()->value;
  int64_t key = randomKey("draw/" + current->instance->path.symbol + "#" + std::to_string(ordinal));
  return Tensor{RandomOp::create(opBuilder, location(range), type(dims, f32()),
                                 readRun("seed", range), readRun("step", range), round,
                                 distribution, key),
                dims};
}

void Elaborator::setNext(const ast::NextStmt &stmt) {
  const std::string &name = stmt.name.text;
  Value value = evaluate(*stmt.value);
  bool parameter = current->target && name == current->target->name;
  auto declared = current->declared.find(name);
  if (!parameter &&
      (declared == current->declared.end() ||
       (declared->second.variable && declared->second.variable->role == Role::parameter))) {
    std::vector<std::string> names;
    if (!diagnostics.full()) {
      for (const auto &[other, what] : current->declared)
        names.push_back(other);
      if (current->target)
        names.push_back(current->target->name);
    }
    unknown(stmt.name.range,
            "`" + name + "` is no state of this " +
                (current->callable ? ast::spelling(current->callable->callableKind) : "recipe"))
        .suggest(nearestName(name, names));
    return;
  }
  const Variable *variable = parameter ? current->target->parameter : declared->second.variable;
  if (!variable || value.isPoison())
    return;
  bool number = value.isNumber();
  const Tensor *given = asTensor(value, f32(), stmt.value->range);
  if (value.isPoison())
    return;
  auto tensor = given ? std::optional<Tensor>(*given) : std::nullopt;
  if (number && !variable->dims.empty())
    tensor = broadcast(*tensor, variable->dims, stmt.value->range);
  if (!tensor || tensor->element() != variable->type.getElementType() ||
      !sameSizes(tensor->dims, variable->dims)) {
    error(stmt.value->range, "`" + name + "` is f32" + describe(variable->dims) +
                                 ", but its next value is " + value.describe())
        .note(variable->range, "declared here");
    return;
  }
  if (parameter) {
    if (current->target->next)
      error(stmt.name.range, "`next " + name + "` is given twice");
    current->target->next = tensor->value;
    return;
  }
  if (!entry()->training)
    return;
  auto [place, isNew] = entry()->nexts.try_emplace(
      variable, Entry::Next{tensor->value, stmt.name.range, location(stmt.name.range)});
  if (isNew)
    return;
  Diagnostic &report = error(stmt.name.range, "`next " + name + "` is given twice in one step");
  if (Range first = place->second.range; !(first == stmt.name.range))
    report.note(first, "given here");
  if (Range again = repeatedCall(); again.valid())
    report.note(again, "the instance is called again here")
        .help("call it once, with the inputs joined by `concat`, or make an instance for each");
}

} // namespace weir::elab

//===- Declarations.cpp - Parameters, state and randomness ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/random/Random.h"
#include "support/NearestName.h"
#include "support/program/Entries.h"

namespace weir::elab {

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

static std::string describeKind(const ast::CallableItem *callable) {
  if (!callable)
    return "the recipe";
  return (callable->callableKind == ast::CallableKind::optimizer ? "the optimizer `" : "the fn `") +
         callable->name.text + "`";
}

/// Declares a name once in a call; false, reported, the second time.
bool Elaborator::declareOnce(const ast::Identifier &name) {
  auto [place, isNew] =
      current->declared.try_emplace(name.text, Frame::Declared{nullptr, name.range});
  if (!isNew)
    error(name.range, "`" + name.text + "` is declared twice")
        .note(place->second.range, "declared here");
  return isNew;
}

void Elaborator::declareParam(const ast::ParamStmt &stmt) {
  const std::string &name = stmt.name.text;
  Value value;
  if (!ownsVariables(current->callable)) {
    error(stmt.name.range, "only a block or model may own parameters, and this is " +
                               describeKind(current->callable));
    current->bind(stmt.name, Value());
    return;
  }
  const auto *tensorType = llvm::dyn_cast<ast::TensorType>(stmt.type.get());
  std::optional<Dims> dims = tensorType ? shapes.evaluateDims(*tensorType) : std::nullopt;
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
  if (declareOnce(stmt.name) && dims && instances.claimPath(path, stmt.name, *entry()))
    value = declareAt(stmt.name, Role::parameter, path, *dims, [&] {
      return initial->tensorFor(evaluate(*stmt.init), *dims, path, stmt.init->range);
    });
  current->bind(stmt.name, std::move(value));
}

Value Elaborator::declareAt(const ast::Identifier &name, Role role, const ModelPath &path,
                            std::optional<Dims> dims, const InitialValues::MakeTensor &initial) {
  Variable *variable = variables.find(path.symbol);
  if (!variable && entry()->kind != EntryKind::step)
    error(name.range, "`" + path.path + "` exists only outside of training, so nothing trains it")
        .help("declare it for training too: outside of the `if`, or in both of its branches");
  if (!variable)
    variable = this->initial->declare(name, role, path, initial, name.range, variables, *entry());
  if (!variable && dims) // after an error, the shape is known all the same
    return tensors.constant(0, tensors.f32(), *dims, name.range);
  if (!variable)
    return {};
  if (dims && !sameSizes(*dims, variable->dims)) {
    Diagnostic &report =
        error(name.range, "`" + path.path + "` is " + describe(*dims) + " here, but " +
                              describe(variable->dims) + " elsewhere");
    if (Range again = current.repeatedCall(); again.valid())
      report.note(again, "the instance is called again here")
          .help("the calls of an instance share its parameters and states; for other shapes make "
                "another instance");
    return tensors.constant(0, tensors.f32(), *dims, name.range);
  }
  current->declared[name.text].variable = variable;
  return Tensor{readVariable(*variable, name.range), dims ? *dims : variable->dims};
}

void Elaborator::declareState(const ast::StateStmt &stmt) {
  const std::string &name = stmt.name.text;
  Value value;
  bool optimizer = current->target != nullptr;
  if (!ownsVariables(current->callable) && !optimizer) {
    error(stmt.name.range, "only a block, model or optimizer may own state, and this is " +
                               describeKind(current->callable));
    current->bind(stmt.name, Value());
    return;
  }
  ModelPath path = current->instance->path.inner(name);
  if (optimizer) {
    const ModelPath &parameter = current->target->parameter->path;
    std::string prefix = current->callable->name.text + "." + name + "/";
    path = {prefix + parameter.path, prefix + parameter.symbol};
  }
  std::optional<Dims> dims;
  bool good = declareOnce(stmt.name);
  if (stmt.type) {
    const auto *tensorType = llvm::dyn_cast<ast::TensorType>(stmt.type.get());
    if (!tensorType || tensorType->element != Element::f32)
      error(stmt.type->range, "a state is a tensor of floats, `[…]`");
    else
      dims = shapes.evaluateDims(*tensorType);
    good &= dims.has_value();
  }
  if (const char *meaning = reservedFor(path.symbol)) {
    error(stmt.name.range, "`" + path.path + "` is " + meaning + "; the state needs another");
    good = false;
  }
  if (good && instances.claimPath(path, stmt.name, *entry()))
    value = declareAt(stmt.name, optimizer ? Role::optimizer : Role::state, path, dims,
                      [&]() -> std::optional<Tensor> {
                        Value init = evaluate(*stmt.init);
                        if (dims)
                          return initial->tensorFor(init, *dims, path, stmt.init->range);
                        if (const Tensor *tensor =
                                tensors.asTensor(init, tensors.f32(), stmt.init->range);
                            tensor && tensor->isFloat())
                          return *tensor;
                        if (!init.isPoison())
                          error(stmt.init->range, "the state `" + name +
                                                      "` has no type, and its initial value is " +
                                                      init.describe())
                              .help("write `state " + name + ": […] = …`");
                        return std::nullopt;
                      });
  current->bind(stmt.name, std::move(value));
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
  return readAtTop(runPrefix + name, tensors.type({}, tensors.i32()), range);
}

Value Elaborator::draw(const Dims &dims, Distribution distribution, Range range) {
  unsigned ordinal = entry()->draws[current->instance->path.symbol]++;
  mlir::Value round = entry()->round;
  if (!round)
    round = tensors.constant(0, tensors.i32(), {}, range).get<Tensor>()->value;
  int64_t key = randomKey("draw/" + current->instance->path.symbol + "#" + std::to_string(ordinal));
  return Tensor{RandomOp::create(opBuilder, location(range), tensors.type(dims, tensors.f32()),
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
    reporter
        .unknown(
            stmt.name.range,
            "`" + name + "` is no state of this " +
                (current->callable ? ast::spelling(current->callable->callableKind) : "recipe"))
        .suggest(nearestName(name, names));
    return;
  }
  const Variable *variable = parameter ? current->target->parameter : declared->second.variable;
  if (!variable || value.isPoison())
    return;
  bool number = value.isNumber();
  const Tensor *given = tensors.asTensor(value, tensors.f32(), stmt.value->range);
  if (value.isPoison())
    return;
  auto tensor = given ? std::optional<Tensor>(*given) : std::nullopt;
  if (number && !variable->dims.empty())
    tensor = tensors.broadcast(*tensor, variable->dims, stmt.value->range);
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
  if (Range again = current.repeatedCall(); again.valid())
    report.note(again, "the instance is called again here")
        .help("call it once, with the inputs joined by `concat`, or make an instance for each");
}

} // namespace weir::elab

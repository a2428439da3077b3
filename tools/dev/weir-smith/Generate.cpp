//===- Generate.cpp - A random training program ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-smith/Generate.h"
#include "ir/weir/Names.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "ir/weir/requests/Recompute.h"
#include "mlir/Transforms/RegionUtils.h"
#include "strategy/Fields.h"
#include "support/mesh/Mesh.h"
#include "support/precision/Precision.h"
#include "tools/dev/weir-smith/Check.h"
#include "tools/dev/weir-smith/Rules.h"
#include "tools/dev/weir-smith/Step.h"

using namespace mlir;

namespace weir::smith {
namespace {

func::FuncOp addEntry(Program &program, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockEnd(program.module->getBody());
  auto function = func::FuncOp::create(builder, UnknownLoc::get(&program.context), name,
                                       builder.getFunctionType({}, {}));
  function.addEntryBlock();
  return function;
}

void grow(Scope &scope, int64_t count) {
  for (int64_t made = 0, tried = 0; made < count && tried < 4 * count; ++tried)
    made += scope.attempt(rules()[scope.random().below(rules().size())].build);
}

/// What nobody uses, as whole tensors.
void giveUnused(Scope &scope, std::vector<Output> &outputs, size_t most) {
  for (Value value : scope.pool)
    if (value.use_empty() && outputs.size() < most && scope.random().chance(0.85))
      outputs.push_back({scope.program.newName("value"), "tensor", value});
}

void endEntry(Scope &scope, ArrayRef<Output> outputs) {
  auto values = llvm::map_to_vector(outputs, [](const Output &output) { return output.value; });
  func::FuncOp function = scope.function;
  OpBuilder &builder = scope.builder;
  func::ReturnOp::create(builder, scope.location(), values);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
  for (auto [i, output] : llvm::enumerate(outputs)) {
    function.setResultAttr(i, outputAttrName, builder.getStringAttr(output.name));
    function.setResultAttr(i, partAttrName, builder.getStringAttr(output.part));
    if (output.part != "sum" && output.part != "count")
      continue;
    function.setResultAttr(i, termAttrName, builder.getI64IntegerAttr(output.term));
    function.setResultAttr(i, weightAttrName, builder.getF64FloatAttr(output.weight));
  }
  IRRewriter rewriter(builder);
  (void)runRegionDCE(rewriter, function.getBody());
}

void addTerms(std::vector<Output> &outputs, ArrayRef<LossTerm> terms) {
  for (auto [i, term] : llvm::enumerate(terms)) {
    outputs.push_back({"loss", "sum", term.sum, int64_t(i), term.weight});
    outputs.push_back({"loss", "count", term.count, int64_t(i), term.weight});
  }
}

/// Most of the parameters.
std::vector<Trained> chooseTrained(Scope &top) {
  if (top.parameters.empty())
    top.pool.push_back(top.parameter(top.type({3})));
  std::vector<Trained> trained;
  for (const std::string &name : top.parameters)
    if (trained.empty() || top.random().chance(0.9))
      trained.push_back({name, nullptr});
  return trained;
}

void takeGradients(Scope &top, Value loss, std::vector<Trained> &trained) {
  SmallVector<Value> sources;
  for (const Trained &one : trained)
    sources.push_back(top.read(one.name));
  auto gradient = GradientOp::create(top.builder, top.location(), loss, sources);
  for (auto [one, value] : llvm::zip(trained, gradient.getGradients()))
    one.gradient = value;
}

void makePlainStep(Scope &top) {
  grow(top, 3 + top.random().below(14));
  std::vector<std::pair<std::string, Value>> nexts;
  for (size_t i = 0; i < top.states.size(); ++i) {
    Scope::State state = top.states[i]; // more may come
    nexts.push_back({state.variable, nextState(top, state)});
  }
  auto terms = makeLoss(top);
  for (size_t i = nexts.size(); i < top.states.size(); ++i)
    nexts.push_back({top.states[i].variable, top.states[i].old});
  tryLoss(top, terms);
  std::vector<Output> outputs;
  giveUnused(top, outputs, 4);
  addTerms(outputs, terms);
  auto trained = chooseTrained(top);
  top.trying = false;
  Value loss = lossOf(top, terms);
  takeGradients(top, loss, trained);
  for (const Trained &one : trained)
    outputs.push_back({gradientPrefix + one.name, "tensor", one.gradient});
  makeUpdate(top, loss, trained, nexts, outputs);
  endEntry(top, outputs);
}

void makeStepInRounds(Scope &top) {
  top.program.module->getOperation()->setAttr(accumulateAttrName, top.builder.getI64IntegerAttr(2));
  int64_t count = 2 + top.random().below(2);
  grow(top, top.random().below(4));
  auto body = std::make_unique<Scope>(top, count);
  grow(*body, 3 + body->random().below(10));
  SmallVector<Value> nexts;
  for (size_t i = 0; i < body->states.size(); ++i) {
    Scope::State state = body->states[i];
    nexts.push_back(nextState(*body, state));
  }
  auto terms = makeLoss(*body);
  for (size_t i = nexts.size(); i < body->states.size(); ++i)
    nexts.push_back(body->states[i].old);
  tryLoss(*body, terms);
  std::vector<Output> unused;
  giveUnused(*body, unused, 3);
  auto trained = chooseTrained(top);
  body->trying = top.trying = false;

  SmallVector<Value> yielded, carried;
  for (const LossTerm &term : terms)
    yielded.push_back(term.sum);
  for (const Output &output : unused)
    if (elementOf(output.value) == Element::f32 || elementOf(output.value) == Element::i32)
      yielded.push_back(output.value);
  size_t sums = yielded.size();
  llvm::append_range(yielded, nexts);
  for (const Scope::State &state : body->states)
    carried.push_back(top.read(state.variable));
  YieldOp::create(body->builder, body->location(), yielded);
  auto op = MicrobatchesOp::create(top.builder, top.location(), ValueRange(yielded).getTypes(),
                                   count, body->sliced, carried);
  op.getBody().push_back(body->block);

  std::vector<Output> outputs;
  size_t at = 0;
  for (LossTerm &term : terms)
    term.sum = op.getResult(at++);
  Value loss = lossOf(top, terms);
  takeGradients(top, loss, trained);
  for (const Trained &one : trained)
    outputs.push_back({gradientPrefix + one.name, "tensor", one.gradient});
  while (at < sums)
    outputs.push_back({top.program.newName("value"), "tensor", op.getResult(at++)});
  addTerms(outputs, terms);
  std::vector<std::pair<std::string, Value>> writes;
  for (const Scope::State &state : body->states)
    writes.push_back({state.variable, op.getResult(at++)});
  for (const Scope::State &state : top.states) // what the body's ops took from outside
    writes.push_back({state.variable, state.old});
  makeUpdate(top, loss, trained, writes, outputs);
  endEntry(top, outputs);
}

/// An entry that trains nothing: @eval with a loss, @predict without.
void makeOther(Program &program, StringRef name) {
  std::vector<std::string> shared;
  for (auto variable : program.module->getOps<VariableOp>())
    if (variable.getRole() == Role::parameter || variable.getRole() == Role::state)
      shared.push_back(variable.getSymName().str());
  Scope scope(program, addEntry(program, name));
  scope.sharedVariables = shared;
  for (const std::string &variable : shared)
    if (scope.random().chance(0.5))
      scope.pool.push_back(scope.read(variable));
  grow(scope, 2 + scope.random().below(5));
  std::vector<Output> outputs;
  giveUnused(scope, outputs, 5);
  if (name == "eval")
    addTerms(outputs, makeLoss(scope));
  if (outputs.empty())
    outputs.push_back({"value", "tensor", scope.constant(scope.type({}), 1)});
  endEntry(scope, outputs);
}

/// First values of some variables, as the frontend draws them.
void makeInit(Program &program) {
  Scope scope(program, addEntry(program, "init"));
  for (auto variable : program.module->getOps<VariableOp>()) {
    auto type = cast<RankedTensorType>(variable.getType());
    if (variable.getRole() == Role::run || !scope.random().chance(0.4))
      continue;
    Value zero = scope.constant(scope.type({}, Element::i32), 0), value;
    if (isa<FloatType>(type.getElementType()) && scope.random().chance(0.7))
      value = scope.scaled(
          scope.make<RandomOp>(type, scope.runScalar("seed"), zero, zero,
                               scope.random().one({Distribution::uniform, Distribution::normal}),
                               static_cast<uint64_t>(++program.ordinal)),
          0.25, scope.random().one({0.0, 0.5}));
    else
      value = scope.constant(type, scope.random().one({0, 1}));
    WriteOp::create(scope.builder, scope.location(), variable.getSymName(), value);
  }
  endEntry(scope, {});
}

void change(ModuleOp module, function_ref<void(Strategy &)> field) {
  Strategy strategy = strategyOf(module);
  field(strategy);
  setStrategy(module, strategy);
}

/// At times what a step writes to parameters is rounded at random, where the run has what to draw
/// by.
void chooseMasters(Program &program) {
  ModuleOp module = *program.module;
  bool draws = module.lookupSymbol(runSeedName) && module.lookupSymbol(runStepName);
  if (draws && program.random.chance(0.3))
    change(module, [](Strategy &strategy) { strategy.paramType = Element::bf16; });
}

/// At times the program's products are of low precision, and some of them of their own.
void choosePrecision(Program &program) {
  if (!program.random.chance(0.3))
    return;
  ModuleOp module = *program.module;
  auto one = [&] {
    return program.random.one(
        {Precision::f32, Precision::bf16, Precision::f16, Precision::f8, Precision::f8_block});
  };
  if (Precision precision = one(); precision != Precision::f32)
    change(module, [&](Strategy &strategy) { strategy.precision = precision; });
  module.walk([&](Operation *op) {
    if (takesPrecision(op) && program.random.chance(0.2))
      overridePrecision(op, one(), op->getLoc());
  });
}

/// At times nothing that is computed forward is kept for the gradients.
void chooseRecomputed(Program &program) {
  if (program.random.chance(0.2))
    setRecomputed(*program.module, {std::string()});
}

/// At times some variables lie with the host.
void chooseHosts(Program &program) {
  if (!program.random.chance(0.3))
    return;
  for (auto variable : program.module->getOps<VariableOp>())
    if (variable.getRole() != Role::run && program.random.chance(0.5))
      variable.setHost(true);
}

/// At times there is no room for all that a run keeps, and some of it may go to the host.
void chooseMemory(Program &program) {
  if (!program.random.chance(0.5))
    return;
  ModuleOp module = *program.module;
  Builder builder(module.getContext());
  module->setAttr(roomAttrName, builder.getF64FloatAttr(program.random.one({0.05, 0.3, 0.6})));
  if (program.random.chance(0.8))
    module->setAttr(offloadAttrName, builder.getUnitAttr());
}

/// At times several ranks run it, which have matrices in parts, or rows of something that a step
/// gets, where there are enough.
void chooseMesh(Program &program) {
  ModuleOp module = *program.module;
  auto step = module.lookupSymbol<func::FuncOp>("step");
  int64_t count = 1, rows = 0;
  step.walk([&](MicrobatchesOp loop) { count = loop.getCount(); });
  for (Value input : step.getArguments())
    if (ArrayRef<int64_t> shape = shapeOf(input); !shape.empty() && shape[0] % count == 0)
      rows = std::max(rows, shape[0] / count);
  if (!program.random.chance(0.6))
    return;
  SmallVector<StringRef> meshes = {"tp=2", "tp=3"};
  if (!step.getNumArguments() || rows >= 2)
    meshes.append({"dp=2", "dp=2,tp=2", "tp=2,dp=2"});
  if (!step.getNumArguments() || rows >= 3)
    meshes.append({"dp=3", "dp=3,tp=2"});
  if (!step.getNumArguments() || rows >= 4)
    meshes.append({"dp=2x2", "dp=2x2,tp=2"});
  SmallVector<StringRef> schedules = {"gpipe", "1f1b", "zero-bubble"};
  if (program.random.chance(0.3)) {
    meshes = {"pp=2", "pp=3", "pp=2,tp=2"};
    if (!step.getNumArguments() || rows >= 2)
      meshes.append({"pp=2,dp=2"});
    if (count > 1 && count % 2 == 0) {
      schedules.append({"interleaved", "interleaved:3"});
      meshes.erase(meshes.begin() + 1);
    }
  }
  // What attends can be cut along positions, if there are as many on each rank.
  bool attends = false, isEven = true;
  step.walk([&](AttentionOp op) {
    int64_t queries = shapeOf(op.getQuery())[2], keys = shapeOf(op.getKey())[2];
    attends = true;
    isEven &= queries % 2 == 0 && keys % 2 == 0 && (!op.getCausal() || queries == keys);
  });
  if (attends && isEven && program.random.chance(0.8))
    meshes = {"cp=2", "cp=2,tp=2"};
  StringRef mesh = meshes[program.random.below(meshes.size())];
  std::string text = ("mesh=" + mesh).str();
  if (mesh.contains(dataAxis))
    text += " zero=" + std::to_string(program.random.one({0, 1, 3}));
  if (mesh.contains(contextAxis))
    text +=
        (" context-parallel=" + program.random.one<StringRef>({"ring", "ring", "gather"})).str();
  if (mesh.contains(stageAxis))
    text += (" schedule=" + schedules[program.random.below(schedules.size())]).str();
  module->setAttr(ranksAttrName, StrategyAttr::get(module.getContext(), strategy::parsed(text)));
}

} // namespace

OwningOpRef<ModuleOp> generate(MLIRContext &context, uint64_t seed) {
  Program program(context, seed);
  try {
    Scope top(program, addEntry(program, "step"));
    program.random.chance(0.3) ? makeStepInRounds(top) : makePlainStep(top);
    if (program.random.chance(0.2))
      makeOther(program, "eval");
    if (program.random.chance(0.2))
      makeOther(program, "predict");
    makeInit(program);
    choosePrecision(program);
    chooseMasters(program);
    chooseRecomputed(program);
    chooseHosts(program);
    chooseMemory(program);
    chooseMesh(program);
  } catch (const Refused &) {
    return nullptr;
  }
  return std::move(program.module);
}

} // namespace weir::smith

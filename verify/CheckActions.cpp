//===- CheckActions.cpp - Checks each action of a real run ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/CheckActions.h"
#include "artifact/Actions.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/kernel/Kernel.h"
#include "support/Error.h"
#include "support/Text.h"
#include "verify/Compare.h"
#include "verify/Rounding.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace weir {
namespace {

/// Results whose norm is below this times the root of their count may be zero: f32 has nothing
/// there.
constexpr double leastNorm = 1e-30;
/// Of the sum of the magnitudes that a library call adds up: sixteen roundings.
constexpr double libraryAllowance = 16 * 0x1p-24;

std::string lineText(mlir::Location loc) {
  mlir::FileLineColLoc line = modelLine(loc);
  return line ? concat(line.getFilename().str(), ":", line.getLine()) : "";
}

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::vector<int64_t> indexOf(size_t element, llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

/// How a tensor compares with its truth.
struct Judgement {
  double difference = 0; ///< norm of what is beyond the allowances
  double norm = 0;       ///< of the truth
  size_t worst = 0;
  bool agrees = true;
  double relative() const { return difference / norm; }
};

double distanceOf(double truth, double actual, bool exact) {
  if (actual == truth || (std::isnan(actual) && std::isnan(truth)))
    return 0;
  if (exact)
    return std::abs(actual - truth);
  // What f32 does not hold is infinite in it.
  if (std::isinf(static_cast<float>(truth)) && actual == static_cast<float>(truth))
    return 0;
  return std::isfinite(actual) && std::isfinite(truth) ? std::abs(actual - truth)
                                                       : std::numeric_limits<double>::infinity();
}

/// `allowance`: per element, taken off its difference; empty for none. What f32 does not hold is no
/// measure of the others.
Judgement judge(llvm::ArrayRef<double> truth, llvm::ArrayRef<double> actual, bool exact,
                llvm::ArrayRef<double> allowance) {
  Judgement result;
  double squares = 0, differences = 0, worst = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    double distance = distanceOf(truth[i], actual[i], exact);
    if (!allowance.empty() && distance > 0)
      distance = distance <= allowance[i] ? 0 : distance - allowance[i];
    if (distance > worst) {
      worst = distance;
      result.worst = i;
    }
    differences += distance * distance;
    squares += std::abs(truth[i]) <= std::numeric_limits<float>::max() ? truth[i] * truth[i] : 0;
  }
  result.difference = std::sqrt(differences);
  result.norm = std::max(std::sqrt(squares), leastNorm * std::sqrt(truth.size()));
  result.agrees = exact ? worst == 0 : result.difference <= actionTolerance * result.norm;
  return result;
}

/// What the real run has written.
std::vector<double> readBack(std::span<const std::byte> arena, int64_t address, mlir::Type element,
                             size_t count) {
  std::vector<double> values(count);
  loadElements(arena.data() + address, element, values);
  return values;
}

/// The op whose result a kernel stores, behind changes of layout; null for one of its inputs.
mlir::Operation *makerOf(mlir::Value yielded) { return beforeViews(yielded).getDefiningOp(); }

/// The op that a library call computes; the plan's own for what is none.
std::string weirOpOf(mlir::Operation *action) {
  if (auto call = llvm::dyn_cast<plan::CallOp>(action))
    return std::string(spec::opOf(call.getCall()));
  return action->getName().getStringRef().str();
}

/// Loads what the checker executes; before the plan's ops are asked for their interfaces.
mlir::ModuleOp withReference(mlir::ModuleOp plan) {
  mlir::DialectRegistry registry;
  registerReferenceInterpreter(registry);
  registerPlanInterpreter(registry);
  plan.getContext()->appendDialectRegistry(registry);
  return plan;
}

} // namespace

std::string ActionMismatch::text() const {
  return concat(when, ", entry '", entry, "', action ", action,
                round ? concat(" in round ", round) : std::string(), " (", work, "): ", op,
                place.empty() ? std::string() : " of " + place,
                " is not what the plan means: ", detail);
}

CheckActions::CheckActions(Program &program, mlir::ModuleOp plan)
    : program(program), plan(withReference(plan)), memory(plan),
      machine(plan, memory, interpreter) {
  for (auto entry : plan.getOps<plan::EntryOp>()) {
    entries.push_back({entry.getSymName().str(), {}, nullptr});
    llvm::append_range(entries.back().actions, entry.actions());
    for (mlir::Operation *action : entries.back().actions)
      if (action->getParentOp() == entry)
        entries.back().last = action;
  }
  assert(entries.size() == program.plan().entries()->size() && "the plan is the program's");
  assert(memory.bytes.size() == artifact::memoryOf(program.plan()) && "the plan is the program's");
  arena.resize(memory.bytes.size());
  for (const TensorView &variable : program.variables())
    if (variable.role == artifact::Role::run && variable.name == "step")
      step = &variable;
  program.observe(this);
}

CheckActions::~CheckActions() { program.observe(nullptr); }

/// The counter goes up in the entry `step`, at its end or before.
std::string CheckActions::whenOf(const Entry &entry) const {
  int32_t counted = static_cast<int32_t>(summary.steps);
  if (step)
    step->read(0, std::as_writable_bytes(std::span(&counted, 1)));
  if (entry.name == "step")
    return concat("step ", counted + 1);
  return counted == 0 || entry.name == "init" ? "before step 1" : concat("after step ", counted);
}

void CheckActions::before(const ActionPlace &now) {
  place = now;
  const Entry &entry = entries[place.entry];
  mlir::Operation *op = entry.actions[place.action];
  if (place.action == 0 && place.round == 0)
    when = whenOf(entry);
  if (onAction)
    onAction(when, place.action, entry.actions.size());
  memory.setRounds(op, place.round);
  if (auto around = op->getParentOfType<plan::LoopOp>();
      around && entry.actions[place.action - 1] == around)
    checkRound(around);
  auto launch = llvm::dyn_cast<plan::LaunchOp>(op);
  // All launches of a kernel are one, checked after the last.
  if (llvm::isa<plan::LoopOp>(op) || (launch && launch.getPart() != 0))
    return;
  keep();
}

/// The arena as it is before the action.
void CheckActions::keep() { program.readArena(0, memory.bytes); }

void CheckActions::after(const ActionPlace &now) {
  place = now;
  const Entry &entry = entries[place.entry];
  mlir::Operation *op = entry.actions[place.action];
  auto launch = llvm::dyn_cast<plan::LaunchOp>(op);
  bool waits = launch && !completes(launch, machine.kernelOf(launch));
  if (!llvm::isa<plan::LoopOp>(op) && !waits) {
    memory.setRounds(op, place.round);
    program.readArena(0, arena);
    Tensors inputs;
    std::vector<Expected> expected = expect(op, inputs);
    compare(op, inputs, expected);
    compareRaw(op);
    compareRest(op, expected);
  }
  summary.actions += !llvm::isa<plan::LoopOp>(op);
  if (op == entry.last) {
    ++summary.entries;
    summary.steps += entry.name == "step";
  }
}

std::vector<CheckActions::Expected> CheckActions::expect(mlir::Operation *op, Tensors &inputs) {
  memory.clear();
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(op->getContext(), [&](mlir::Diagnostic &diagnostic) {
    reason += diagnostic.str() + "; ";
    return mlir::success();
  });
  if (auto launch = llvm::dyn_cast<plan::LaunchOp>(op)) {
    std::vector<Expected> expected = expectLaunch(launch, inputs);
    if (reason.empty())
      return expected;
  } else if (mlir::succeeded(llvm::cast<Executable>(op).execute(machine))) {
    return storedBy(op);
  }
  throw Failure(Exit::internal, concat(when, ", action ", place.action, " (", describe(op),
                                       "): the reference cannot execute it: ", reason));
}

std::vector<CheckActions::Expected> CheckActions::expectLaunch(plan::LaunchOp launch,
                                                               Tensors &inputs) {
  plan::KernelOp kernel = machine.kernelOf(launch);
  KernelOp meaning = kernel.meaning();
  auto operands = launch.getOperands();
  size_t count = meaning.getInputs().size(), results = meaning.getNumResults();
  for (size_t i = 0; i < count; ++i)
    inputs.push_back(memory.load(operands[i], meaning.getInputs()[i].getType()));
  for (size_t i = count + results; i < operands.size(); ++i)
    memory.forget(operands[i], kernel.getTaken(i).getBytes());
  mlir::FailureOr<Tensors> truth = evaluateExactly(meaning, inputs, interpreter);
  if (mlir::failed(truth))
    return {};
  mlir::Block &body = meaning.getBody().front();
  llvm::SmallVector<mlir::Location> lines =
      locationsOfAll(launch.getLoc(), body.getOperations().size() - 1);
  std::vector<Expected> expected;
  for (size_t i = 0; i < results; ++i) {
    mlir::Operation *maker = makerOf(body.getTerminator()->getOperand(i));
    mlir::Location loc = launch.getLoc();
    if (maker && modelLine(lines[std::distance(body.begin(), maker->getIterator())]))
      loc = lines[std::distance(body.begin(), maker->getIterator())];
    expected.push_back({memory.addressOf(operands[count + i]),
                        tensorType(meaning.getResult(i)).getElementType(),
                        (*truth)[i].shape,
                        std::move((*truth)[i].values),
                        {},
                        maker ? maker->getName().getStringRef().str() : "the copy of an operand",
                        loc});
  }
  return expected;
}

std::vector<CheckActions::Expected> CheckActions::storedBy(mlir::Operation *op) {
  std::vector<Expected> expected;
  for (ArenaMemory::Stored &tensor : memory.stored) {
    Shape shape{static_cast<int64_t>(tensor.values.size())};
    if (auto call = llvm::dyn_cast<plan::CallOp>(op))
      if (auto *product = std::get_if<spec::Product>(&call.getCall());
          product && product->batch * product->m * product->n == shape[0])
        shape = {product->batch, product->m, product->n};
    if (isLow(tensor.element))
      for (double &value : tensor.values)
        value = rounded(*elementOf(tensor.element), value);
    expected.push_back({memory.addressOf(tensor.buffer), tensor.element, shape,
                        std::move(tensor.values), std::move(tensor.known), weirOpOf(op),
                        op->getLoc()});
  }
  return expected;
}

Tensors CheckActions::allowance(mlir::Operation *op, const Tensors &inputs,
                                const std::vector<Expected> &expected) {
  Tensors truth, actual;
  for (const Expected &tensor : expected) {
    truth.emplace_back(tensor.shape);
    truth.back().values = tensor.truth;
    actual.emplace_back(tensor.shape);
    actual.back().values = readBack(arena, tensor.address, tensor.element, tensor.truth.size());
  }
  if (auto launch = llvm::dyn_cast<plan::LaunchOp>(op)) {
    KernelOp meaning = machine.kernelOf(launch).meaning();
    auto agrees = [&](const Tensors &allowed) {
      return llvm::all_of(llvm::enumerate(expected), [&](auto tensor) {
        size_t i = tensor.index();
        return judge(truth[i].values, actual[i].values,
                     !llvm::isa<mlir::FloatType>(tensor.value().element), allowed[i].values)
            .agrees;
      });
    };
    mlir::FailureOr<Tensors> allowed =
        roundingAllowance(meaning, inputs, truth, actual, interpreter, agrees);
    assert(mlir::succeeded(allowed) && "it could be evaluated once");
    return *allowed;
  }
  auto executed = [&] {
    memory.clear();
    bool could = mlir::succeeded(llvm::cast<Executable>(op).execute(machine));
    assert(could && "it could be executed once");
    (void)could;
    return memory.stored;
  };
  double share = libraryAllowance;
  if (auto *product = std::get_if<spec::Product>(&llvm::cast<plan::CallOp>(op).getCall())) {
    // Both factors of a product may have lost their last bits.
    if (product->rounding == spec::FactorRounding::tf32)
      share += 2 * 0x1p-10;
    // Before they add products of eight bits to an f32, Hopper's tensor cores keep some 14 bits of
    // a part of the sum ("DeepSeek-V3 Technical Report", 2024, 3.5.2).
    if (sizeOf(product->factors) == 1)
      share += 0x1p-10;
  }
  auto exact = executed();
  memory.magnitudes = true;
  auto magnitudes = executed();
  memory.magnitudes = false;
  for (auto [tensor, found, sums, whole] : llvm::zip(truth, actual, magnitudes, exact))
    for (size_t i = 0; i < sums.values.size(); ++i) {
      // A part of the sum may be more than f32 holds, and then be subtracted from another.
      bool overflows = !(sums.values[i] <= std::numeric_limits<float>::max());
      tensor.values[i] = overflows && !std::isfinite(found.values[i])
                             ? std::numeric_limits<double>::infinity()
                             : share * sums.values[i];
      if (!isLow(sums.element) || !std::isfinite(tensor.values[i]))
        continue;
      // Sums that differ by so little may be rounded to neighbours.
      Element element = *elementOf(sums.element);
      double allowed = tensor.values[i], truth = rounded(element, whole.values[i]);
      tensor.values[i] = std::max(rounded(element, whole.values[i] + allowed) - truth,
                                  truth - rounded(element, whole.values[i] - allowed));
    }
  return truth;
}

void CheckActions::compare(mlir::Operation *op, const Tensors &inputs,
                           const std::vector<Expected> &expected) {
  Tensors allowed;
  for (auto [i, tensor] : llvm::enumerate(expected)) {
    bool exact = !llvm::isa<mlir::FloatType>(tensor.element);
    std::vector<double> actual =
        readBack(arena, tensor.address, tensor.element, tensor.truth.size());
    for (size_t j = 0; j < tensor.known.size(); ++j)
      if (!tensor.known[j])
        actual[j] = tensor.truth[j];
    Judgement judgement = judge(tensor.truth, actual, exact, {});
    if (judgement.agrees) {
      if (!exact && judgement.relative() > summary.largest) {
        summary.largest = judgement.relative();
        summary.largestAt = concat(when, ", action ", place.action, " (", describe(op), "), ",
                                   tensor.op, " of ", lineText(tensor.loc));
      }
      continue;
    }
    if (allowed.empty())
      allowed = allowance(op, inputs, expected);
    Judgement forgiving = judge(tensor.truth, actual, exact, allowed[i].values);
    if (forgiving.agrees) {
      ++summary.rounded;
      continue;
    }
    size_t worst = forgiving.worst;
    std::string detail =
        concat("element ", shapeText(indexOf(worst, tensor.shape)), " of ",
               shapeText({tensor.shape.begin(), tensor.shape.end()}), ": expected ",
               numberText(tensor.truth[worst]), ", found ", numberText(actual[worst]));
    if (!exact)
      detail += concat("; ||difference|| is ", numberText(judgement.difference), " where ",
                       numberText(actionTolerance * judgement.norm), " is allowed");
    report(op, tensor.op, tensor.loc, detail);
  }
}

void CheckActions::compareRaw(mlir::Operation *op) {
  for (const ArenaMemory::Raw &range : memory.raw) {
    const std::byte *actual = arena.data() + range.address;
    auto differs = std::mismatch(range.bytes.begin(), range.bytes.end(), actual);
    if (differs.first != range.bytes.end())
      report(op, op->getName().getStringRef().str(), op->getLoc(),
             concat("byte ", differs.first - range.bytes.begin(), " of ", range.bytes.size(),
                    ": expected ", int(*differs.first), ", found ", int(*differs.second)));
  }
}

void CheckActions::compareRest(mlir::Operation *op, const std::vector<Expected> &expected) {
  std::vector<ArenaMemory::Range> own = memory.forgotten;
  for (const Expected &tensor : expected)
    own.push_back(
        {tensor.address, static_cast<int64_t>(tensor.truth.size()) * storedBytes(tensor.element)});
  for (const ArenaMemory::Raw &range : memory.raw)
    own.push_back({range.address, static_cast<int64_t>(range.bytes.size())});
  own.push_back({static_cast<int64_t>(memory.bytes.size()), 0});
  llvm::sort(own, [](auto &a, auto &b) { return a.address < b.address; });
  int64_t from = 0;
  const std::byte *actual = arena.data(), *kept = memory.bytes.data();
  for (const ArenaMemory::Range &range : own) {
    if (range.address > from &&
        std::memcmp(actual + from, kept + from, range.address - from) != 0) {
      int64_t at = std::mismatch(kept + from, kept + range.address, actual + from).first - kept;
      report(op, op->getName().getStringRef().str(), op->getLoc(),
             concat("it changed ", ownerOf(at, op), ", which it does not write"));
      return;
    }
    from = std::max(from, range.address + range.size);
  }
}

/// What is kept at that byte of the arena while the action runs.
std::string CheckActions::ownerOf(int64_t address, mlir::Operation *op) const {
  mlir::ModuleOp module = plan;
  for (auto variable : module.getOps<plan::VariableOp>()) {
    int64_t at = address - static_cast<int64_t>(*variable.getOffset());
    if (at >= 0 && at < storageBytes(variable.getType()))
      return concat("byte ", at, " of `", variable.getSymName().str(), "`");
  }
  std::string owner = concat("byte ", address, " of the arena, where nothing is kept");
  op->getParentOfType<plan::EntryOp>().walk([&](plan::AllocOp buffer) {
    int64_t at = address - static_cast<int64_t>(*buffer.getOffset());
    if (at >= 0 && at < static_cast<int64_t>(buffer.getSize()) &&
        *buffer.getFirst() <= place.action && place.action <= *buffer.getLast())
      owner = concat("byte ", at, " of the buffer \"", buffer.getLabel().str(), "\" of ",
                     lineText(buffer.getLoc()));
  });
  return owner;
}

void CheckActions::checkRound(plan::LoopOp loop) {
  auto expected = static_cast<int32_t>(memory.rounds.lookup(loop.index()));
  int32_t found;
  program.readArena(memory.addressOf(loop.getRound()),
                    std::as_writable_bytes(std::span(&found, 1)));
  if (found != expected)
    report(loop, "plan.loop", loop.getLoc(),
           concat("the round: expected ", expected, ", found ", found));
}

std::string CheckActions::describe(mlir::Operation *op) {
  return llvm::cast<plan::Action>(op).describe(symbols);
}

void CheckActions::report(mlir::Operation *op, const std::string &what, mlir::Location loc,
                          const std::string &detail) {
  const Entry &entry = entries[place.entry];
  found.push_back(
      {entry.name, when, place.action, place.round, describe(op), what, lineText(loc), detail});
  if (onMismatch)
    onMismatch(found.back());
}

} // namespace weir

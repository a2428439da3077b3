//===- BF16Parameters.cpp - Parameters without an f32 master copy ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after mixed precision, so that its single cast of a parameter is the inverse of the widening
// cast here. Also runs after the decision to skip, which checks values before they are rounded. A
// skipped step writes the value that it read, and rounding does not change it.
//
//   %w = weir.read @w : f32            %n = weir.read @w : bf16
//   .. %w1 = ..                        %w = weir.cast %n : bf16 -> f32
//   weir.write @w, %w1                 .. %w1 = ..
//                                      %u = weir.random uniform seed, step {key of w}
//                                      %r = weir.round_at_random %w1 by %u
//                                      weir.write @w, weir.cast %r : f32 -> bf16
//
// Rounding to nearest would lose every update below half a unit in the last place, which is 2^-9 of
// a parameter.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/reports/PrecisionReport.h"
#include "ir/weir/structure/Structure.h"
#include "passes/Passes.h"
#include "passes/recipe/Scalars.h"
#include "support/precision/ParameterDtype.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"
#include <set>

namespace weir {
#define GEN_PASS_DEF_BF16PARAMETERS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// The random stream of a variable's roundings.
struct Stream {
  int64_t key, word;
};

bool isKept(Role role) { return role == Role::parameter || role == Role::optimizer; }

/// Scalars cost nothing in f32, and some, such as a product of Adam's betas, need its digits. Sizes
/// of tensors belong to no parameter.
bool isMaster(VariableOp variable) {
  auto type = cast<RankedTensorType>(variable.getType());
  return isKept(variable.getRole()) && variable.getSymName() != amaxName &&
         type.getElementType().isF32() && type.getRank() > 0;
}

/// The parameter of a variable: "w" for `w` and for `adamw.m/w`.
StringRef parameterOf(VariableOp variable) {
  StringRef name = variable.getSymName();
  return variable.getRole() == Role::optimizer ? name.split('/').second : name;
}

struct BF16Parameters : weir::impl::BF16ParametersBase<BF16Parameters> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    low = typeOf(&getContext(), *strategyOf(module).paramType);
    streams.clear();
    masters.clear();
    folded.clear();
    if (isLow(low))
      narrowVariables(module);
    if (streams.empty())
      return markAllAnalysesPreserved();
    for (auto entry : module.getOps<func::FuncOp>())
      if (failed(narrowEntry(entry)))
        return signalPassFailure();
    explain(module);
  }

private:
  /// A parameter and its optimizer state use the four words of one random draw, because one kernel
  /// writes them: drawing is most of the cost.
  void narrowVariables(ModuleOp module) {
    constexpr unsigned words = 4;
    llvm::StringMap<unsigned> drawn;
    for (auto variable : module.getOps<VariableOp>()) {
      if (!isMaster(variable))
        continue;
      StringRef parameter = parameterOf(variable);
      unsigned number = drawn[parameter]++;
      std::string purpose = ("master/" + parameter + "#" + Twine(number / words)).str();
      masters.insert(lineOf(variable.getLoc()));
      streams[variable.getSymName()] = {int64_t(llvm::xxh3_64bits(purpose)), number % words};
      variable.setType(cast<RankedTensorType>(variable.getType()).clone(low));
    }
  }

  LogicalResult narrowEntry(func::FuncOp entry) {
    SmallVector<ReadOp> reads;
    SmallVector<WriteOp> writes;
    entry.walk([&](Operation *op) {
      if (auto read = dyn_cast<ReadOp>(op); read && streams.contains(read.getVariable()))
        reads.push_back(read);
      if (auto write = dyn_cast<WriteOp>(op); write && streams.contains(write.getVariable()))
        writes.push_back(write);
    });
    for (ReadOp read : reads)
      widen(read);
    bool isStep = entry.getSymName() == "step";
    if (isStep && !writes.empty() && failed(readCounters(entry)))
      return failure();
    for (WriteOp write : writes)
      narrow(write, isStep);
    return success();
  }

  void widen(ReadOp read) {
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(read);
    RankedTensorType wide = tensorType(read.getResult());
    for (Operation *user : read->getUsers())
      if (auto cast = dyn_cast<CastOp>(user); cast && tensorType(cast).getElementType() == low)
        folded.insert(lineOf(cast.getLoc()));
    read.getResult().setType(wide.clone(low));
    auto cast = CastOp::create(builder, read.getLoc(), wide, read.getResult());
    read.getResult().replaceAllUsesExcept(cast, cast);
  }

  /// The run's seed and the step.
  LogicalResult readCounters(func::FuncOp entry) {
    auto builder = OpBuilder::atBlockBegin(&entry.getBody().front());
    auto whole = RankedTensorType::get({}, builder.getI32Type());
    for (auto [name, value] : {std::pair(runSeedName, &seed), std::pair(runStepName, &step)}) {
      if (!getOperation().lookupSymbol<VariableOp>(name))
        return entry.emitError() << "masters are rounded by the run's seed and step, but there is "
                                    "no variable @\""
                                 << name << "\"";
      *value = ReadOp::create(builder, entry.getLoc(), whole, name);
    }
    zero = ConstantOp::create(builder, entry.getLoc(), whole, builder.getI32IntegerAttr(0));
    return success();
  }

  void narrow(WriteOp write, bool atRandom) {
    OpBuilder builder(write);
    Location at = write.getLoc();
    Value value = write.getValue();
    RankedTensorType wide = tensorType(value);
    if (atRandom) {
      auto [key, word] = streams.lookup(write.getVariable());
      IntegerAttr which = word ? builder.getI64IntegerAttr(word) : IntegerAttr();
      Value draw =
          RandomOp::create(builder, at, wide, seed, step, zero, Distribution::uniform, ValueRange(),
                           IntegerAttr(), IntegerAttr(), uint64_t(key), which);
      value = RoundAtRandomOp::create(builder, at, wide, value, draw);
    }
    write.getValueMutable().assign(CastOp::create(builder, at, wide.clone(low), value));
  }

  using Line = std::pair<StringRef, unsigned>;

  static Line lineOf(Location loc) {
    FileLineColLoc place = modelLine(loc);
    return place ? Line(place.getFilename().getValue(), place.getLine()) : Line();
  }

  /// The report of mixed precision about these variables is out of date: they are narrow now, and a
  /// cast to their type is the inverse of the widening one.
  void explain(ModuleOp module) {
    SmallVector<PrecisionRecord> choices = precisionReportOf(module);
    if (choices.empty())
      return;
    llvm::erase_if(choices, [&](const PrecisionRecord &one) {
      return one.stores == low && StringRef(one.why).ends_with(castOnceAStep) &&
             folded.contains(lineOf(one.at));
    });
    for (PrecisionRecord &one : choices)
      if (auto role = symbolizeRole(one.op);
          role && isKept(*role) && masters.contains(lineOf(one.at))) {
        one.stores = low;
        one.why = "a master in bf16, rounded at random";
      }
    setPrecisionReport(module, choices);
  }

  Type low;
  llvm::StringMap<Stream> streams; ///< of the narrow variables
  std::set<Line> masters;          ///< the lines that declare them
  std::set<Line> folded;           ///< the lines of casts of variables to their own type
  Value seed, step, zero;
};

} // namespace

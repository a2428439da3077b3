//===- SmithTest.cpp - The generator of programs and its checks -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/Verifier.h"
#include "tools/dev/weir-smith/Check.h"
#include "tools/dev/weir-smith/Generate.h"
#include "tools/dev/weir-smith/Rules.h"
#include "tools/dev/weir-smith/Shrink.h"
#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace weir::smith {
namespace {

class Smith : public testing::Test {
protected:
  Smith() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    setUp(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  /// The first program from `seed` on that can be compared and has an op of that name.
  OwningOpRef<ModuleOp> programWith(StringRef op, uint64_t seed) {
    for (;; ++seed) {
      auto module = generate(context, seed);
      bool found = false;
      if (module)
        module->walk([&](Operation *inner) { found |= inner->getName().stripDialect() == op; });
      CheckOptions options;
      options.until = "gradient";
      if (found && check(*module, options).kind == Outcome::Kind::agrees)
        return module;
    }
  }

  MLIRContext context;
};

TEST_F(Smith, everyOpHasARule) {
  llvm::StringSet<> made;
  for (const Rule &rule : rules())
    EXPECT_TRUE(made.insert(rule.op).second) << rule.op.str() << " has two rules";
  for (StringRef op : programOps())
    made.insert(op);
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (isa<WeirDialect>(name.getDialect())) {
      EXPECT_TRUE(made.erase(name.stripDialect()))
          << "no rule of tools/dev/weir-smith makes " << name.getStringRef().str();
    }
  for (const auto &name : made)
    ADD_FAILURE() << name.getKey().str() << " has a rule, but the dialect has no such op";
}

TEST_F(Smith, aSeedIsAProgram) {
  auto first = generate(context, 4), second = generate(context, 4), other = generate(context, 5);
  ASSERT_TRUE(first && second && other);
  EXPECT_EQ(print(*first), print(*second));
  EXPECT_NE(print(*first), print(*other));
  EXPECT_TRUE(succeeded(verify(*first)));
}

/// The first op of a kind gets another one's place.
template <class Op, class Make> void replaceFirst(ModuleOp module, Make make) {
  Op first;
  module.walk([&](Op op) { first = first ? first : op; });
  if (!first)
    return;
  OpBuilder builder(first);
  Value made = make(builder, first);
  first->getResult(0).replaceAllUsesWith(made);
  first.erase();
}

/// A fault after a pass is found there, and what is left of the program is small.
TEST_F(Smith, findsAndShrinksAFault) {
  auto module = programWith("sub", 100);
  CheckOptions options;
  options.code.compile = false;
  options.plantAfter = "simplify";
  options.plant = [](ModuleOp program) { // operands the wrong way round
    replaceFirst<SubOp>(program, [](OpBuilder &builder, SubOp op) {
      return SubOp::create(builder, op.getLoc(), op.getRhs(), op.getLhs());
    });
  };
  Outcome outcome = check(*module, options);
  ASSERT_EQ(outcome.kind, Outcome::Kind::fails);
  EXPECT_EQ(outcome.stage, "pass simplify");
  auto small = shrink(
      *module,
      [&](ModuleOp candidate) {
        Outcome again = check(candidate, options);
        return again.kind == Outcome::Kind::fails && again.stage == outcome.stage;
      },
      400);
  auto count = [](ModuleOp program) {
    int ops = 0;
    program.walk([&](Operation *op) { ops += !isa<ModuleOp, VariableOp>(op); });
    return ops;
  };
  EXPECT_LE(count(*small), 12) << print(*small);
  EXPECT_LT(count(*small), count(*module) / 2);
}

using Change = llvm::function_ref<Value(OpBuilder &, Value)>;

/// Changes the gradients that the step returns and that are no constants (one that is zero all the
/// same shows no change); false for none.
bool changeGradients(ModuleOp program, Change change) {
  auto step = program.lookupSymbol<func::FuncOp>("step");
  Operation *end = step.getBody().front().getTerminator();
  bool changed = false;
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    auto name = step.getResultAttrOfType<StringAttr>(i, "weir.output");
    Value value = end->getOperand(i);
    if (!name.getValue().starts_with("gradient/") || value.getDefiningOp<ConstantOp>())
      continue;
    OpBuilder builder(end);
    end->setOperand(i, change(builder, value));
    changed = true;
  }
  return changed;
}

Value times(OpBuilder &builder, Value value, float factor) {
  Value constant =
      ConstantOp::create(builder, value.getLoc(), value.getType(), builder.getF32FloatAttr(factor));
  return MulOp::create(builder, value.getLoc(), value, constant);
}

/// A wrong gradient is found by differences of the loss, and is never taken for one that f32 cannot
/// hold.
TEST_F(Smith, findsAWrongGradient) {
  auto twice = [](OpBuilder &builder, Value value) { return times(builder, value, 2); };
  auto huge = [](OpBuilder &builder, Value value) { return times(builder, value, 1e9f); };
  auto nothing = [](OpBuilder &builder, Value value) -> Value {
    Value zero = times(builder, value, 0);
    return DivOp::create(builder, value.getLoc(), zero, zero);
  };
  auto infinite = [](OpBuilder &builder, Value value) -> Value {
    Value zero = times(builder, value, 0);
    return DivOp::create(builder, value.getLoc(), value, zero);
  };
  for (Change change : {Change(twice), Change(huge), Change(nothing), Change(infinite)}) {
    int found = 0;
    // Programs whose gradient is not zero in mathematics, as that of a row of one class is:
    // rounding is all there is of it, and no change of that is wrong.
    for (uint64_t seed = 301; found < 2; seed += 10) {
      auto module = programWith("gradient", seed);
      CheckOptions options;
      options.code.compile = false;
      options.until = "gradient";
      options.plantAfter = "autodiff";
      bool planted = false;
      options.plant = [&](ModuleOp program) { planted = changeGradients(program, change); };
      Outcome outcome = check(*module, options);
      if (!planted)
        continue;
      ++found;
      EXPECT_EQ(outcome.kind, Outcome::Kind::fails) << print(*module);
      EXPECT_EQ(outcome.stage, "gradient");
    }
  }
}

/// What is no number is a fault as well where no gradient that is returned shows it.
TEST_F(Smith, findsWhatIsNoNumberBehindTheForwardPart) {
  auto module = programWith("gradient", 200);
  CheckOptions options;
  options.code.compile = false;
  options.until = "gradient";
  options.plantAfter = "autodiff";
  options.plant = [](ModuleOp program) {
    Operation *end = program.lookupSymbol<func::FuncOp>("step").getBody().front().getTerminator();
    OpBuilder builder(end);
    auto scalar = RankedTensorType::get({}, builder.getF32Type());
    Value zero = ConstantOp::create(builder, end->getLoc(), scalar, builder.getF32FloatAttr(0));
    DivOp::create(builder, end->getLoc(), zero, zero);
  };
  Outcome outcome = check(*module, options);
  EXPECT_EQ(outcome.kind, Outcome::Kind::fails);
  EXPECT_NE(outcome.message.find("@step: weir.div: a value is infinite or no number"),
            std::string::npos)
      << outcome.message;
}

} // namespace
} // namespace weir::smith

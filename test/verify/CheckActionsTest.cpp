//===- CheckActionsTest.cpp -----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is compiled and run; the plan it is checked against is changed, so that the two
// disagree.
//
//===----------------------------------------------------------------------===//

#include "verify/CheckActions.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/Parser/Parser.h"
#include "support/Error.h"
#include "verify/Compiled.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace weir;

namespace {

/// A compiled step.
class Case {
public:
  explicit Case(const std::string &body) {
    context.loadDialect<WeirDialect, func::FuncDialect>();
    plan = parseSourceString<ModuleOp>("module attributes {weir.model = \"small\", weir.batch = 1 "
                                       ": i64, weir.accumulate = 1 : i64, "
                                       "weir.steps = 3 : i64} {\n" +
                                           body + "\n}",
                                       ParserConfig(&context), "small.weir");
    if (!plan)
      return;
    auto bytes = compileModule(*plan, "cpu:x86-64-v3");
    if (succeeded(bytes))
      program = std::make_unique<CompiledProgram>(*bytes);
  }

  /// Checks a run of the step on random numbers in [1, 2), or on `inputs`.
  void run(Tensors inputs = {}) {
    CheckActions check(program->program(), *plan);
    std::mt19937 engine(7);
    std::uniform_real_distribution<float> numbers(1, 2);
    if (inputs.empty())
      for (const artifact::Port *port : *program->program().entry("step")->inputs()) {
        inputs.emplace_back(ArrayRef<int64_t>(port->shape()->data(), port->shape()->size()));
        for (double &value : inputs.back().values)
          value = numbers(engine);
      }
    program->run("step", inputs);
    mismatches = check.mismatches();
    checked = check.checked();
  }

  /// The first op of this type in the plan.
  template <typename Op> Op first() {
    Op found;
    plan->walk([&](Op op) { found = found ? found : op; });
    return found;
  }

  /// Gives the first `From` in a kernel's meaning another op.
  template <typename From, typename To> void exchange() {
    auto op = first<From>();
    OpBuilder builder(op);
    OperationState state(op.getLoc(), To::getOperationName(), op->getOperands(),
                         op->getResultTypes());
    op->replaceAllUsesWith(builder.create(state));
    op->erase();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> plan;
  std::unique_ptr<CompiledProgram> program;
  std::vector<ActionMismatch> mismatches;
  CheckedActions checked;
};

const char *kernels = R"(  func.func @init() { return }
  func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
    %e = weir.exp %x : tensor<4x8xf32>
    %y = weir.matmul %e, %w : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    %m = weir.reduce max %x {axes = array<i64: 1>} : tensor<4x8xf32> -> tensor<4xf32>
    return %y, %m : tensor<4x4xf32>, tensor<4xf32>
  })";

} // namespace

TEST(CheckActions, AgreesWithWhatWasCompiled) {
  Case test(kernels);
  ASSERT_TRUE(test.program);
  test.run();
  EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
  EXPECT_EQ(test.checked.steps, 1);
  EXPECT_EQ(test.checked.entries, 1);
  EXPECT_EQ(test.checked.actions, 3);
  EXPECT_EQ(test.checked.rounded, 0);
  EXPECT_GT(test.checked.largest, 0);
  EXPECT_LT(test.checked.largest, 1e-6);
  EXPECT_NE(test.checked.largestAt.find("small.weir:"), std::string::npos);
}

TEST(CheckActions, NamesTheOpAndLineOfAWrongKernel) {
  Case test(kernels);
  ASSERT_TRUE(test.program);
  test.exchange<ExpOp, SinOp>();
  test.run();
  // What follows is computed from the real values, and is right.
  ASSERT_EQ(test.mismatches.size(), 1u);
  const ActionMismatch &mismatch = test.mismatches.front();
  EXPECT_EQ(mismatch.entry, "step");
  EXPECT_EQ(mismatch.when, "step 1");
  EXPECT_EQ(mismatch.op, "weir.sin");
  EXPECT_EQ(mismatch.place, "small.weir:4");
  EXPECT_EQ(mismatch.work.rfind("launch of kernel_", 0), 0u) << mismatch.work;
  EXPECT_NE(mismatch.detail.find("of [4, 8]: expected "), std::string::npos) << mismatch.detail;
}

TEST(CheckActions, SeesOneWrongElement) {
  Case test(kernels);
  ASSERT_TRUE(test.program);
  test.exchange<ExpOp, AbsOp>();
  Tensor x(Shape{4, 8}), w(Shape{8, 4}, 1);
  for (size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = i;
  test.run({x, w});
  ASSERT_EQ(test.mismatches.size(), 1u);
  EXPECT_NE(test.mismatches[0].detail.find("element [3, 7] of [4, 8]: expected 31, found 2.90488"),
            std::string::npos)
      << test.mismatches[0].detail;
}

/// A plan that reads an 8x4 b as if it were 4x8.
void transposeB(plan::CallOp call) {
  auto product = std::get<spec::Product>(call.getCall());
  product.bRow = 1, product.bColumn = 8;
  call.setSpecAttr(plan::SpecAttr::get(call.getContext(), product));
}

TEST(CheckActions, SeesAWrongProduct) {
  Case test(kernels);
  ASSERT_TRUE(test.program);
  transposeB(test.first<plan::CallOp>());
  test.run();
  ASSERT_EQ(test.mismatches.size(), 1u);
  EXPECT_EQ(test.mismatches[0].work, "product 4x4x8");
  EXPECT_EQ(test.mismatches[0].op, "weir.matmul");
  EXPECT_EQ(test.mismatches[0].place, "small.weir:5");
  EXPECT_NE(test.mismatches[0].detail.find(" of [1, 4, 4]: expected"), std::string::npos);
}

// No kernel is compiled, so that the artifact has no code.
TEST(CheckActions, AgreesWithLibraryCallsAlone) {
  Case test(R"(  func.func @init() { return }
  func.func @step(%x: tensor<3x2x7x9xf32>, %w: tensor<5x2x3x3xf32>, %g: tensor<3x5x4x5xf32>)
      -> (tensor<3x5x4x5xf32>, tensor<3x2x7x9xf32>, tensor<5x2x3x3xf32>) {
    %y = weir.convolution %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
        : tensor<3x2x7x9xf32>, tensor<5x2x3x3xf32> -> tensor<3x5x4x5xf32>
    %dx = weir.convolution_input_grad %g, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
        : tensor<3x5x4x5xf32>, tensor<5x2x3x3xf32> -> tensor<3x2x7x9xf32>
    %dw = weir.convolution_weight_grad %x, %g {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
        : tensor<3x2x7x9xf32>, tensor<3x5x4x5xf32> -> tensor<5x2x3x3xf32>
    return %y, %dx, %dw : tensor<3x5x4x5xf32>, tensor<3x2x7x9xf32>, tensor<5x2x3x3xf32>
  })");
  ASSERT_TRUE(test.program);
  EXPECT_EQ(test.program->program().plan().kernels()->size(), 0u);
  test.run();
  EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
  EXPECT_EQ(test.checked.actions, 3);

  // Its input is taken for its weight.
  plan::CallOp forward = test.first<plan::CallOp>();
  forward.setOperand(1, forward.getOperand(0));
  test.run();
  ASSERT_EQ(test.mismatches.size(), 1u);
  EXPECT_EQ(test.mismatches[0].op, "weir.convolution");
  EXPECT_EQ(test.mismatches[0].work, "convolution, forward, 3x2x7x9 by 5x2x3x3");
}

TEST(CheckActions, SeesWritesToOtherMemory) {
  Case test(R"(  weir.variable state @old : tensor<8xf32>
  func.func @init() { return }
  func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    %old = weir.read @old : tensor<8xf32>
    weir.write @old, %x : tensor<8xf32>
    return %old : tensor<8xf32>
  })");
  ASSERT_TRUE(test.program);
  test.run();
  EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
  test.program->setVariables({{"old", Tensor(Shape{8})}});
  test.plan->walk([](plan::CopyOp copy) {
    if (isa<plan::UseOp>(copy.getTo().getDefiningOp()))
      copy.setSize(16);
  });
  test.run();
  ASSERT_EQ(test.mismatches.size(), 1u);
  EXPECT_EQ(test.mismatches[0].op, "plan.copy");
  EXPECT_NE(test.mismatches[0].detail.find("it changed byte 1"), std::string::npos)
      << test.mismatches[0].detail;
  EXPECT_NE(test.mismatches[0].detail.find("of `old`, which it does not write"), std::string::npos)
      << test.mismatches[0].detail;
}

const char *microbatches = R"(  func.func @init() { return }
  func.func @step(%x: tensor<2x64xf32>) -> tensor<64xf32> {
    %zero = weir.constant 0.0 : f32 -> tensor<64xf32>
    %0 = weir.microbatches 2 sliced(%x) carried(%zero) : (tensor<2x64xf32>, tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%round: tensor<i32>, %slice: tensor<1x64xf32>, %sum: tensor<64xf32>):
      %row = weir.merge_dims %slice {first = 0, count = 2} : tensor<1x64xf32> -> tensor<64xf32>
      %next = weir.add %sum, %row : tensor<64xf32>
      weir.yield %next : tensor<64xf32>
    }
    return %0 : tensor<64xf32>
  })";

TEST(CheckActions, FollowsRounds) {
  Case test(microbatches);
  ASSERT_TRUE(test.program);
  test.run();
  EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
  test.first<plan::PartOp>().setStrides({0});
  test.run();
  ASSERT_EQ(test.mismatches.size(), 1u);
  EXPECT_EQ(test.mismatches[0].round, 1u);
  EXPECT_EQ(test.mismatches[0].place, "small.weir:8");
  EXPECT_NE(test.mismatches[0].text().find(" in round 1 "), std::string::npos);
}

// In f64 the product is just below 7, in f32 it is 7.
TEST(CheckActions, ForgivesWhatRoundingDecides) {
  const char *text = R"(  func.func @init() { return }
  func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi1>) {
    %c = weir.constant 0.7 : f32 -> tensor<8xf32>
    %p = weir.mul %x, %c : tensor<8xf32>
    %f = weir.floor %p : tensor<8xf32>
    %seven = weir.constant 7.0 : f32 -> tensor<8xf32>
    %less = weir.compare lt %p, %seven : tensor<8xf32> -> tensor<8xi1>
    return %f, %less : tensor<8xf32>, tensor<8xi1>
  })";
  Tensor x(Shape{8}, 1);
  x.values[3] = 10;
  {
    Case test(text);
    ASSERT_TRUE(test.program);
    test.run({x});
    EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
    EXPECT_EQ(test.checked.rounded, 2);
  }
  {
    Case test(text);
    test.exchange<FloorOp, NegOp>();
    test.run({x});
    ASSERT_EQ(test.mismatches.size(), 1u);
    EXPECT_EQ(test.mismatches[0].op, "weir.neg");
  }
}

// x^2 - z^2 loses four digits where x and z are close; a constant that is off by a thousandth is
// more.
TEST(CheckActions, ForgivesCancellationOnly) {
  const char *text = R"(  func.func @init() { return }
  func.func @step(%x: tensor<64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {
    %c = weir.constant 1.0 : f32 -> tensor<f32>
    %b = weir.broadcast %c {dimensions = array<i64>} : tensor<f32> -> tensor<64xf32>
    %xx = weir.mul %x, %x : tensor<64xf32>
    %zz = weir.mul %z, %z : tensor<64xf32>
    %d = weir.sub %xx, %zz : tensor<64xf32>
    %y = weir.sub %d, %b : tensor<64xf32>
    return %y : tensor<64xf32>
  })";
  Tensor x(Shape{64}), z(Shape{64});
  for (int i = 0; i < 64; ++i) {
    z.values[i] = 1000 + i;
    x.values[i] = z.values[i] + 0.1;
  }
  Case test(text);
  ASSERT_TRUE(test.program);
  test.run({x, z});
  EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
  test.first<ConstantOp>().setValueAttr(FloatAttr::get(Float32Type::get(&test.context), 4.0));
  test.run({x, z});
  EXPECT_EQ(test.mismatches.size(), 1u);
}

// 2^24 + 1 lies between two f32: the real run gives one of them, and the other would do, but no
// number else.
TEST(CheckActions, ForgivesOnlyAnswersThatRoundingGives) {
  auto text = [](const std::string &op) {
    return R"(  func.func @init() { return }
  func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi32> {
    %p = )" +
           op + R"( %x, %y : tensor<4xf32>
    %i = weir.cast %p : tensor<4xf32> -> tensor<4xi32>
    return %i : tensor<4xi32>
  })";
  };
  Tensor x(Shape{4}, 16777216), y(Shape{4});
  y.values[2] = 1;
  {
    Case test(text("weir.add"));
    ASSERT_TRUE(test.program);
    test.run({x, y});
    EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
    EXPECT_EQ(test.checked.rounded, 1);
  }
  {
    Case test(text("weir.sub"));
    ASSERT_TRUE(test.program);
    test.exchange<SubOp, AddOp>();
    test.run({x, y});
    ASSERT_EQ(test.mismatches.size(), 1u);
    EXPECT_NE(test.mismatches[0].detail.find("expected 16777217, found 16777215"),
              std::string::npos)
        << test.mismatches[0].detail;
  }
}

// 1e50 is more than f32 holds, whatever is subtracted from it.
TEST(CheckActions, ForgivesAProductThatOverflows) {
  const char *text = R"(  func.func @init() { return }
  func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
    %y = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  })";
  Case test(text);
  ASSERT_TRUE(test.program);
  Tensor x(Shape{4, 8}, 1), w(Shape{8, 4}, 1);
  for (int k = 0; k < 8; ++k) { // of the first row, 0 in f64
    x.values[k] = k % 2 ? -1e30f : 1e30f;
    w.values[k * 4] = 1e20f;
  }
  test.run({x, w});
  EXPECT_TRUE(test.mismatches.empty()) << test.mismatches.front().text();
  EXPECT_EQ(test.checked.rounded, 1);

  // Where nothing overflows, it is still seen.
  x.values[0] = x.values[1] = 1;
  transposeB(test.first<plan::CallOp>());
  test.run({x, w});
  EXPECT_EQ(test.mismatches.size(), 1u);
}

TEST(CheckActions, AMismatchMayEndTheRun) {
  Case test(kernels);
  ASSERT_TRUE(test.program);
  test.exchange<ExpOp, SinOp>();
  CheckActions check(test.program->program(), *test.plan);
  check.onMismatch = [](const ActionMismatch &mismatch) {
    throw Failure(Exit::internal, mismatch.text());
  };
  EXPECT_THROW(test.program->run("step", {Tensor(Shape{4, 8}, 1), Tensor(Shape{8, 4}, 1)}),
               Failure);
}

//===- VerifyTest.cpp - Planted faults are caught and named ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case changes what one pass has made of a small model, the way a faulty pass would. The
// verification has to name that pass, the op and its line of the model.
//
//===----------------------------------------------------------------------===//

#include "verify/Verify.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/weir/Locations.h"
#include "verify/Compare.h"
#include "verify/Cost.h"
#include "verify/Gradients.h"
#include "verify/Outcome.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace mlir;

namespace {

constexpr const char *text =
    R"(config batch = 6, width = 17, classes = 5, rows = 7, microbatches = 1

block centre(x: [n, c]) -> [n, c] {
  state average: [c] = zeros()
  if training {
    next average = 0.9 * average + 0.1 * sum(x, axes = [0]) / n
  }
  return x - average
}

model net(ids: i32[b], x: [b, 9]) -> [b, classes] {
  row = embedding(ids, rows, width) as table
  h = tanh(linear(x[:, 1:8], width) as first)
  h = dropout(centre(h) as middle, 0.25)
  g = h * row - exp(0.1 * h)
  y = linear(g, width) as last
  return linear(relu(y), classes) as head
}

train {
  input  ids: i32[batch]
  input  x: [batch, 9]
  input  labels: i32[batch]
  steps  100
  accumulate microbatches
  loss   cross_entropy(net(ids, x), labels)
  clip   global_norm(1.0)
  update adamw(1e-2, decay = 0.01)
}
)";

/// The number of the line that contains `part`.
unsigned lineOf(llvm::StringRef part) {
  llvm::StringRef all(text);
  size_t at = all.find(part);
  assert(at != llvm::StringRef::npos);
  return all.take_front(at).count('\n') + 1;
}

bool isGradient(Operation *op) {
  auto name = llvm::dyn_cast<NameLoc>(op->getLoc());
  return name && name.getName() == gradientLocName;
}

bool hasShape(Value value, llvm::ArrayRef<int64_t> shape) { return shapeOf(value) == shape; }

/// The first op of a kind in @step that fits; null if there is none.
template <class Op> Op first(ModuleOp module, llvm::function_ref<bool(Op)> fits) {
  Op found;
  for (Operation &top : *module.getBody())
    if (SymbolTable::getSymbolName(&top).getValue() == "step")
      top.walk([&](Op op) {
        if (!found && fits(op))
          found = op;
      });
  return found;
}

struct Fault {
  const char *name;
  const char *pass;
  const char *op;                      ///< part of what is to be blamed
  const char *line;                    ///< part of its line of the model
  std::function<bool(ModuleOp)> plant; ///< whether it found where to
  int microbatches = 1;
};

void PrintTo(const Fault &fault, std::ostream *stream) { *stream << fault.name; }

/// A buffer of the plan's @step by its label and size.
plan::AllocOp buffer(ModuleOp plan, StringRef label, uint64_t size) {
  return first<plan::AllocOp>(
      plan, [&](plan::AllocOp op) { return op.getLabel() == label && op.getSize() == size; });
}

plan::CallOp product(ModuleOp plan, int64_t m, int64_t n, int64_t k) {
  return first<plan::CallOp>(plan, [&](plan::CallOp op) {
    auto *product = std::get_if<spec::Product>(&op.getCall());
    return product && product->m == m && product->n == n && product->k == k;
  });
}

/// A kernel behind another that reads what that makes, with some kernel between them: what is kept
/// for it.
std::pair<KernelOp, OpOperand *> keptFor(ModuleOp module, llvm::ArrayRef<int64_t> shape) {
  OpOperand *kept = nullptr;
  KernelOp maker = first<KernelOp>(module, [&](KernelOp kernel) {
    for (OpResult result : kernel->getResults())
      for (OpOperand &use : result.getUses())
        if (hasShape(result, shape) && isa<KernelOp>(use.getOwner()) &&
            use.getOwner()->getBlock() == kernel->getBlock() &&
            kernel->getNextNode() != use.getOwner())
          kept = &use;
    return kept != nullptr;
  });
  return {maker, kept};
}

const std::vector<Fault> &faults() {
  static const std::vector<Fault> all = {
      {"wrong_sign_in_a_gradient", "autodiff", "weir.sub", "g = h * row",
       [](ModuleOp module) {
         auto neg =
             first<NegOp>(module, [](NegOp op) { return isGradient(op) && hasShape(op, {6, 17}); });
         if (neg)
           neg.replaceAllUsesWith(neg.getInput());
         return bool(neg);
       }},
      {"missing_accumulation", "autodiff", "weir.select", "dropout",
       [](ModuleOp module) {
         auto sum =
             first<AddOp>(module, [](AddOp op) { return isGradient(op) && hasShape(op, {6, 17}); });
         if (sum)
           sum.replaceAllUsesWith(sum.getLhs());
         return bool(sum);
       }},
      {"lost_broadcast_reduction", "autodiff", "weir.broadcast", "linear(relu(y), classes)",
       [](ModuleOp module) {
         auto reduce = first<ReduceOp>(module, [](ReduceOp op) {
           return isGradient(op) && hasShape(op.getInput(), {6, 5}) && hasShape(op, {5});
         });
         if (!reduce)
           return false;
         OpBuilder builder(reduce);
         auto row = RankedTensorType::get({1, 5}, builder.getF32Type());
         Value one = SliceOp::create(builder, reduce.getLoc(), row, reduce.getInput(),
                                     llvm::ArrayRef<int64_t>{0, 0}, llvm::ArrayRef<int64_t>{1, 1});
         reduce.replaceAllUsesWith(
             MergeDimsOp::create(builder, reduce.getLoc(), one, 0, 2).getResult());
         return true;
       }},
      {"wrong_scale_of_the_loss", "autodiff", "weir.div", "loss",
       [](ModuleOp module) {
         auto div = first<DivOp>(module, [](DivOp op) { return isGradient(op); });
         if (!div)
           return false;
         OpBuilder builder(div->getContext());
         builder.setInsertionPointAfter(div);
         auto twice = AddOp::create(builder, div.getLoc(), div, div);
         div.getResult().replaceAllUsesExcept(twice, twice);
         return true;
       }},
      {"off_by_one_slice", "simplify-forward", "weir.slice", "x[:, 1:8]",
       [](ModuleOp module) {
         auto slice = first<SliceOp>(module, [](SliceOp) { return true; });
         if (slice)
           slice.setOffsets({0, 2});
         return bool(slice);
       }},
      {"swapped_operand", "simplify", "weir.sub", "x - average",
       [](ModuleOp module) {
         auto sub = first<SubOp>(module,
                                 [](SubOp op) { return !isGradient(op) && hasShape(op, {6, 17}); });
         if (sub)
           sub->setOperands({sub.getRhs(), sub.getLhs()});
         return bool(sub);
       }},
      {"skipped_state_update", "simplify", "weir.write", "next average",
       [](ModuleOp module) {
         auto write = first<WriteOp>(
             module, [](WriteOp op) { return op.getVariable() == "middle.average"; });
         if (write)
           write.erase();
         return bool(write);
       }},
      {"stale_state", "simplify", "weir.write", "next average",
       [](ModuleOp module) {
         auto write = first<WriteOp>(
             module, [](WriteOp op) { return op.getVariable() == "middle.average"; });
         auto read =
             first<ReadOp>(module, [](ReadOp op) { return op.getVariable() == "middle.average"; });
         if (write && read)
           write.getValueMutable().assign(read);
         return write && read;
       }},
      {"microbatch_that_is_not_added", "carry-sums", "weir.reduce", "linear(relu(y), classes)",
       [](ModuleOp module) {
         auto sum = first<AddOp>(module, [](AddOp op) {
           return isa<BlockArgument>(op.getLhs()) && hasShape(op, {5}) &&
                  isa<MicrobatchesOp>(op->getParentOp());
         });
         if (sum)
           sum.replaceAllUsesWith(sum.getRhs());
         return bool(sum);
       },
       2},
      {"wrong_random_key", "fuse", "weir.random", "dropout",
       [](ModuleOp module) {
         auto random = first<RandomOp>(module, [](RandomOp) { return true; });
         if (random)
           random.setKey(random.getKey() + 1);
         return bool(random);
       }},
      {"kept_value_dropped", "rematerialize", "weir.mul", "h = tanh(linear",
       [](ModuleOp module) {
         auto [maker, kept] = keptFor(module, {6, 17});
         if (!kept)
           return false;
         auto other = first<KernelOp>(module, [&, maker = maker](KernelOp kernel) {
           return kernel != maker && kernel->isBeforeInBlock(maker) &&
                  llvm::any_of(kernel.getResults(),
                               [](Value result) { return hasShape(result, {6, 17}); });
         });
         for (Value result : other ? other.getResults() : ResultRange(nullptr, 0))
           if (hasShape(result, {6, 17}))
             kept->set(result);
         return bool(other);
       }},
      {"wrong_recomputation", "rematerialize", "weir.random", "dropout",
       [](ModuleOp module) {
         auto [maker, kept] = keptFor(module, {6, 17});
         if (!kept)
           return false;
         OpBuilder builder(kept->getOwner());
         auto again = cast<KernelOp>(builder.clone(*maker));
         again.walk([&](Operation *op) {
           if (auto random = dyn_cast<RandomOp>(op))
             random.setKey(random.getKey() + 1);
           else if (op->getNumOperands() == 2 && op->getOperand(0) != op->getOperand(1) &&
                    op->getOperand(0).getType() == op->getOperand(1).getType() &&
                    !op->hasTrait<OpTrait::IsTerminator>())
             op->setOperand(1, op->getOperand(0));
         });
         kept->set(again.getResult(cast<OpResult>(kept->get()).getResultNumber()));
         return true;
       }},
      {"stale_buffer", "lower-to-plan", "plan.call", "linear(g, width)",
       [](ModuleOp plan) {
         plan::CallOp op = product(plan, 6, 17, 17);
         plan::AllocOp other = buffer(plan, "exp", 408);
         if (op && other)
           op.setOperand(0, other);
         return op && other;
       }},
      {"wrong_strides_of_a_product", "lower-to-plan", "plan.call", "linear(g, width)",
       [](ModuleOp plan) {
         plan::CallOp op = product(plan, 6, 17, 17);
         if (!op)
           return false;
         auto spec = std::get<spec::Product>(op.getCall());
         spec.bRow = 17, spec.bColumn = 1;
         op.setSpecAttr(plan::SpecAttr::get(plan.getContext(), spec));
         return true;
       }},
      {"update_before_the_last_read", "lower-to-plan", "weir.random", "dropout",
       [](ModuleOp plan) {
         auto use = first<plan::UseOp>(
             plan, [](plan::UseOp op) { return op.getVariable() == "run/step"; });
         plan::LaunchOp last, random;
         for (Operation *user : use->getUsers())
           if (auto launch = dyn_cast<plan::LaunchOp>(user)) {
             if (!last || last->isBeforeInBlock(launch))
               last = launch;
             if (!random || launch->isBeforeInBlock(random))
               random = launch;
           }
         if (!last || last == random || llvm::count(last.getOperands(), use.getResult()) < 2)
           return false;
         for (Value operand : last.getOperands())
           if (Operation *made = operand.getDefiningOp(); random->isBeforeInBlock(made))
             made->moveBefore(random);
         last->moveBefore(random);
         return true;
       }},
      {"exchanged_variables", "lower-to-plan", "weir.mul", "update adamw",
       [](ModuleOp plan) {
         auto use = [&](StringRef name) {
           return first<plan::UseOp>(plan,
                                     [&](plan::UseOp op) { return op.getVariable() == name; });
         };
         plan::UseOp a = use("adamw.m/head.bias"), b = use("adamw.v/head.bias");
         a.setVariable("adamw.v/head.bias");
         b.setVariable("adamw.m/head.bias");
         return true;
       }},
      {"the_first_microbatch_every_round", "lower-to-plan", "weir.slice", "x[:, 1:8]",
       [](ModuleOp plan) {
         auto part =
             first<plan::PartOp>(plan, [](plan::PartOp op) { return !op.getStrides().empty(); });
         if (part)
           part.setStrides({0});
         return bool(part);
       },
       2},
      {"overlapping_lifetimes", "assign-offsets", "weir.mul", "g = h * row",
       [](ModuleOp plan) {
         plan::AllocOp a = buffer(plan, "exp", 408), b = buffer(plan, "select", 408);
         if (a && b)
           a.setOffset(*b.getOffset());
         return a && b;
       }},
      {"mask_in_the_memory_of_numbers", "assign-offsets", "weir.select", "g = h * row",
       [](ModuleOp plan) {
         plan::AllocOp mask = buffer(plan, "compare", 102), other = buffer(plan, "matmul", 408);
         if (mask && other)
           mask.setOffset(*other.getOffset());
         return mask && other;
       }},
      {"wrong_tail", "codegen", "weir.reduce", "next average",
       [](ModuleOp kernels) {
         bool found = false;
         kernels.walk([&](scf::ForOp loop) {
           auto bound = loop.getUpperBound().getDefiningOp<arith::ConstantIndexOp>();
           if (found || !bound || bound.value() != 17 ||
               !loop->getParentOfType<func::FuncOp>().getSymName().starts_with("kernel_2"))
             return;
           OpBuilder builder(loop);
           loop.setUpperBound(arith::ConstantIndexOp::create(builder, loop.getLoc(), 16));
           found = true;
         });
         return found;
       }},
      {"another_instruction", "codegen", "weir.sub", "g = h * row",
       [](ModuleOp kernels) {
         arith::MulFOp mul;
         kernels.walk([&](arith::MulFOp op) { mul = op; });
         if (!mul)
           return false;
         OpBuilder builder(mul);
         mul.replaceAllUsesWith(
             arith::SubFOp::create(builder, mul.getLoc(), mul.getLhs(), mul.getRhs()).getResult());
         return true;
       }},
  };
  return all;
}

class ModelFile {
public:
  explicit ModelFile(const char *text) {
    llvm::SmallString<128> made;
    int file;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("verify-test", "weir", file, made));
    llvm::raw_fd_ostream(file, true) << text;
    path = made.str().str();
  }
  ~ModelFile() { llvm::sys::fs::remove(path); }
  std::string path;
};

DialectRegistry reference() {
  DialectRegistry registry;
  registerReferenceInterpreter(registry);
  registerPlanInterpreter(registry);
  return registry;
}

FailureOr<VerifyReport> verified(int microbatches, bool full,
                                 std::function<void(llvm::StringRef, ModuleOp)> tamper = nullptr,
                                 llvm::function_ref<void(ModuleOp)> before = nullptr,
                                 const char *model = text) {
  ModelFile file(model);
  MLIRContext context(reference());
  context.disableMultithreading();
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult result = elaborate(file.path, {{"microbatches", std::to_string(microbatches)}},
                                     sources, context, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  EXPECT_TRUE(result.module);
  if (before)
    before(*result.module);
  VerifyOptions options;
  options.target = "cpu";
  options.full = full;
  options.tamper = std::move(tamper);
  return verifyProgram(*result.module, options);
}

TEST(Verify, AFaultlessCompileIsFaultless) {
  for (auto [microbatches, full] : {std::pair(1, false), {1, true}, {2, false}, {2, true}}) {
    FailureOr<VerifyReport> report = verified(microbatches, full);
    ASSERT_TRUE(succeeded(report));
    EXPECT_FALSE(report->fault) << report->fault->message;
    EXPECT_GE(report->passes, 10u);
    EXPECT_EQ(report->gradients, 7u);
    EXPECT_GT(report->kernels, 20u);
    EXPECT_LT(report->largestResult, 1e-5);
  }
}

TEST(Verify, WhatIsNotKnownIsNotKnownInAByteEither) {
  bool seen = false;
  FailureOr<VerifyReport> report = verified(1, false, [&](llvm::StringRef pass, ModuleOp plan) {
    if (pass != "lower-to-plan")
      return;
    plan::AllocOp mask = buffer(plan, "compare", 102);
    ASSERT_TRUE(mask);
    CellMemory memory(plan, false);
    Builder builder(plan.getContext());
    for (Type element : {Type(builder.getI1Type()), Type(builder.getIntegerType(8, false))}) {
      std::vector<double> stored = {1, NAN, 0, 1}, loaded(4);
      memory.store(mask, element, 0, stored);
      memory.load(mask, element, 0, loaded);
      EXPECT_TRUE(std::isnan(loaded[1]));
      loaded[1] = stored[1] = 0;
      EXPECT_EQ(loaded, stored);
    }
    seen = true;
  });
  EXPECT_TRUE(succeeded(report) && seen);
}

TEST(Verify, AStepWithoutALossIsRefused) {
  FailureOr<VerifyReport> report = verified(1, false, nullptr, [](ModuleOp module) {
    auto step = module.lookupSymbol<func::FuncOp>("step");
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (step.getResultAttrOfType<StringAttr>(i, "weir.output").getValue() == "loss")
        step.setResultAttr(i, "weir.output", StringAttr::get(module.getContext(), "cost"));
  });
  ASSERT_TRUE(succeeded(report) && report->fault);
  EXPECT_EQ(report->fault->message, "`step` has no loss: there is nothing to verify");
}

TEST(Verify, AnEntryThatAPassLosesIsMissed) {
  for (bool full : {false, true}) {
    FailureOr<VerifyReport> report = verified(1, full, [](llvm::StringRef pass, ModuleOp module) {
      if (pass == "simplify")
        module.lookupSymbol<func::FuncOp>("predict").erase();
    });
    ASSERT_TRUE(succeeded(report) && report->fault);
    EXPECT_TRUE(llvm::StringRef(report->fault->message)
                    .starts_with("after simplify: @predict differs: it is there no more"))
        << report->fault->message;
  }
}

TEST(Verify, ARowThatIsNoPartOfItsBatchIsCaught) {
  FailureOr<VerifyReport> report = verified(1, false, nullptr, [](ModuleOp module) {
    auto one = module.lookupSymbol<func::FuncOp>("eval_one");
    auto exp = *one.getOps<ExpOp>().begin();
    exp.getResult().replaceAllUsesWith(exp.getInput());
  });
  ASSERT_TRUE(succeeded(report) && report->fault);
  EXPECT_TRUE(llvm::StringRef(report->fault->message)
                  .starts_with("after elaborate: `loss.sum` of @eval_one differs: over the 6 rows "
                               "of a batch it should be "))
      << report->fault->message;
}

// What rounding leaves of the gradient of `shift`, which is zero, is no excuse for a large one's.
TEST(Verify, ALargeLossHidesNoWrongGradient) {
  constexpr const char *model = R"(config microbatches = 1
model net(x: [b, 9]) -> [b, 5] {
  param shift: [1] = zeros()
  return linear(x, 5) as head + shift
}
train {
  input  x: [6, 9]
  input  labels: i32[6]
  steps  100
  accumulate microbatches
  loss   cross_entropy(net(x), labels) + ratio(1e6 * sum(abs(x)), sum(abs(x)))
  update sgd(1e-2)
}
)";
  for (bool wrong : {false, true}) {
    bool planted = false;
    auto tamper = [&](llvm::StringRef pass, ModuleOp module) {
      if (pass != "autodiff" || !wrong)
        return;
      auto gradient = first<MatmulOp>(
          module, [](MatmulOp op) { return isGradient(op) && hasShape(op, {5, 9}); });
      ASSERT_TRUE(gradient);
      OpBuilder builder(gradient->getContext());
      builder.setInsertionPointAfter(gradient);
      Value by = ConstantOp::create(builder, gradient.getLoc(),
                                    cast<RankedTensorType>(gradient.getType()), 1.05);
      auto more = MulOp::create(builder, gradient.getLoc(), gradient, by);
      gradient.getResult().replaceAllUsesExcept(more, more);
      planted = true;
    };
    FailureOr<VerifyReport> report = verified(1, false, tamper, nullptr, model);
    ASSERT_TRUE(succeeded(report));
    EXPECT_EQ(planted, wrong);
    ASSERT_EQ(bool(report->fault), wrong) << (wrong ? "" : report->fault->message);
    EXPECT_EQ(report->fault ? report->fault->result : "",
              wrong ? "the gradient of `head.weight` in @step" : "");
  }
}

// Its sine turns by a hundredth of a radian within the shortest step: 2e-5 of its slope.
TEST(Verify, ALossThatBendsWithinAStepIsNoFault) {
  FailureOr<VerifyReport> report = verified(1, false, nullptr, nullptr, R"(config microbatches = 1
model net(x: [b, 9]) -> [b, 9] {
  param w: [1] = ones()
  return sin(1e6 * w) * x
}
train {
  input  x: [6, 9]
  steps  100
  accumulate microbatches
  loss   mse(net(x), x)
  update sgd(1e-2)
}
)");
  ASSERT_TRUE(succeeded(report));
  EXPECT_FALSE(report->fault) << report->fault->message;
}

TEST(Verify, WorkIsToldPartByPart) {
  ModelFile file(text);
  for (bool full : {false, true}) {
    MLIRContext context(reference());
    context.disableMultithreading();
    SourceManager sources;
    Diagnostics diagnostics;
    ElaborateResult result = elaborate(file.path, {}, sources, context, diagnostics);
    ASSERT_TRUE(result.module);
    double total = verifyCost(*result.module, full).total(), done = 0;
    VerifyOptions options;
    options.target = "cpu";
    options.full = full;
    options.worked = [&](double seconds) { done += seconds; };
    ASSERT_TRUE(succeeded(verifyProgram(*result.module, options)));
    EXPECT_NEAR(done, total, 0.05 * total);
  }
}

// What has to be interpreted, not how fast this machine does it.
TEST(Verify, ShippedModelsAreWithinReachAtTheirOwnSizes) {
  std::error_code error;
  unsigned seen = 0;
  for (llvm::sys::fs::directory_iterator file(WEIR_SOURCE_DIR "/models", error), end;
       file != end && !error; file.increment(error)) {
    if (!StringRef(file->path()).ends_with(".weir"))
      continue;
    MLIRContext context;
    SourceManager sources;
    Diagnostics diagnostics;
    ElaborateResult result = elaborate(file->path(), {}, sources, context, diagnostics);
    ASSERT_TRUE(result.module) << file->path();
    EXPECT_LE(2 * verifyCost(*result.module, false).total(), 180) << file->path();
    ++seen;
  }
  ASSERT_FALSE(error) << error.message();
  EXPECT_GE(seen, 11u);
}

// The gradient of `shift` is zero but for rounding, which Adam's first step divides by itself.
TEST(Verify, AnUpdateIsAsFreeAsItsGradient) {
  ModelFile file(R"(model net(x: [b, 9]) -> [b, 5] {
  param shift: [1] = zeros()
  return linear(x, 5) as head + shift
}
train {
  input  x: [6, 9]
  input  labels: i32[6]
  steps  100
  loss   cross_entropy(net(x), labels)
  update adamw(1e-2, eps = 1e-12)
}
)");
  MLIRContext context(reference());
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult result = elaborate(file.path, {}, sources, context, diagnostics);
  ASSERT_TRUE(result.module);
  nameEntryPorts(*result.module);
  OwningOpRef<ModuleOp> twin = differentiated(*result.module, {});
  for (Moment moment : {Moment::start, Moment::middle}) {
    FailureOr<Feed> feed = makeFeed(*result.module, 1, moment);
    ASSERT_TRUE(succeeded(feed));
    Interpreter interpreter;
    FailureOr<Outcome> truth =
        interpret(*twin, *feed, interpreter, [](StringRef entry) { return entry == "step"; });
    ASSERT_TRUE(succeeded(truth));
    FailureOr<Outcome> allowance = gradientAllowance(*twin, *feed, *truth, passTolerance);
    ASSERT_TRUE(succeeded(allowance));
    for (const Result &result : allowance->at("step")) {
      double least = moment == Moment::start && result.name == "shift" ? 5e-3 : 0;
      double most = moment == Moment::start && result.name == "shift" ? 5e-2 : 1e-5;
      for (double value : result.value.values) {
        EXPECT_GE(value, least) << result.name;
        EXPECT_LE(value, most) << result.name;
      }
    }
  }
}

class Planted : public testing::TestWithParam<std::tuple<Fault, bool>> {};

TEST_P(Planted, IsCaughtAndNamed) {
  const auto &[fault, full] = GetParam();
  bool planted = false;
  FailureOr<VerifyReport> report = verified(
      fault.microbatches, full, [&, &fault = fault](llvm::StringRef pass, ModuleOp module) {
        if (pass == fault.pass && fault.plant(module))
          planted = true;
      });
  ASSERT_TRUE(succeeded(report));
  ASSERT_TRUE(planted) << "the test found no place for its fault";
  ASSERT_TRUE(report->fault) << "the fault was not noticed";
  SCOPED_TRACE(report->fault->message);
  EXPECT_EQ(report->fault->pass, fault.pass);
  EXPECT_NE(report->fault->op.find(fault.op), std::string::npos) << report->fault->op;
  // With or without a column behind the line.
  std::string place = report->fault->place + ":";
  EXPECT_NE(place.find(".weir:" + std::to_string(lineOf(fault.line)) + ":"), std::string::npos)
      << place;
}

INSTANTIATE_TEST_SUITE_P(Faults, Planted,
                         testing::Combine(testing::ValuesIn(faults()), testing::Bool()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_in_full" : "");
                         });

} // namespace

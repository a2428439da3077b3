//===- Faults.cpp - What a faulty pass would do -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/verify/Faults.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir::test {
namespace {

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

} // namespace

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

} // namespace weir::test

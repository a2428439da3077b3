//===- RanksTest.cpp - Programs of several ranks are verified -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On four ranks, of which two have two rows and two have one, or on two stages: two programs.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/Names.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "ir/weir/transfer/Transfer.h"
#include "test/verify/SmallModel.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::test;
using namespace mlir;

namespace {

struct Fault {
  const char *name;
  const char *pass;
  bool everywhere; ///< or in the second program alone
  const char *op;
  const char *words; ///< of the message
  std::function<bool(ModuleOp)> plant;
  int64_t zero = 0;
  const char *mesh = "dp=4";
};

void PrintTo(const Fault &fault, std::ostream *out) { *out << fault.name; }

/// The first sum over ranks of a gradient: over what a collective has brought.
ReduceOp sumOverRanks(ModuleOp module) {
  return first<ReduceOp>(module, [](ReduceOp op) {
    Operation *made = op.getInput().getDefiningOp();
    while (made && isa<SplitDimOp, MergeDimsOp>(made))
      made = made->getOperand(0).getDefiningOp();
    return made && isCollective(made);
  });
}

/// Moves a collective, and what needs it, behind the next one; false where that one needs it.
bool moveBehindNext(AllGatherOp one) {
  SmallVector<Operation *> moved{one};
  Operation *next = one->getNextNode();
  for (; next; next = next->getNextNode()) {
    bool needs = llvm::any_of(moved, [&](Operation *op) {
      return llvm::any_of(op->getUsers(), [&](Operation *user) { return next->isAncestor(user); });
    });
    if (isa<AllGatherOp>(next) && !needs)
      break;
    if (isCollective(next))
      return false;
    if (needs)
      moved.push_back(next);
  }
  if (!next)
    return false;
  for (Operation *op : llvm::reverse(moved))
    op->moveAfter(next);
  return true;
}

const Fault faults[] = {
    {"an_all_reduce_of_other_numbers", "partition", true, "weir.all_reduce",
     "nothing before the pass computes what the ranks have together; weir.all_reduce over dp",
     [](ModuleOp module) {
       auto sum = first<AllReduceOp>(module, [](AllReduceOp) { return true; });
       if (!sum)
         return false;
       OpBuilder builder(sum);
       sum->setOperand(0, NegOp::create(builder, sum.getLoc(), sum.getInput()));
       return true;
     }},
    {"a_sum_over_ranks_that_is_none", "expand-collectives", true, "weir.",
     "nothing before the pass computes",
     [](ModuleOp module) {
       ReduceOp sum = sumOverRanks(module);
       if (sum)
         sum.setKind(Reduction::max);
       return bool(sum);
     }},
    {"a_sum_that_is_missing", "expand-collectives", true, "weir.",
     "nothing before the pass computes",
     [](ModuleOp module) {
       ReduceOp sum = sumOverRanks(module);
       if (!sum)
         return false;
       OpBuilder builder(sum);
       SmallVector<int64_t> begins(shapeOf(sum.getInput()).size(), 0),
           sizes(shapeOf(sum.getInput()));
       sizes[0] = 1;
       auto type = tensorType(sum.getInput()).clone(sizes);
       Value one = SliceOp::create(builder, sum.getLoc(), type, sum.getInput(), begins,
                                   SmallVector<int64_t>(sizes.size(), 1));
       Value part = MergeDimsOp::create(builder, sum.getLoc(), one, 0, 2);
       if (part.getType() != sum.getType())
         return false;
       sum.replaceAllUsesWith(part);
       return true;
     }},
    {"ranks_that_have_other_numbers", "expand-collectives", false, "weir.",
     "is not the same on ranks 0 and 1",
     [](ModuleOp module) {
       ReduceOp sum = sumOverRanks(module);
       if (sum)
         sum.setKind(Reduction::max);
       return bool(sum);
     }},
    {"another_kind_of_collective", "expand-collectives", false, "weir.all_",
     "other kind of collective than another member",
     [](ModuleOp module) {
       auto gather =
           first<AllGatherOp>(module, [](AllGatherOp op) { return llvm::all_equal(op.getRows()); });
       if (!gather)
         return false;
       OpBuilder builder(gather);
       SmallVector<Value> copies(gather.getRows().size(), gather.getInput());
       Value all = ConcatOp::create(builder, gather.getLoc(), gather.getType(), copies, 0);
       gather.replaceAllUsesWith(AllToAllOp::create(builder, gather.getLoc(), gather.getType(), all,
                                                    gather.getAxis(), gather.getRows())
                                     .getResult());
       gather.erase();
       return true;
     }},
    {"a_sign_that_one_rank_loses", "simplify", false, "weir.", "nothing before the pass computes",
     [](ModuleOp module) {
       auto exp = first<ExpOp>(module, [](ExpOp) { return true; });
       if (!exp)
         return false;
       OpBuilder builder(exp);
       exp.setOperand(NegOp::create(builder, exp.getLoc(), exp.getInput()));
       return true;
     }},
    {"collectives_in_another_order", "fuse", false, "weir.all_",
     "other order of collectives than another member",
     [](ModuleOp module) {
       return bool(first<AllGatherOp>(module, [](AllGatherOp op) { return moveBehindNext(op); }));
     },
     /*zero=*/3},
    {"a_size_that_is_not_a_members", "assign-offsets", false, "plan.collective",
     "other size than another member",
     [](ModuleOp plan) {
       auto collective = first<plan::CollectiveOp>(
           plan, [](plan::CollectiveOp op) { return llvm::all_equal(op.getBytes()); });
       if (!collective)
         return false;
       SmallVector<int64_t> bytes(collective.getBytes());
       bytes.back() += 4;
       collective.setBytes(bytes);
       return true;
     }},
    {"a_send_that_is_missing", "split-stages", false, "weir.receive", "rank 1 does not send it",
     [](ModuleOp module) {
       auto send = first<SendOp>(module, [](SendOp) { return true; });
       if (send)
         send.erase();
       return bool(send);
     },
     0, "pp=2"},
    {"another_number_than_was_sent", "split-stages", false, "weir.",
     "nothing before the pass computes its value",
     [](ModuleOp module) {
       auto receive = first<ReceiveOp>(module, [](ReceiveOp) { return true; });
       if (!receive)
         return false;
       OpBuilder builder(receive);
       builder.setInsertionPointAfter(receive);
       auto other = NegOp::create(builder, receive.getLoc(), receive.getResult());
       receive.getResult().replaceAllUsesExcept(other, other);
       return true;
     },
     0, "pp=2"},
    {"a_value_of_another_microbatch", "lower-to-plan", false, "plan.", "of microbatch",
     [](ModuleOp plan) {
       auto receive = first<plan::ReceiveOp>(plan, [](plan::ReceiveOp) { return true; });
       if (receive)
         receive.setRound(1);
       return bool(receive);
     },
     0, "pp=2"},
    {"stages_that_wait_for_each_other", "lower-to-plan", true, "plan.", "which waits for rank",
     [](ModuleOp plan) {
       SmallVector<plan::SendOp> sends;
       SmallVector<plan::ReceiveOp> receives;
       plan.lookupSymbol<plan::EntryOp>("step").walk([&](Operation *op) {
         if (auto send = dyn_cast<plan::SendOp>(op))
           sends.push_back(send);
         if (auto receive = dyn_cast<plan::ReceiveOp>(op))
           receives.push_back(receive);
       });
       if (sends.size() < 2 || receives.size() < 2)
         return false;
       // The first stage sends its second microbatch once it has the first one's gradients, and the
       // other the first one's gradients once it has the second.
       bool isFirst = sends[0]->isBeforeInBlock(receives[0]);
       sends[isFirst ? 1 : 0]->moveAfter(receives[isFirst ? 0 : 1]);
       return true;
     },
     0, "pp=2"},
};

class OfRanks : public testing::TestWithParam<std::tuple<Fault, bool>> {};

TEST_P(OfRanks, FaultsAreCaughtAndNamed) {
  const auto &[fault, full] = GetParam();
  int seen = 0;
  bool planted = false;
  FailureOr<VerifyReport> report = verified(
      fault.mesh == std::string("pp=2") ? 2 : 1, full,
      [&, &fault = fault](llvm::StringRef pass, ModuleOp module) {
        if (pass == fault.pass && (fault.everywhere || seen++ == 1))
          planted |= fault.plant(module);
      },
      nullptr, smallModel, fault.mesh, fault.zero);
  ASSERT_TRUE(succeeded(report));
  ASSERT_TRUE(planted) << "the test found no place for its fault";
  ASSERT_TRUE(report->fault) << "the fault was not noticed";
  SCOPED_TRACE(report->fault->message);
  EXPECT_EQ(report->fault->pass, fault.pass);
  EXPECT_NE(report->fault->op.find(fault.op), std::string::npos) << report->fault->op;
  EXPECT_NE(report->fault->message.find(fault.words), std::string::npos);
  EXPECT_NE(report->fault->place.find(".weir:"), std::string::npos) << report->fault->place;
}

INSTANTIATE_TEST_SUITE_P(Faults, OfRanks,
                         testing::Combine(testing::ValuesIn(faults), testing::Bool()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_in_full" : "");
                         });

class OfMeshes : public testing::TestWithParam<std::tuple<const char *, int64_t>> {};

TEST_P(OfMeshes, AFaultlessCompileIsFaultless) {
  auto [mesh, zero] = GetParam();
  FailureOr<VerifyReport> report = verified(2, true, nullptr, nullptr, smallModel, mesh, zero);
  ASSERT_TRUE(succeeded(report));
  EXPECT_FALSE(report->fault) << report->fault->message;
  EXPECT_EQ(report->unverifiable, "");
  EXPECT_GT(report->kernels, 0u);
}

INSTANTIATE_TEST_SUITE_P(Meshes, OfMeshes,
                         testing::Values(std::tuple("dp=2", 0), std::tuple("dp=2", 3),
                                         std::tuple("dp=3", 1)));

} // namespace

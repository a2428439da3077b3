//===- GroupOrderTest.cpp - Which groups wait for which -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/GroupOrder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/fusion/Groups.h"
#include "test/passes/autodiff/GradientCheck.h"
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace weir;
using namespace weir::test;

namespace {

/// A function's ops, of which the i-th makes %vi.
class Program {
public:
  explicit Program(const std::string &ops) {
    prepareContext(context);
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%a: tensor<3x3xf32>) {\n" + ops + "return\n}", &context);
  }
  mlir::Block &block() { return module->lookupSymbol<mlir::func::FuncOp>("f").front(); }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

std::string value(int i) { return i < 0 ? "%a" : "%v" + std::to_string(i); }

std::string add(int i, int left, int right) {
  return value(i) + " = weir.add " + value(left) + ", " + value(right) + " : tensor<3x3xf32>\n";
}

std::string transpose(int i, int of) {
  return value(i) + " = weir.transpose " + value(of) +
         " {permutation = array<i64: 1, 0>} : tensor<3x3xf32> -> tensor<3x3xf32>\n";
}

/// The question answered by going through everything.
class Slow {
public:
  explicit Slow(mlir::Block &block) {
    for (mlir::Operation &op : block)
      groupOf[&op] = {&op};
  }
  using Group = std::set<mlir::Operation *>;

  bool otherPath(mlir::Operation *from, mlir::Operation *to, bool direct) {
    seen.clear();
    target = groupOf[from];
    Group later = groupOf[to];
    seen.insert(later.begin(), later.end());
    for (mlir::Operation *op : later)
      for (mlir::Operation *read : readBy(op)) {
        bool isCheap = fusionClass(read) == FusionClass::cheap;
        if (direct && target.count(read))
          continue;
        if (!direct || !isCheap) {
          if (reaches(read))
            return true;
          continue;
        }
        for (mlir::Operation *behind : readBy(read))
          if (!target.count(behind) && reaches(behind))
            return true;
      }
    return false;
  }
  void merge(mlir::Operation *a, mlir::Operation *b) {
    Group both = groupOf[a];
    both.merge(Group(groupOf[b]));
    for (mlir::Operation *op : both)
      groupOf[op] = both;
  }
  bool together(mlir::Operation *a, mlir::Operation *b) { return groupOf[a].count(b); }

  static std::vector<mlir::Operation *> readBy(mlir::Operation *op) {
    std::vector<mlir::Operation *> read;
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation *definer = operand.getDefiningOp())
        read.push_back(definer);
    return read;
  }

private:
  bool reaches(mlir::Operation *op) {
    if (target.count(op))
      return true;
    if (!seen.insert(op).second)
      return false;
    for (mlir::Operation *member : groupOf[op])
      for (mlir::Operation *read : readBy(member))
        if (reaches(read))
          return true;
    return false;
  }

  std::map<mlir::Operation *, Group> groupOf;
  Group target, seen;
};

TEST(GroupOrder, AnswersAsGoingThroughEverythingDoes) {
  std::mt19937 random(1);
  auto below = [&](int end) { return int(random() % unsigned(end)); };
  int answers[2] = {}, merged = 0;
  for (int round = 0; round < 200; ++round) {
    int count = 2 + below(40), reach = 1 + below(20);
    std::string ops;
    for (int i = 0; i < count; ++i) {
      auto earlier = [&] { return std::max(-1, i - 1 - below(reach)); };
      ops += below(4) ? add(i, earlier(), earlier()) : transpose(i, earlier());
    }
    Program program(ops);
    std::vector<mlir::Operation *> fused;
    for (mlir::Operation &op : program.block())
      if (fusionClass(&op) == FusionClass::fused)
        fused.push_back(&op);
    if (fused.size() < 2)
      continue;
    GroupOrder order(program.block());
    Slow slow(program.block());
    for (int question = 0; question < 60; ++question) {
      mlir::Operation *a = fused[below(fused.size())], *b = fused[below(fused.size())];
      if (slow.together(a, b))
        continue;
      bool direct = below(2);
      bool forth = slow.otherPath(a, b, direct), back = slow.otherPath(b, a, false);
      ASSERT_EQ(order.otherPath(a, b, direct), forth) << ops;
      ASSERT_EQ(order.otherPath(b, a, false), back) << ops;
      ++answers[forth];
      if (!forth && !back) {
        order.merge(a, b);
        slow.merge(a, b);
        ++merged;
      }
    }
  }
  EXPECT_GT(merged, 500);
  EXPECT_GT(answers[0], 500);
  EXPECT_GT(answers[1], 500);
}

/// Layers that each keep a value for the way back, where everything that may be is merged; how many
/// ops are looked at for it.
size_t stepsOf(int layers) {
  std::string ops;
  int next = 0, last = -1;
  std::vector<int> kept;
  auto then = [&](int with) {
    ops += add(next, last, with);
    last = next++;
  };
  for (int i = 0; i < layers; ++i) {
    for (int j = 0; j < 4; ++j)
      then(-1);
    kept.push_back(last);
  }
  std::vector<int> gradients;
  for (int i = layers; i-- > 0;) {
    for (int j = 0; j < 4; ++j)
      then(kept[i]);
    gradients.push_back(last);
  }
  // As the global norm of the gradients and their updates.
  for (int i : gradients)
    then(i);
  int norm = last;
  for (int i : gradients)
    ops += add(next++, i, norm);
  Program program(ops);
  return Groups(program.block(), false).steps();
}

TEST(GroupOrder, TakesStepsInProportionToTheLayers) {
  // Enough for groups of the largest size: up to there, an op more is compared with all before it.
  size_t few = stepsOf(300), many = stepsOf(2400);
  EXPECT_LT(many, 9 * few);
}

} // namespace

//===- OrderCollectives.cpp - Orders collectives by when they can start ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ranks run their collectives in one order, even if a later one is ready first. Autodiff
// produces gradients from the last layer to the first, but their reductions stand in the order of
// the parameters: the first would be the last that is ready. This pass orders collectives by the
// depth of their operands, as a machine with unlimited processors would reach them. A collective of
// variables only, such as the all-gather of a parameter, stands where its result is used.
//
// Runs before weir-number-collectives, while the programs of all ranks are still alike. So it looks
// only at their structure, not at sizes.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Collectives.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Microbatches.h"
#include "passes/Passes.h"
#include <queue>

namespace weir {
#define GEN_PASS_DEF_ORDERCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// The number of ops that a collective counts as, so that its users come after the next
/// collectives, which overlap with it.
constexpr int64_t depthOfCollective = 16;

class Orderer {
public:
  explicit Orderer(Block &block) : block(block) {
    for (Operation &op : block.without_terminator()) {
      numbers[&op] = ops.size();
      ops.push_back(&op);
    }
    reads.resize(ops.size());
    for (auto [number, op] : llvm::enumerate(ops))
      op->walk([&, number = number](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *definer = operand.getDefiningOp();
          if (definer && definer->getBlock() == &block)
            reads[number].push_back(numbers.lookup(definer));
          else if (!definer && operand.getParentBlock() == &block)
            ofBatch.insert(number);
        }
      });
  }

  void run() {
    SmallVector<unsigned> some;
    for (auto [number, op] : llvm::enumerate(ops))
      if (hasCollectives(op))
        some.push_back(number);
    if (some.size() < 2)
      return;
    findDepths();
    llvm::stable_sort(some, [&](unsigned a, unsigned b) { return depths[a] < depths[b]; });
    emit(some);
  }

private:
  void findDepths();
  void emit(ArrayRef<unsigned> collectives);

  Block &block;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> numbers;
  std::vector<SmallVector<unsigned, 4>> reads;
  llvm::DenseSet<unsigned> ofBatch; ///< values that depend on the block's arguments
  std::vector<int64_t> depths;
};

void Orderer::findDepths() {
  depths.assign(ops.size(), 0);
  for (unsigned number = 0; number < ops.size(); ++number)
    for (unsigned read : reads[number]) {
      int64_t takes = isCollective(ops[read]) ? depthOfCollective : 1;
      depths[number] = std::max(depths[number], depths[read] + takes);
      if (ofBatch.contains(read))
        ofBatch.insert(number);
    }
  std::vector<int64_t> latest(ops.size(), INT64_MAX);
  for (unsigned number = ops.size(); number-- > 0;) {
    if (!ofBatch.contains(number) && latest[number] != INT64_MAX)
      depths[number] = std::max(depths[number], latest[number]);
    for (unsigned read : reads[number])
      latest[read] = std::min(latest[read], depths[number] - 1);
  }
}

/// All ops in their order, except those that depend on a collective that has moved down.
void Orderer::emit(ArrayRef<unsigned> collectives) {
  std::vector<SmallVector<unsigned, 4>> next(ops.size());
  std::vector<unsigned> waits(ops.size());
  for (unsigned number = 0; number < ops.size(); ++number)
    for (unsigned read : reads[number]) {
      next[read].push_back(number);
      ++waits[number];
    }
  for (auto [before, after] : llvm::zip(collectives, collectives.drop_front())) {
    next[before].push_back(after);
    ++waits[after];
  }
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<unsigned>> ready;
  for (unsigned number = 0; number < ops.size(); ++number)
    if (!waits[number])
      ready.push(number);
  while (!ready.empty()) {
    unsigned number = ready.top();
    ready.pop();
    ops[number]->moveBefore(block.getTerminator());
    for (unsigned after : next[number])
      if (--waits[after] == 0)
        ready.push(after);
  }
}

struct OrderCollectives : weir::impl::OrderCollectivesBase<OrderCollectives> {
  void runOnOperation() override {
    if (getOperation().isExternal() ||
        !getOperation()->getParentOfType<ModuleOp>()->hasAttr(equalShardsAttrName))
      return;
    SmallVector<Block *> blocks = {&getOperation().front()};
    getOperation().walk([&](MicrobatchesOp op) { blocks.push_back(&op.getBody().front()); });
    for (Block *block : blocks)
      Orderer(*block).run();
  }
};

} // namespace

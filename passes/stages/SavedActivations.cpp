//===- SavedActivations.cpp - Activations saved between sections ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/stages/SavedActivations.h"
#include "ir/weir/random/Random.h"
#include "passes/MinCut.h"
#include "support/mesh/MachineRates.h"

using namespace mlir;

namespace weir::stages {
namespace {

/// A kernel makes it for itself, or it is another shape of what is kept.
bool isFree(Operation *op) {
  FusionClass kind = fusionClass(op);
  return kind == FusionClass::cheap || kind == FusionClass::alias;
}

bool isElementwise(Operation *op) { return isa<Pointwise, RandomOp>(op); }

double operations(Operation *op) {
  if (auto random = dyn_cast<RandomOp>(op))
    return random.cost().flops;
  auto pointwise = dyn_cast<Pointwise>(op);
  return pointwise
             ? double(pointwise.weight()) * double(tensorType(op->getResult(0)).getNumElements())
             : 0;
}

class Chooser {
public:
  Chooser(Block &body, const SectionOf &sectionOf) : sectionOf(sectionOf) {
    for (Operation &op : body.without_terminator())
      if (sectionOf.contains(&op) && op.getNumResults() > 0)
        numberOf.try_emplace(&op, int(ops.size())), ops.push_back(&op);
    depths.resize(ops.size());
    reach.resize(ops.size());
    isReadByRoot.resize(ops.size());
  }

  llvm::DenseSet<Operation *> run() {
    for (size_t i = 0; i < ops.size(); ++i)
      depths[i] = depthOf(ops[i]);
    for (size_t i = ops.size(); i-- > 0;)
      lookAtReaders(i);
    MinCut graph(2 + 2 * int(ops.size()));
    for (size_t i = 0; i < ops.size(); ++i)
      add(i, graph);
    std::vector<bool> withSource = graph.solve();
    llvm::DenseSet<Operation *> again;
    for (size_t i = 0; i < ops.size(); ++i)
      if (!withSource[size_t(made(i))] && !isFree(ops[i]) && section(i) != anySection)
        again.insert(ops[i]);
    return again;
  }

private:
  int64_t section(size_t i) const { return sectionOf.lookup(ops[i]); }
  static int made(size_t i) { return 2 + 2 * int(i); } ///< on the sink's side if it is recomputed
  static int there(size_t i) {
    return 3 + 2 * int(i);
  } ///< on the sink's side if later sections have it

  int number(Operation *op) const {
    auto found = numberOf.find(op);
    return found == numberOf.end() ? -1 : found->second;
  }

  /// The largest number of ops before its results that are not elementwise.
  int64_t depthOf(Operation *op) {
    int64_t depth = 0;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && number(maker) >= 0)
        depth = std::max(depth, depths[size_t(number(maker))]);
    return depth + (isElementwise(op) || isFree(op) ? 0 : 1);
  }

  void lookAtReaders(size_t i) {
    for (Operation *user : ops[i]->getUsers()) {
      int j = number(user);
      if (j < 0) {
        isReadByRoot[i] = true; // it is reduced, carried, sent or saved
        continue;
      }
      bool isLater = sectionOf.lookup(user) > section(i);
      if (isFree(user)) {
        reach[i] = std::max(reach[i], reach[size_t(j)]);
        isReadByRoot[i] = isReadByRoot[i] || isReadByRoot[size_t(j)];
      } else if (isElementwise(user)) {
        if (!isLater)
          reach[i] = std::max(reach[i], depths[size_t(j)]);
      } else if (isLater && fusionClass(user) != FusionClass::fused) {
        isReadByRoot[i] = true;
      }
    }
  }

  /// Not a value that is in memory anyway: an op outside kernels reads it, or other ops read it
  /// before and after another reader, as the residuals between a transformer's layers.
  bool mayBeAgain(size_t i) const {
    return isElementwise(ops[i]) && !isReadByRoot[i] && reach[i] <= depths[i];
  }

  void add(size_t i, MinCut &graph) {
    Operation *op = ops[i];
    bool free = isFree(op) || section(i) == anySection;
    // Written once and read once.
    double kept = 0;
    for (Value result : op->getResults())
      kept += 2 * double(storageBytes(result.getType()));
    graph.add(made(i), there(i), free ? MinCut::never : kept);
    if (!free)
      graph.add(0, made(i),
                mayBeAgain(i) ? operations(op) / machines::flopsPerByte : MinCut::never);
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && number(maker) >= 0) {
        size_t from = size_t(number(maker));
        graph.add(there(from), made(i), MinCut::never);
        if (section(i) > section(from) && section(from) != anySection)
          graph.add(there(from), 1, MinCut::never);
      }
  }

  const SectionOf &sectionOf;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, int> numberOf;
  std::vector<int64_t> depths;
  std::vector<int64_t> reach; ///< for each op, the depth of the last elementwise reader there
  std::vector<bool> isReadByRoot;
};

} // namespace

void placeDrawn(Block &body, SectionOf &sectionOf) {
  auto isAny = [&](Operation *op) {
    auto found = sectionOf.find(op);
    return found != sectionOf.end() && found->second == anySection;
  };
  llvm::DenseSet<Operation *> drawn;
  for (Operation &op : body.without_terminator())
    if (isAny(&op) && isElementwise(&op) &&
        (isa<RandomOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
           return drawn.contains(operand.getDefiningOp());
         })))
      drawn.insert(&op);
  // An op of no particular section is computed in each section that reads it, so its operands are
  // read there.
  llvm::DenseMap<Operation *, int64_t> firstReader;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (!isAny(&op))
      continue;
    int64_t first = anySection;
    for (Operation *user : op.getUsers()) {
      // A yielded value of no section belongs to the first one.
      int64_t section = user == body.getTerminator() ? 0
                        : firstReader.contains(user) ? firstReader.lookup(user)
                        : sectionOf.contains(user)   ? sectionOf.lookup(user)
                                                     : anySection;
      if (section != anySection)
        first = first == anySection ? section : std::min(first, section);
    }
    firstReader[&op] = first;
    if (drawn.contains(&op))
      sectionOf[&op] = first;
  }
}

llvm::DenseSet<Operation *> computedAgain(Block &body, const SectionOf &sectionOf) {
  return Chooser(body, sectionOf).run();
}

} // namespace weir::stages

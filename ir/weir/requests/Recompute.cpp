//===- Recompute.cpp - Blocks that are computed again -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/requests/Recompute.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/requests/Blocks.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/Builders.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace weir {

void setRecomputed(ModuleOp module, ArrayRef<std::string> paths) {
  SmallVector<StringRef> all(paths.begin(), paths.end());
  if (all.empty())
    module->removeAttr(recomputeAttrName);
  else
    module->setAttr(recomputeAttrName, Builder(module.getContext()).getStrArrayAttr(all));
}

bool markRecomputed(ModuleOp module, ArrayRef<std::string> patterns, std::string &why) {
  if (patterns.empty())
    return true;
  std::set<std::string> blocks = blocksOf(module), marked;
  if (auto there = module->getAttrOfType<ArrayAttr>(recomputeAttrName))
    for (StringRef path : there.getAsValueRange<StringAttr>())
      marked.insert(path.str());
  for (const std::string &pattern : patterns) {
    bool any = false;
    std::vector<std::string> alike;
    for (const std::string &path : blocks) {
      if (matchesPath(path, pattern)) {
        marked.insert(path);
        any = true;
      }
      if (std::string like = patternOf(path); !path.empty() && !llvm::is_contained(alike, like))
        alike.push_back(like);
    }
    if (!any) {
      std::string near = didYouMean(pattern, alike);
      why = "no block of the model matches \"" + pattern + "\"" +
            (near.empty() ? ": expected one such as " + joinFew(alike, ", ", 8) : near);
      return false;
    }
  }
  setRecomputed(module, outermost(marked));
  return true;
}

Recomputed Recomputed::of(ModuleOp module) {
  Recomputed result;
  if (auto all = module->getAttrOfType<ArrayAttr>(recomputeAttrName))
    for (auto path : all.getAsValueRange<StringAttr>())
      result.paths.insert(path);
  return result;
}

/// The path up to its last number; all of it where there is none.
static StringRef upToNumber(StringRef path) {
  for (StringRef around = path; !around.empty(); around = pathAround(around)) {
    StringRef last = around.contains('.') ? around.rsplit('.').second : around;
    if (llvm::all_of(last, llvm::isDigit))
      return around;
  }
  return path;
}

std::optional<StringRef> Recomputed::startOf(Location loc) const {
  std::optional<StringRef> outermost;
  if (empty())
    return outermost;
  for (StringRef path = instancePath(loc);; path = pathAround(path)) {
    if (paths.contains(path))
      outermost = path;
    if (path.empty())
      break;
  }
  return outermost ? std::optional(upToNumber(*outermost)) : std::nullopt;
}

/// The ops that what a kernel yields is computed by: fusion may have left others.
static llvm::DenseSet<Operation *> liveOps(KernelOp kernel) {
  llvm::DenseSet<Operation *> live = {kernel.getBody().front().getTerminator()};
  for (Operation &op : llvm::reverse(kernel.getBody().front().without_terminator()))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) { return live.contains(user); }))
      live.insert(&op);
  return live;
}

std::set<StringRef> Recomputed::startsOf(KernelOp kernel) const {
  std::set<StringRef> starts;
  if (empty())
    return starts;
  llvm::DenseSet<Operation *> live = liveOps(kernel);
  auto says = [&](Operation &op) { return !isa<View, ConstantOp>(op) && live.contains(&op); };
  auto ops = kernel.getBody().front().without_terminator();
  // A kernel of views alone, such as one that repeats rows, is where these are.
  const bool onlyViews = llvm::none_of(ops, says);
  for (Operation &op : ops) {
    if (!(onlyViews ? isa<View>(op) && live.contains(&op) : says(op)))
      continue;
    std::optional<StringRef> start = startOf(op.getLoc());
    if (!start)
      return {};
    starts.insert(*start);
  }
  return starts;
}

} // namespace weir

//===- OpListing.cpp - What every op owes ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/passes/autodiff/OpListing.h"
#include "ir/reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include <map>
#include <set>

namespace weir::test {
namespace {

/// The least number of cases of an op: no dimensions or sizes of 1, odd sizes, more than a vector.
constexpr size_t casesPerOp = 3;

struct Exemption {
  const char *interface, *reason;
  std::set<std::string> ops;
};

const std::set<std::string> program = {"variable",   "read",         "reload",
                                       "offload",    "all_reduce",   "reduce_scatter",
                                       "all_gather", "all_to_all",   "collective_permute",
                                       "pack",       "unpack",       "write",
                                       "gradient",   "microbatches", "yield",
                                       "kernel",     "loss",         "clip",
                                       "all_finite"};

/// Between the stages of a pipeline.
const std::set<std::string> ofStages = {"send", "receive", "save", "saved"};

const Exemption exemptions[] = {
    {"Costed", "made where costs have been asked for", ofStages},
    {"Shardable", "made of what has been cut", ofStages},
    {"Castable", "made behind precision", ofStages},
    {"Castable", "made behind precision", {"stage_transfer"}},
    {"Fusible", "moves a value and computes none", ofStages},
    {"Fusible", "gone ahead of fusion", {"stage_transfer"}},
    {"Lowerable", "moves a value and computes none", ofStages},
    {"Lowerable", "gone ahead of fusion", {"stage_transfer"}},
    {"Differentiable", "made behind autodiff", ofStages},
    {"Differentiable", "made behind autodiff", {"stage_transfer"}},
    {"Costed", "a part of the program, which computes no tensor by itself", program},
    {"Castable", "a part of the program, which computes no tensor by itself", program},
    {"Shardable", "a part of the program, which computes no tensor by itself", program},
    {"Fusible", "a part of the program, which stays outside of kernels", program},
    {"Lowerable", "a part of the program, which computes no tensor by itself", program},
    {"Lowerable", "a kernel of its own, which codegen knows", {"attention", "attention_grad"}},
    {"Differentiable", "a part of the program, which computes no tensor by itself", program},
    {"Differentiable",
     "its results are no floats, or do not depend on any",
     {"not", "rem", "and", "or", "compare", "is_finite", "constant", "iota", "argmax", "random"}},
    {"Differentiable",
     "what a step writes is rounded so, behind all that is differentiated",
     {"round_at_random"}},
    // A model cannot name them: they come from the gradients of its own ops, and a gradient of a
    // gradient is offered only through ops that have one.
    {"Differentiable",
     "second-order gradients through composites are not offered",
     {"max_pool_grad", "normalize_grad", "softmax_cross_entropy_grad", "attention_grad"}},
    {"Interpretable",
     "a declaration or a terminator, which nothing evaluates",
     {"variable", "yield"}},
};

std::string exemption(const std::string &interface, const std::string &op) {
  for (const Exemption &one : exemptions)
    if (one.interface == interface && one.ops.contains(op))
      return one.reason;
  return "";
}

/// Whether a case's function holds the op it is for, of floats.
bool holdsItsOp(const OpCase &one, mlir::MLIRContext &context) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(one.text, &context);
  bool found = false;
  if (module)
    module->walk([&](mlir::Operation *op) {
      found |= op->getName().getStringRef() == "weir." + one.op &&
               llvm::any_of(op->getOperandTypes(), [](mlir::Type type) {
                 return llvm::cast<mlir::RankedTensorType>(type).getElementType().isF32();
               });
    });
  return found;
}

} // namespace

std::vector<std::string> listingFaults(mlir::MLIRContext &context, const std::string &dialect,
                                       const std::vector<OpCase> &cases) {
  std::vector<std::string> faults;
  std::map<std::string, std::vector<const OpCase *>> casesOf;
  for (const OpCase &one : cases)
    casesOf[one.op].push_back(&one);
  std::set<std::string> names;

  // MLIR's own search by dialect finds nothing where others' names come first.
  std::map<std::string, mlir::RegisteredOperationName> ops;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == dialect)
      ops.emplace(op.getStringRef(), op);
  for (const auto &[full, op] : ops) {
    std::string name = full.substr(dialect.size() + 1);
    names.insert(name);
    const std::pair<std::string, bool> interfaces[] = {
        {"Costed", op.hasInterface<Costed>()},
        {"Castable", op.hasInterface<Castable>()},
        {"Shardable", op.hasInterface<Shardable>()},
        {"Fusible", op.hasInterface<Fusible>()},
        {"Lowerable", op.hasInterface<Lowerable>()},
        {"Differentiable", op.hasInterface<Differentiable>()},
        {"Interpretable", op.hasInterface<Interpretable>()},
    };
    for (const auto &[interface, present] : interfaces) {
      std::string reason = exemption(interface, name);
      if (!present && reason.empty())
        faults.push_back(name + " is not " + interface +
                         ", and no reason is listed in OpListing.cpp");
      if (present && !reason.empty())
        faults.push_back(name + " is " + interface +
                         ", but is listed in OpListing.cpp as: " + reason);
    }
    size_t count = casesOf[name].size();
    if (op.hasInterface<Differentiable>() && count < casesPerOp)
      faults.push_back(name + " has a gradient and " + std::to_string(count) + " of at least " +
                       std::to_string(casesPerOp) + " cases in GradientCases.cpp");
    if (!op.hasInterface<Differentiable>() && count > 0)
      faults.push_back(name + " has cases in GradientCases.cpp, but no gradient");
    for (const OpCase *one : casesOf[name])
      if (!holdsItsOp(*one, context))
        faults.push_back("the case " + one->name + " has no weir." + name + " of floats in it");
  }
  for (const auto &[name, list] : casesOf)
    if (!names.contains(name))
      faults.push_back("the case " + list.front()->name + " is for an op that does not exist");
  for (const Exemption &one : exemptions)
    for (const std::string &name : one.ops)
      if (dialect == "weir" && !names.contains(name))
        faults.push_back("OpListing.cpp lists " + name + ", which does not exist");
  return faults;
}

} // namespace weir::test

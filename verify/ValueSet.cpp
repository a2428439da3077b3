//===- ValueSet.cpp - Values of a program, for looking them up ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/ValueSet.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Access.h"
#include "verify/Compare.h"
#include "llvm/ADT/SetVector.h"

namespace weir {

static bool isSplat(const Tensor &tensor) {
  return !tensor.values.empty() &&
         llvm::all_of(tensor.values, [&](double value) { return value == tensor.values[0]; });
}

void ValueSet::add(const Tensor &tensor) {
  bySize[tensor.values.size()].push_back(tensor);
  if (isSplat(tensor))
    splats.push_back(tensor.values[0]);
}

bool ValueSet::has(const Tensor &tensor) const {
  // One number everywhere may have been spread since.
  if (isSplat(tensor) && llvm::any_of(splats, [&](double value) {
        return std::abs(value - tensor.values[0]) <= passTolerance * std::abs(value);
      }))
    return true;
  auto found = bySize.find(tensor.values.size());
  return found != bySize.end() && llvm::any_of(found->second, [&](const Tensor &other) {
           Tensor same = other;
           same.shape = tensor.shape;
           return compare(tensor, same, passTolerance).agrees;
         });
}

Watched watched(mlir::ModuleOp module, llvm::StringRef entry, const RandomInputs &feed) {
  Watched program{module, feed.inputs.at(entry.str()), {}};
  for (const auto &[name, value] : feed.variablesFor(entry))
    program.given.push_back(value);
  program.run = [module, name = entry.str(), &feed](See see) mutable {
    Interpreter interpreter;
    interpreter.variables = feed.variablesFor(name);
    interpreter.observe = std::move(see);
    (void)interpreter.run(module.lookupSymbol<mlir::func::FuncOp>(name), feed.inputs.at(name));
  };
  return program;
}

Watched watched(RankInterpreter &ranks, int64_t rank, llvm::StringRef entry,
                const RandomInputs &feed) {
  ranks.variables = feed.variablesFor(entry);
  Watched program{ranks.program(rank), ranks.given(rank, entry, feed.inputs.at(entry.str())), {}};
  program.run = [&ranks, rank, name = entry.str(), &feed](See see) {
    ranks.variables = feed.variablesFor(name);
    ranks.observe = [&](int64_t one, mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
      if (one == rank)
        see(op, results);
    };
    (void)ranks.run(name, feed.inputs.at(name));
    ranks.observe = nullptr;
  };
  return program;
}

ValueSet valueSetOf(const Watched &program) {
  ValueSet known;
  for (const Tensor &value : program.given)
    known.add(value);
  program.run([&](mlir::Operation *, llvm::ArrayRef<Tensor> results) {
    for (const Tensor &result : results)
      known.add(result);
  });
  return known;
}

mlir::Operation *rootOf(mlir::ModuleOp module, const Disagreement &what, mlir::Value &value) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(what.entry);
  mlir::Operation *root = nullptr;
  for (auto write : function.getOps<WriteOp>())
    if (write.getVariable() == what.name) {
      root = write;
      value = write.getValue();
    }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto name = function.getResultAttrOfType<mlir::StringAttr>(i, outputAttrName);
    auto part = function.getResultAttrOfType<mlir::StringAttr>(i, partAttrName);
    std::string full = name ? name.str() : "";
    if (part && (part == "sum" || part == "count"))
      full += "." + part.str();
    if (full == what.name) {
      root = function.getBody().front().getTerminator();
      value = root->getOperand(i);
    }
  }
  return root;
}

llvm::DenseSet<mlir::Operation *> sliceOf(mlir::Value value) {
  llvm::SetVector<mlir::Operation *> open;
  auto add = [&](mlir::Value operand) {
    if (mlir::Operation *op = operand.getDefiningOp())
      open.insert(op);
    else if (mlir::Operation *around = operand.getParentBlock()->getParentOp();
             !llvm::isa<mlir::func::FuncOp>(around))
      open.insert(around);
  };
  add(value);
  llvm::DenseSet<mlir::Operation *> slice;
  for (size_t i = 0; i < open.size(); ++i) {
    mlir::Operation *op = open[i];
    op->walk([&](mlir::Operation *inner) {
      slice.insert(inner);
      for (mlir::Value operand : inner->getOperands())
        add(operand);
    });
  }
  return slice;
}

} // namespace weir

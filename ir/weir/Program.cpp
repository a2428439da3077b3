//===- Program.cpp - What every training program has ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Program.h"
#include "ir/weir/Names.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Variable.h"
#include "support/program/Entries.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace weir {

mlir::LogicalResult requireBody(mlir::func::FuncOp entry) {
  if (!entry.getBody().hasOneBlock() ||
      !llvm::isa<mlir::func::ReturnOp>(entry.getBody().front().back()))
    return entry.emitError("is no entry: expected a body of one block");
  return mlir::success();
}

std::string missingLoss(func::FuncOp entry) {
  struct Parts {
    unsigned sums = 0, counts = 0;
  };
  std::map<int64_t, Parts> terms;
  std::string name = "`" + entry.getSymName().str() + "`";
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    auto output = entry.getResultAttrOfType<StringAttr>(i, outputAttrName);
    if (!output || output.getValue() != "loss")
      continue;
    auto part = entry.getResultAttrOfType<StringAttr>(i, partAttrName);
    auto term = entry.getResultAttrOfType<IntegerAttr>(i, termAttrName);
    if (!part || !term)
      return name + " has a loss that is no sum and count";
    Parts &parts = terms[term.getInt()];
    parts.sums += part.getValue() == "sum";
    parts.counts += part.getValue() == "count";
  }
  if (terms.empty())
    return name + " has no loss";
  for (auto [term, parts] : terms)
    if (parts.sums != 1 || parts.counts != 1)
      return name + " has a loss whose term " + std::to_string(term) + " lacks its sum or count";
  return "";
}

static llvm::StringSet<> written(func::FuncOp function) {
  llvm::StringSet<> names;
  function.walk([&](WriteOp write) { names.insert(write.getVariable()); });
  return names;
}

std::string missingPart(ModuleOp program) {
  // A lookup in the module goes through its variables, of which there are many.
  llvm::MapVector<StringRef, func::FuncOp> entries;
  for (auto entry : program.getOps<func::FuncOp>())
    entries.insert({entry.getSymName(), entry});
  for (const char *name : {"init", "step", "eval"})
    if (!entries.contains(name))
      return std::string("there is no `") + name + "`";
  for (const char *name : {"step", "eval", "eval_one"})
    if (auto entry = entries.lookup(name))
      if (std::string missing = missingLoss(entry); !missing.empty())
        return missing;
  for (auto [name, entry] : entries)
    if (name != "init" && name != statesEntry && entry.getNumResults() == 0)
      return "`" + name.str() + "` has no result";
  llvm::StringSet<> initialised = written(entries.lookup("init"));
  llvm::StringSet<> updated = written(entries.lookup("step"));
  bool trains = !entries.lookup("step")
                     .walk([](GradientOp) { return WalkResult::interrupt(); })
                     .wasInterrupted();
  for (auto variable : program.getOps<VariableOp>()) {
    if (variable.getRole() != Role::run && !initialised.contains(variable.getSymName()))
      return "`" + variable.getSymName().str() + "` has no initial value";
    trains |= variable.getRole() == Role::parameter && updated.contains(variable.getSymName());
  }
  return trains ? "" : "no parameter is updated";
}

llvm::StringSet<> variablesOnHost(ModuleOp program) {
  llvm::StringSet<> names;
  for (auto variable : program.getOps<VariableOp>())
    if (variable.getHost())
      names.insert(variable.getSymName());
  return names;
}

} // namespace weir

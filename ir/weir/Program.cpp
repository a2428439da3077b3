//===- Program.cpp - What every training program has ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Program.h"
#include "ir/weir/WeirDialect.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;

namespace weir {

std::string missingLoss(func::FuncOp entry) {
  struct Parts {
    unsigned sums = 0, counts = 0;
  };
  std::map<int64_t, Parts> terms;
  std::string name = "`" + entry.getSymName().str() + "`";
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    auto output = entry.getResultAttrOfType<StringAttr>(i, "weir.output");
    if (!output || output.getValue() != "loss")
      continue;
    auto part = entry.getResultAttrOfType<StringAttr>(i, "weir.part");
    auto term = entry.getResultAttrOfType<IntegerAttr>(i, "weir.term");
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
  for (const char *name : {"init", "step", "eval"})
    if (!program.lookupSymbol<func::FuncOp>(name))
      return std::string("there is no `") + name + "`";
  for (const char *name : {"step", "eval", "eval_one"})
    if (auto entry = program.lookupSymbol<func::FuncOp>(name))
      if (std::string missing = missingLoss(entry); !missing.empty())
        return missing;
  for (auto entry : program.getOps<func::FuncOp>())
    if (entry.getSymName() != "init" && entry.getNumResults() == 0)
      return "`" + entry.getSymName().str() + "` has no result";
  llvm::StringSet<> initialised = written(program.lookupSymbol<func::FuncOp>("init"));
  llvm::StringSet<> updated = written(program.lookupSymbol<func::FuncOp>("step"));
  bool trains = false;
  for (auto variable : program.getOps<VariableOp>()) {
    if (variable.getRole() != Role::run && !initialised.contains(variable.getSymName()))
      return "`" + variable.getSymName().str() + "` has no initial value";
    trains |= variable.getRole() == Role::parameter && updated.contains(variable.getSymName());
  }
  return trains ? "" : "no parameter is updated";
}

} // namespace weir

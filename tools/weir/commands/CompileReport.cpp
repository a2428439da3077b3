//===- CompileReport.cpp - weir compile --report --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/CompileReport.h"
#include "tools/common/Files.h"
#include <nlohmann/json.hpp>

using nlohmann::ordered_json;

namespace weir {

void CompileReport::add(std::vector<Stage> &stages, llvm::StringRef name, mlir::ModuleOp module) {
  if (path.empty() || !module)
    return;
  auto stage = llvm::find_if(stages, [&](const Stage &known) { return known.name == name; });
  if (stage == stages.end())
    stage = stages.insert(stages.end(), {name.str(), 0, 0});
  ++stage->modules;
  module.walk([&](mlir::Operation *) { ++stage->operations; });
}

void CompileReport::write() const {
  if (path.empty())
    return;
  ordered_json facts = {{"phases", ordered_json::array()}, {"kernels", ordered_json::array()}};
  for (const Stage &group : groups)
    facts["phases"].push_back(
        {{"phase", group.name}, {"programs", group.modules}, {"operations", group.operations}});
  for (const Stage &step : kernels)
    facts["kernels"].push_back({{"step", step.name}, {"operations", step.operations}});
  writeFile(path, facts.dump(2) + "\n");
}

} // namespace weir

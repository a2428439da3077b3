//===- LocationsTest.cpp - Debug locations decide nothing -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "passes/Pipeline.h"
#include "strategy/Fields.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

void stripLocations(mlir::ModuleOp module) {
  const mlir::Location unknown = mlir::UnknownLoc::get(module.getContext());
  module->walk([&](mlir::Operation *op) {
    op->setLoc(unknown);
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (mlir::BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
  });
}

/// Of what a plan contains, without locations. Reports in the module's attributes have lines of the
/// model, which is what they are for.
std::string planned(mlir::ModuleOp module, const std::string &strategy) {
  PipelineOptions options{.target = makeTarget("cpu:x86-64-v3"),
                          .strategy = strategy::parsed(strategy)};
  if (mlir::failed(runPassGroups(module, options, "plan")))
    return "it cannot be compiled";
  std::string text;
  llvm::raw_string_ostream out(text);
  for (mlir::Operation &op : *module.getBody()) {
    op.print(out, mlir::OpPrintingFlags().enableDebugInfo(false));
    out << "\n";
  }
  return text;
}

class WithoutLocations : public testing::TestWithParam<const char *> {};

TEST_P(WithoutLocations, APlanIsTheSame) {
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  registerTargetDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  SourceManager sources;
  Diagnostics diagnostics;
  auto module =
      elaborate(
          WEIR_MODELS "/gpt-char.weir",
          {{"layers", "2"}, {"width", "32"}, {"heads", "2"}, {"context", "8"}, {"batch", "4"}},
          sources, context, diagnostics)
          .module;
  ASSERT_TRUE(module);
  mlir::OwningOpRef<mlir::ModuleOp> stripped(module->clone());
  stripLocations(*stripped);
  const std::string expected = planned(*module, GetParam());
  EXPECT_NE(expected.find("plan.launch"), std::string::npos);
  EXPECT_EQ(planned(*stripped, GetParam()), expected);
}

INSTANTIATE_TEST_SUITE_P(Strategies, WithoutLocations,
                         testing::Values("mesh=dp=2", "mesh=dp=2 zero=3 precision=bf16",
                                         "mesh=pp=2,dp=2 microbatches=2 zero=1",
                                         "mesh=pp=2 microbatches=4 schedule=zero-bubble",
                                         "mesh=tp=2 grad-reduce-dtype=bf16"));

} // namespace

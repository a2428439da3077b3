//===- weir-opt.cpp - mlir-opt with Weir's dialects and passes ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/check/CheckDialect.h"
#include "ir/reference/PlanInterpreter.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "tools/common/CommandLine.h"
#include "tools/weir-opt/Run.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

/// Runs what --run asks for after the passes of the command line, and keeps the IR to itself.
static int runFunction(StringRef path, DialectRegistry &registry) {
  std::string problem;
  auto file = openInputFile(path, &problem);
  if (!file) {
    llvm::errs() << "error: " << problem << "\n";
    return EXIT_FAILURE;
  }
  MlirOptMainConfig asked = MlirOptMainConfig::createFromCLOptions(), config = asked;
  config.setPassPipelineSetupFn([&](PassManager &manager) {
    if (failed(asked.setupPassPipeline(manager)))
      return failure();
    manager.addPass(weir::createRunPass());
    return success();
  });
  return asMainReturnCode(MlirOptMain(llvm::nulls(), std::move(file), registry, config));
}

static int run(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllPasses();
  registry.insert<weir::WeirDialect, weir::plan::PlanDialect, weir::check::CheckDialect>();
  weir::registerReferenceInterpreter(registry);
  weir::registerPlanInterpreter(registry);
  weir::registerPasses();
  weir::registerRunOptions();
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "Weir's dialects and passes\n", registry);
  if (weir::runWasAsked())
    return runFunction(input, registry);
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
}

int main(int argc, char **argv) {
  llvm::InitLLVM setUp(argc, argv);
  return weir::guarded([&] { return weir::Exit(run(argc, argv)); });
}

//===- weir-opt.cpp - mlir-opt with Weir's dialects and passes ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/plan/LowerToPlan.h"
#include "passes/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<weir::WeirDialect>();
  registry.insert<weir::plan::PlanDialect>();
  weir::registerPasses();
  weir::registerLowerToPlan();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Weir's dialects and passes\n", registry));
}

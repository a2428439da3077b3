//===- weir-opt.cpp - mlir-opt with Weir's dialects and passes ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/WeirDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#ifdef WEIR_HAS_PLAN
#include "ir/plan/PlanDialect.h"
#endif
#ifdef WEIR_HAS_PASSES
#include "passes/Passes.h"
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<weir::WeirDialect>();
#ifdef WEIR_HAS_PLAN
  registry.insert<weir::plan::PlanDialect>();
#endif
#ifdef WEIR_HAS_PASSES
  weir::registerPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Weir's dialects and passes\n", registry));
}

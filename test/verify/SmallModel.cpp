//===- SmallModel.cpp - What verification is tested with ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/verify/SmallModel.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/plan/PlanOps.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/weir/Locations.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace weir::test {

bool isGradient(Operation *op) {
  auto name = llvm::dyn_cast<NameLoc>(op->getLoc());
  return name && name.getName() == gradientLocName;
}

bool hasShape(Value value, llvm::ArrayRef<int64_t> shape) { return shapeOf(value) == shape; }

ModelFile::ModelFile(const char *text) {
  llvm::SmallString<128> made;
  int file;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("verify-test", "weir", file, made));
  llvm::raw_fd_ostream(file, true) << text;
  path = made.str().str();
}

ModelFile::~ModelFile() { llvm::sys::fs::remove(path); }

DialectRegistry reference() {
  DialectRegistry registry;
  registerReferenceInterpreter(registry);
  registerPlanInterpreter(registry);
  return registry;
}

plan::AllocOp buffer(ModuleOp plan, StringRef label, uint64_t size) {
  return first<plan::AllocOp>(
      plan, [&](plan::AllocOp op) { return op.getLabel() == label && op.getSize() == size; });
}

FailureOr<VerifyReport> verified(int microbatches, bool full,
                                 std::function<void(llvm::StringRef, ModuleOp)> tamper,
                                 llvm::function_ref<void(ModuleOp)> before, const char *model,
                                 const char *mesh, int64_t zero) {
  ModelFile file(model);
  MLIRContext context(reference());
  context.disableMultithreading();
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult result = elaborate(file.path, {{"microbatches", std::to_string(microbatches)}},
                                     sources, context, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  EXPECT_TRUE(result.module);
  if (before)
    before(*result.module);
  VerifyOptions options;
  options.target = "cpu";
  options.full = full;
  options.strategy.mesh = std::get<Mesh>(Mesh::parse(mesh));
  options.strategy.zero = zero;
  options.tamper = std::move(tamper);
  return verifyProgram(*result.module, options);
}

} // namespace weir::test

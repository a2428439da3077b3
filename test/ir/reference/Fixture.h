//===- Fixture.h - Programs in text on the reference interpreter ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_IR_REFERENCE_FIXTURE_H
#define WEIR_TEST_IR_REFERENCE_FIXTURE_H

#include "ir/reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace weir {

class ReferenceFixture : public testing::Test {
protected:
  ReferenceFixture() {
    registry.insert<WeirDialect, mlir::func::FuncDialect>();
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Runs the function @f of a module, which stays in `module`.
  mlir::FailureOr<Tensors> run(const std::string &text, llvm::ArrayRef<Tensor> inputs) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return interpreter.run(module->lookupSymbol<mlir::func::FuncOp>("f"), inputs);
  }

  static Tensor vector(std::vector<double> values) {
    Tensor result(Shape{static_cast<int64_t>(values.size())});
    result.values = std::move(values);
    return result;
  }

  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Interpreter interpreter;
};

} // namespace weir

#endif

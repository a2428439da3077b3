//===- OpListingTest.cpp - Every op has what it owes ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/passes/autodiff/OpListing.h"
#include "ir/weir/WeirDialect.h"
#include "test/passes/autodiff/GradientCheck.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::test;

namespace {

/// An op as someone adds it who forgets the rest.
class BareOp : public mlir::Op<BareOp> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "unproven.bare"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
};

/// An op with a gradient that nobody tested.
class UntestedOp : public mlir::Op<UntestedOp, Differentiable::Trait> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "unproven.untested"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  mlir::LogicalResult vjp(mlir::OpBuilder &, llvm::ArrayRef<mlir::Value>,
                          llvm::SmallVectorImpl<mlir::Value> &) {
    return mlir::success();
  }
};

class UnprovenDialect : public mlir::Dialect {
public:
  explicit UnprovenDialect(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context, mlir::TypeID::get<UnprovenDialect>()) {
    addOperations<BareOp, UntestedOp>();
  }
  static llvm::StringRef getDialectNamespace() { return "unproven"; }
};

TEST(OpListing, everyOpHasItsInterfacesAndCases) {
  mlir::MLIRContext context;
  prepareContext(context);
  EXPECT_EQ(lines(listingFaults(context, "weir", opCases())), "");
}

TEST(OpListing, anOpWithoutInterfacesIsReported) {
  mlir::MLIRContext context;
  prepareContext(context);
  context.loadDialect<UnprovenDialect>();
  EXPECT_EQ(lines(listingFaults(context, "unproven", {})),
            "bare is not Costed, and no reason is listed in OpListing.cpp\n"
            "bare is not Castable, and no reason is listed in OpListing.cpp\n"
            "bare is not Shardable, and no reason is listed in OpListing.cpp\n"
            "bare is not Fusible, and no reason is listed in OpListing.cpp\n"
            "bare is not Lowerable, and no reason is listed in OpListing.cpp\n"
            "bare is not Differentiable, and no reason is listed in OpListing.cpp\n"
            "bare is not Interpretable, and no reason is listed in OpListing.cpp\n"
            "untested is not Costed, and no reason is listed in OpListing.cpp\n"
            "untested is not Castable, and no reason is listed in OpListing.cpp\n"
            "untested is not Shardable, and no reason is listed in OpListing.cpp\n"
            "untested is not Fusible, and no reason is listed in OpListing.cpp\n"
            "untested is not Lowerable, and no reason is listed in OpListing.cpp\n"
            "untested is not Interpretable, and no reason is listed in OpListing.cpp\n"
            "untested has a gradient and 0 of at least 3 cases in GradientCases.cpp\n");
}

TEST(OpListing, aMissingCaseIsReported) {
  mlir::MLIRContext context;
  prepareContext(context);
  std::vector<OpCase> cases = opCases();
  llvm::erase_if(cases, [](const OpCase &one) { return one.op == "tanh"; });
  EXPECT_EQ(lines(listingFaults(context, "weir", cases)),
            "tanh has a gradient and 0 of at least 3 cases in GradientCases.cpp"
            "\n");
}

TEST(OpListing, aCaseWithoutItsOpIsReported) {
  mlir::MLIRContext context;
  prepareContext(context);
  std::vector<OpCase> cases = opCases();
  for (OpCase &one : cases)
    if (one.name == "tanh_of_scalar")
      one.text = replaced(one.text, "weir.tanh", "weir.exp");
  EXPECT_EQ(lines(listingFaults(context, "weir", cases)),
            "the case tanh_of_scalar has no weir.tanh of floats in it"
            "\n");
}

} // namespace

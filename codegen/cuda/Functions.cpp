//===- Functions.cpp - Elementary functions of kernels --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Functions.h"

#include "codegen/cuda/Print.h"
#include "codegen/kernel/Expand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace weir {
namespace {

/// Every function: a module of one function of one op.
struct Definition {
  Type argument, result;
  StringRef op;
  Type element; ///< of low precision, of the op's operand or result; null for none
};

SmallVector<Definition> definitions(MLIRContext &context) {
  Builder builder(&context);
  Type f32 = builder.getF32Type();
  SmallVector<Definition> all;
  for (StringRef op :
       {"math.log", "math.log1p", "math.expm1", "math.tanh", "math.erf", "math.sin", "math.cos"})
    all.push_back({f32, f32, op, Type()});
  // What is missing here is in weir_scalar.h and weir_prims.h: every GPU has it, or nearly.
  for (Type element : {Type(builder.getBF16Type()), Type(Float8E4M3FNType::get(&context)),
                       Type(Float8E5M2Type::get(&context))}) {
    Type bits = builder.getIntegerType(element.getIntOrFloatBitWidth());
    all.push_back({bits, f32, "arith.extf", element});
    if (!element.isBF16())
      all.push_back({f32, bits, "arith.truncf", element});
  }
  return all;
}

} // namespace

std::string elementaryFunctions(MLIRContext &context, const std::set<std::string> &names) {
  std::string text;
  for (const Definition &definition : definitions(context)) {
    Location loc = UnknownLoc::get(&context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    auto function = func::FuncOp::create(
        builder, loc, "function", builder.getFunctionType(definition.argument, definition.result));
    builder.setInsertionPointToStart(function.addEntryBlock());
    Value value = function.getArgument(0);
    bool widens = definition.op == "arith.extf", narrows = definition.op == "arith.truncf";
    if (widens)
      value = arith::BitcastOp::create(builder, loc, definition.element, value);
    Type made = narrows ? definition.element : definition.result;
    Operation *op = builder.create(loc, builder.getStringAttr(definition.op), value, made);
    std::string name = elementaryFunction(op);
    if (!names.contains(name))
      continue;
    value = op->getResult(0);
    if (narrows)
      value = arith::BitcastOp::create(builder, loc, definition.result, value);
    func::ReturnOp::create(builder, loc, value);
    approximateMath(*module, Exponential::byTarget);
    // As exact as the polynomials of a quotient are.
    module->walk([](arith::DivFOp op) { op.setFastmath(arith::FastMathFlags::arcp); });
    expandSmallFloats(*module, /*halves=*/true);
    PassManager passes(&context);
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    std::set<std::string> calls;
    FunctionText head{"static __device__ __forceinline__ " + cudaType(definition.result) + " " +
                          name,
                      {{cudaType(definition.argument), "x"}},
                      ""};
    if (failed(passes.run(*module)))
      llvm::report_fatal_error("an elementary function does not simplify");
    FailureOr<std::string> printed = printFunction(function, head, calls);
    calls.erase("weir_exp");
    assert(succeeded(printed) && calls.empty() && "functions are arithmetic and weir_exp");
    text += *printed + "\n";
  }
  return text;
}

} // namespace weir

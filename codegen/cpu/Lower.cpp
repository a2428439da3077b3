//===- Lower.cpp - From emitted kernels to the LLVM dialect ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lower.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace weir {

void approximateMath(ModuleOp module) {
  RewritePatternSet expansions(module.getContext());
  math::populateExpansionPatterns(expansions, {"powf", "rsqrt"});
  (void)applyPatternsGreedily(module, std::move(expansions));

  RewritePatternSet approximations(module.getContext());
  populateMathPolynomialApproximationPatterns(approximations, [](StringRef name) {
    return llvm::is_contained({"math.exp", "math.log", "math.log1p", "math.expm1", "math.tanh", "math.erf", "math.sin",
                               "math.cos", "exp", "log", "log1p", "expm1", "tanh", "erf", "sin", "cos"},
                              name);
  });
  (void)applyPatternsGreedily(module, std::move(approximations));

  // Never ninf: it licenses folding the infinities that maxima start from. nnan stands where it was put.
  auto flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract | arith::FastMathFlags::nsz |
               arith::FastMathFlags::arcp | arith::FastMathFlags::afn;
  module.walk([&](arith::ArithFastMathInterface op) {
    auto all = flags;
    if (auto own = op.getFastMathFlagsAttr())
      all = all | own.getValue();
    op->setAttr(op.getFastMathAttrName(), arith::FastMathFlagsAttr::get(module.getContext(), all));
  });
}

LogicalResult lowerToLLVM(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  passes.addPass(createConvertVectorToLLVMPass(vectors));
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

} // namespace weir

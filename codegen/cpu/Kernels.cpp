//===- Kernels.cpp - Planning and compiling kernels -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Kernels.h"

#include "codegen/cpu/Emission.h"
#include "codegen/cpu/Families.h"
#include "codegen/cpu/Lower.h"
#include "codegen/cpu/Vectorize.h"
#include "ir/weir/Decompose.h"
#include "ir/weir/KernelStructure.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

#include <exception>
#include <system_error>
#include <thread>

using namespace mlir;

namespace weir {
namespace {

/// A fixed number, so that the bytes do not depend on the machine that compiles.
constexpr size_t parallelModules = 4;

void loadDialects(MLIRContext &context) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

FailureOr<KernelPlan> emitInto(ModuleOp module, KernelOp kernel, StringRef symbol,
                               const Target &target, size_t keys = 0) {
  // Composites are taken apart in a copy: the region stays the kernel's meaning.
  OwningOpRef<KernelOp> copy(kernel.clone());
  if (kernel.getShape() == KernelShape::row || kernel.getShape() == KernelShape::map) {
    RewritePatternSet patterns(kernel.getContext());
    populateDecomposePatterns(patterns);
    (void)applyPatternsGreedily(copy->getBody(), std::move(patterns));
    IRRewriter rewriter(kernel.getContext());
    DominanceInfo dominance(*copy);
    eliminateCommonSubExpressions(rewriter, dominance, *copy);
  }
  Emission emission(*copy, symbol, target, module, keys);
  LogicalResult result = failure();
  switch (kernel.getShape()) {
  case KernelShape::map:
    result = emitMap(emission);
    break;
  case KernelShape::row:
    result = emitRows(emission);
    break;
  case KernelShape::nest:
    result = emitNest(emission);
    break;
  case KernelShape::segment:
    result = emitSegment(emission);
    break;
  case KernelShape::attention:
    result = emitAttention(emission);
    break;
  case KernelShape::product:
  case KernelShape::convolution:
    return kernel.emitError("a library call, not a kernel to compile");
  }
  if (failed(result))
    return failure();
  emission.findInPlace();
  return emission.plan;
}

LogicalResult simplify(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

/// Takes the functions out of the module. LLVM needs most of the time of all phases, and works on
/// modules side by side.
FailureOr<std::vector<ObjectBytes>> compileInParallel(ModuleOp module, const Target &target) {
  SmallVector<SmallVector<Operation *>> functions; // each with those that call it behind it
  for (Operation &op : module.getBody()->getOperations()) {
    if (cast<LLVM::LLVMFuncOp>(op).getOps<LLVM::CallOp>().empty())
      functions.emplace_back();
    functions.back().push_back(&op);
  }
  size_t count = std::min(functions.size(), parallelModules);
  std::vector<OwningOpRef<ModuleOp>> parts;
  for (size_t i = 0; i < count; ++i)
    parts.push_back(ModuleOp::create(module.getLoc()));
  for (auto [i, together] : llvm::enumerate(functions))
    for (Operation *function : together)
      function->moveBefore(parts[i % count]->getBody(), parts[i % count]->getBody()->end());

  std::vector<FailureOr<ObjectBytes>> compiled(count, failure());
  std::vector<std::exception_ptr> thrown(count);
  auto compile = [&](size_t i) {
    try {
      compiled[i] = compileToObject(*parts[i], target);
    } catch (...) {
      thrown[i] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (size_t i = 0; i < count; ++i)
    try {
      // A context without threads has no locks either.
      if (module.getContext()->isMultithreadingEnabled()) {
        threads.emplace_back(compile, i);
        continue;
      }
      compile(i);
    } catch (const std::system_error &) {
      compile(i); // there is no other thread to be had
    }
  for (std::thread &thread : threads)
    thread.join();
  for (const std::exception_ptr &exception : thrown)
    if (exception)
      std::rethrow_exception(exception);
  std::vector<ObjectBytes> objects;
  for (FailureOr<ObjectBytes> &object : compiled) {
    if (failed(object))
      return failure();
    objects.push_back(std::move(*object));
  }
  return objects;
}

FailureOr<KernelPlan> emitFamily(ModuleOp module, const KernelFamily &family,
                                 const Target &target) {
  if (!family.isShared())
    return emitInto(module, family.first, family.symbol(), target);
  OwningOpRef<KernelOp> any = withPlacesAsKeys(family.first);
  return emitInto(module, *any, family.symbol(), target, family.members.front().keys.size());
}

} // namespace

FailureOr<KernelPlan> planKernel(KernelOp kernel, const Target &target) {
  loadDialects(*kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  return emitInto(*module, kernel, "planned", target);
}

FailureOr<std::vector<char>> compileKernels(ArrayRef<NamedKernel> kernels, const Target &target,
                                            DumpKernels dump, TimingScope time) {
  if (kernels.empty())
    return std::vector<char>();
  MLIRContext &context = *kernels.front().op->getContext();
  loadDialects(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  TimingScope step = time.nest("emit");
  std::vector<KernelFamily> families = familiesOf(kernels);
  std::vector<SmallVector<LaunchPlan>> launches;
  for (const KernelFamily &family : families) {
    FailureOr<KernelPlan> plan = emitFamily(*module, family, target);
    if (failed(plan))
      return failure();
    launches.push_back(plan->launches);
  }
  if (dump)
    dump("emitted", *module);

  step = time.nest("vectorize");
  if (failed(simplify(*module)))
    return failure();
  hoistInvariants(*module);
  vectorizeLoops(*module, target);
  if (dump)
    dump("vectorized", *module);

  step = time.nest("lower");
  approximateMath(*module);
  if (failed(lowerToLLVM(*module)))
    return failure();
  for (auto [family, launched] : llvm::zip(families, launches))
    if (family.isShared())
      addMembers(*module, family, launched);
  if (dump)
    dump("lowered", *module);

  step = time.nest("objects");
  FailureOr<std::vector<ObjectBytes>> objects = compileInParallel(*module, target);
  if (failed(objects))
    return failure();
  step = time.nest("link");
  return linkObjects(*objects, module->getLoc());
}

} // namespace weir

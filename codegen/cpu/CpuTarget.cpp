//===- CpuTarget.cpp - Planning and compiling kernels ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuTarget.h"
#include "codegen/NamedKernel.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/product/Product.h"

#include "codegen/cpu/Compile.h"
#include "codegen/cpu/Emission.h"
#include "codegen/cpu/Library.h"
#include "codegen/kernel/Families.h"
#include "ir/weir/interfaces/Decompose.h"
#include "ir/weir/kernel/KernelStructure.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weir {
namespace {

/// A kernel's functions, called by their launches' suffixes behind `functionPrefix`. The keys of
/// its random numbers are yet to be put in.
struct EmittedKernel {
  OwningOpRef<KernelOp> kernel; ///< with places for keys
  OwningOpRef<ModuleOp> code;
  KernelPlan plan;
};

constexpr llvm::StringLiteral functionPrefix = "kernel";

LogicalResult emitShape(Emission &emission) {
  switch (emission.kernel.getShape()) {
  case KernelShape::map:
    return emitMap(emission);
  case KernelShape::row:
    return emitRows(emission);
  case KernelShape::nest:
    return emitNest(emission);
  case KernelShape::segment:
    return emitSegment(emission);
  case KernelShape::attention:
    return emitAttention(emission);
  case KernelShape::product:
  case KernelShape::call:
    break;
  }
  return emission.kernel.emitError("a library call, not a kernel to compile");
}

LogicalResult requireServedTypes(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    for (StringRef name : {"compute", "accumulate"})
      if (auto work = op.getAttrOfType<TypeAttr>(name); work && !work.getValue().isF32())
        return op.emitOpError() << "is to " << name << " in " << work.getValue()
                                << ": processors work in f32 alone";
  return success();
}

LogicalResult emit(EmittedKernel &emitted, const Processor &processor) {
  KernelOp kernel = *emitted.kernel;
  // Composites are taken apart in a copy: what is compared is the kernel's meaning.
  OwningOpRef<KernelOp> copy(kernel.clone());
  if (kernel.getShape() == KernelShape::row || kernel.getShape() == KernelShape::map) {
    RewritePatternSet patterns(kernel.getContext());
    populateDecomposePatterns(patterns);
    (void)applyPatternsGreedily(copy->getBody(), std::move(patterns));
    IRRewriter rewriter(kernel.getContext());
    DominanceInfo dominance(*copy);
    eliminateCommonSubExpressions(rewriter, dominance, *copy);
  }
  emitted.code = ModuleOp::create(kernel.getLoc());
  Emission emission(*copy, functionPrefix, processor, *emitted.code);
  if (failed(emitShape(emission)))
    return failure();
  emission.findInPlace();
  emitted.plan = emission.plan;
  return success();
}

class CpuTarget final : public Target {
public:
  explicit CpuTarget(Processor processor) : processor(std::move(processor)) {}

  StringRef requirement() const override { return processor.level; }
  int64_t mostIndexed() const override { return mostElements; }
  plan::CodeFormat codeFormat() const override { return plan::CodeFormat::elf; }
  std::string declines(KernelShape shape, Operation *root) const override {
    return libraryDeclines(shape, root);
  }
  Type factorType(Type low) const override;
  bool multiplies(MatmulOp, Type, Type) const override { return false; }
  bool takes(Operation *root, Epilogue epilogue) const override {
    return libraryTakes(root, epilogue);
  }
  bool roundsFactors() const override { return false; }
  const DeviceRates &rates() const override {
    return processor.vectorBits == 512 ? machines::cpu512 : machines::cpu256;
  }
  bool reducesInSteps() const override { return false; }
  bool stagesPorts() const override { return false; }
  int64_t mostCopies(KernelOp) const override { return 1; }
  bool isCall(KernelOp kernel) const override { return isLibraryShape(kernel.getShape()); }
  FailureOr<KernelPlan> planKernel(KernelOp kernel) override;
  FailureOr<int64_t> planCall(OpBuilder &builder, KernelOp kernel,
                              const CallBuffers &buffers) override {
    if (failed(requireServedTypes(kernel)))
      return failure();
    return emitLibraryCall(builder, kernel, buffers, processor);
  }
  FailureOr<std::vector<char>> compile(ArrayRef<NamedKernel> kernels, DumpKernels dump,
                                       TimingScope time) override;

private:
  FailureOr<EmittedKernel *> emittedOf(KernelOp kernel);
  FailureOr<std::vector<EmittedFamily>> emitFamilies(ArrayRef<NamedKernel> kernels,
                                                     ModuleOp module);

  Processor processor;
  /// What is planned is compiled later, from the same functions.
  llvm::DenseMap<Operation *, std::unique_ptr<EmittedKernel>, KernelStructure> emitted;
};

Type CpuTarget::factorType(Type low) const {
  // bf16 holds all numbers of eight bits.
  if (processor.multipliesBf16 && (low.isBF16() || storedBytes(low) == 1))
    return BFloat16Type::get(low.getContext());
  return Float32Type::get(low.getContext());
}

/// A kernel is emitted once, whatever the keys of its random numbers.
FailureOr<EmittedKernel *> CpuTarget::emittedOf(KernelOp kernel) {
  OwningOpRef<KernelOp> any = withPlacesAsKeys(kernel);
  if (auto known = emitted.find(*any); known != emitted.end())
    return known->second.get();
  if (failed(requireServedTypes(kernel)))
    return failure();
  auto made = std::make_unique<EmittedKernel>();
  made->kernel = std::move(any);
  if (failed(emit(*made, processor)))
    return failure();
  made->kernel->getOperation()->setOperands({});
  Operation *key = *made->kernel;
  return emitted.try_emplace(key, std::move(made)).first->second.get();
}

FailureOr<KernelPlan> CpuTarget::planKernel(KernelOp kernel) {
  FailureOr<EmittedKernel *> made = emittedOf(kernel);
  if (failed(made))
    return failure();
  return (*made)->plan;
}

/// Moves the kernels' functions into `module`.
FailureOr<std::vector<EmittedFamily>> CpuTarget::emitFamilies(ArrayRef<NamedKernel> kernels,
                                                              ModuleOp module) {
  llvm::MapVector<EmittedKernel *, KernelFamily> families;
  for (const NamedKernel &kernel : kernels) {
    FailureOr<EmittedKernel *> made = emittedOf(kernel.op);
    if (failed(made))
      return failure();
    KernelFamily &family = families[*made];
    family.launches = (*made)->plan.launches;
    family.members.push_back({kernel.symbol, randomKeys(kernel.op)});
  }
  std::vector<EmittedFamily> list;
  for (auto &[made, family] : families) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    made->code->print(stream, OpPrintingFlags().assumeVerified());
    auto functions = llvm::to_vector(made->code->getOps<func::FuncOp>());
    for (auto [function, launch] : llvm::zip_equal(functions, family.launches)) {
      function.setSymName(family.symbol() + launch.suffix);
      function->moveBefore(module.getBody(), module.getBody()->end());
      takeKeys(function, family);
    }
    list.push_back({std::move(family), std::move(text)});
  }
  emitted.clear();
  return list;
}

FailureOr<std::vector<char>> CpuTarget::compile(ArrayRef<NamedKernel> kernels, DumpKernels dump,
                                                TimingScope time) {
  if (kernels.empty())
    return std::vector<char>();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(kernels.front().op->getContext()));
  TimingScope step = time.nest("emit");
  FailureOr<std::vector<EmittedFamily>> families = emitFamilies(kernels, *module);
  if (failed(families))
    return failure();
  step.stop();
  return compileFamilies(*module, *families, processor, dump, time);
}

} // namespace

void registerCpuDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

std::unique_ptr<Target> makeCpuTarget(StringRef option) {
  std::optional<Processor> processor = Processor::parse(option);
  return processor ? std::make_unique<CpuTarget>(std::move(*processor)) : nullptr;
}

} // namespace weir

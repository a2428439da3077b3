//===- Object.cpp - Objects from modules of the LLVM dialect --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lower.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace weir {
namespace {

std::unique_ptr<llvm::TargetMachine> machineFor(const Processor &processor,
                                                const llvm::Triple &triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  assert(llvmTarget && "LLVM is built without its X86 target");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // see Math.cpp
  return std::unique_ptr<llvm::TargetMachine>(llvmTarget->createTargetMachine(
      triple, processor.cpu, processor.features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  // Unrolled rows keep their values alive from pass to pass, and spill: a third slower, measured on
  // layer norm.
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

} // namespace

FailureOr<ObjectBytes> compileToObject(ModuleOp source, const Processor &processor) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(source, context, "kernels");
  if (!module)
    return failure();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(processor, triple);
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *module) {
    if (function.isDeclaration())
      continue;
    if (!function.hasLocalLinkage())
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    function.addFnAttr("target-cpu", processor.cpu);
    if (!processor.features.empty())
      function.addFnAttr("target-features", processor.features);
    function.addFnAttr("prefer-vector-width", std::to_string(processor.vectorBits));
    // Loops that fill or copy would become calls of memset and memcpy: there is no C library to
    // call.
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  optimize(*module, *machine);

  ObjectBytes bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return source.emitError("this LLVM cannot write objects");
  passes.run(*module);
  return bytes;
}

} // namespace weir

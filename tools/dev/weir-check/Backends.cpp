//===- Backends.cpp - What runs op tests ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled code runs a test twice: fused, as a program would be, and with every op as a kernel of
// its own by the plain loop route, so that what serves an op alone is tested too.
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-check/Backends.h"
#include "ir/reference/Interpreter.h"
#include "ir/weir/Names.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Yield.h"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/Libraries.h"
#include "support/Error.h"
#include "support/system/CpuLevel.h"
#include "verify/Compiled.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace weir::check {
namespace {

std::string always() { return ""; }

class Interpreted : public Executable {
public:
  explicit Interpreted(OwningOpRef<ModuleOp> module) : module(std::move(module)) {}

  FailureOr<Outcome> run(const Situation &situation) override {
    Interpreter interpreter;
    interpreter.variables = situation.variables;
    auto entry = module->lookupSymbol<func::FuncOp>(situation.name);
    FailureOr<Tensors> results = interpreter.run(entry, situation.inputs);
    if (failed(results))
      return failure();
    return Outcome{std::move(*results), std::move(interpreter.variables)};
  }

private:
  OwningOpRef<ModuleOp> module;
};

std::unique_ptr<Executable> interpret(OwningOpRef<ModuleOp> module) {
  return std::make_unique<Interpreted>(std::move(module));
}

class Compiled : public Executable {
public:
  Compiled(std::vector<std::byte> artifact, std::string device)
      : program(std::move(artifact), {.threads = 1, .kind = std::move(device)}) {}

  FailureOr<Outcome> run(const Situation &situation) override {
    program.setVariables(situation.variables);
    Tensors results = program.run(situation.name, situation.inputs);
    return Outcome{std::move(results), program.variables()};
  }

private:
  CompiledProgram program;
};

constexpr char noDevice[] = "";

enum class Grouping { fused, single };

/// Puts every op that computes something into a kernel of its own.
void separate(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<KernelOp>(op))
      return WalkResult::skip();
    if (isa<Costed>(op))
      ops.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    KernelShape shape = isa<Lowerable>(op) ? KernelShape::nest : KernelShape::attention;
    auto kernel = KernelOp::create(builder, op->getLoc(), op->getResultTypes(), shape, Attribute(),
                                   op->getOperands());
    op->replaceAllUsesWith(kernel);
    Block *body = builder.createBlock(&kernel.getBody());
    for (OpOperand &operand : op->getOpOperands())
      operand.set(body->addArgument(operand.get().getType(), operand.get().getLoc()));
    op->moveBefore(body, body->end());
    YieldOp::create(builder, op->getLoc(), op->getResults());
  }
}

/// Everything up to fusion, which may leave nothing but kernels to it.
LogicalResult prepareKernels(ModuleOp module) {
  PassManager manager(module.getContext());
  for (const PassGroup &group : passGroupsOnTensors())
    if (group.name != "fuse")
      group.add(manager, {.without = {"simplify-forward", "simplify"}});
  if (failed(manager.run(module)))
    return failure();
  separate(module);
  return success();
}

template <const char *target, Grouping grouping, const char *device = noDevice>
std::unique_ptr<Executable> compile(OwningOpRef<ModuleOp> module) {
  if (grouping == Grouping::single && failed(prepareKernels(*module)))
    return nullptr;
  makeTrainable(*module);
  auto artifact = compileModule(*module, target);
  if (failed(artifact))
    return nullptr;
  return std::make_unique<Compiled>(std::move(*artifact), device);
}

constexpr char cudaCalls[] = "cuda", cudaAlone[] = "cuda+none", emulated[] = "emulated",
               gpu[] = "cuda";

std::string emulatorMissing() {
  try {
    cuda::emulatedFolder();
    return "";
  } catch (const Failure &failure) {
    return failure.what();
  }
}

/// Asks the driver nothing: what a process has of it is not its children's, which run the tests.
std::string gpuMissing() {
  if (!llvm::sys::fs::exists("/dev/nvidiactl"))
    return "this machine has no NVIDIA GPU";
  try {
    cuda::openDriver("");
    return "";
  } catch (const Failure &failure) {
    return failure.what();
  }
}

constexpr char v3[] = "cpu:x86-64-v3", v4[] = "cpu:x86-64-v4", bf16[] = "cpu:x86-64-v4+bf16";

template <const char *target> std::string missing() {
  std::string needed = StringRef(target).substr(4).str(), native(cpuLevel());
  // Levels are named so that they sort.
  return native < needed ? "this machine has " + native : "";
}

} // namespace

ArrayRef<Backend> backends() {
  static const Backend table[] = {
      {"interpreter", "the reference interpreter, in f64", always, interpret},
      {"cpu:x86-64-v3", "compiled for AVX2, ops fused", missing<v3>, compile<v3, Grouping::fused>},
      {"cpu:x86-64-v3:single", "the same, every op a kernel of its own", missing<v3>,
       compile<v3, Grouping::single>},
      {"cpu:x86-64-v4", "compiled for AVX-512, ops fused", missing<v4>,
       compile<v4, Grouping::fused>},
      {"cpu:x86-64-v4:single", "the same, every op a kernel of its own", missing<v4>,
       compile<v4, Grouping::single>},
      {"cpu:x86-64-v4+bf16", "compiled for AVX-512 that multiplies bf16, ops fused", missing<bf16>,
       compile<bf16, Grouping::fused>},
      {"cuda", "CUDA C++ on the emulated GPU, ops fused", emulatorMissing,
       compile<cudaCalls, Grouping::fused, emulated>},
      {"cuda:single", "the same without libraries, every op a kernel of its own", emulatorMissing,
       compile<cudaAlone, Grouping::single, emulated>},
      {"gpu", "CUDA C++ on the GPU at hand, ops fused", gpuMissing,
       compile<cudaCalls, Grouping::fused, gpu>},
      {"gpu:single", "the same without libraries, every op a kernel of its own", gpuMissing,
       compile<cudaAlone, Grouping::single, gpu>},
  };
  return table;
}

} // namespace weir::check

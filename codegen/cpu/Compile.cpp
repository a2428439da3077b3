//===- Compile.cpp - From emitted kernels to a shared object --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Compile.h"

#include "codegen/cpu/Vectorize.h"
#include "codegen/kernel/Expand.h"
#include "codegen/kernel/SumTrees.h"
#include "support/system/KernelCache.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/TargetSelect.h"

#include <atomic>
#include <system_error>
#include <thread>

using namespace mlir;

namespace weir {
namespace {

/// A family on its way to an object, whose symbols have names of its own. Several families may be
/// one part, for equal code.
struct Part {
  KernelFamily family;
  std::string key; ///< all that the object depends on
  OwningOpRef<ModuleOp> module;
  ObjectBytes object;
};

/// Which build of Weir's code generator, of MLIR and of LLVM runs; "" where one cannot be told.
std::string generatorBuild() {
  std::string all;
  for (const void *address : {reinterpret_cast<const void *>(&generatorBuild),
                              reinterpret_cast<const void *>(&createCSEPass),
                              reinterpret_cast<const void *>(&LLVMInitializeX86Target)}) {
    std::string id = buildIdOf(address);
    if (id.empty())
      return "";
    all += std::to_string(id.size()) + ":" + id;
  }
  return all;
}

std::string keyOf(const EmittedFamily &emitted, const Processor &processor) {
  std::string key = processor.level + "\n";
  for (const KernelFamily::Member &member : emitted.family.members) {
    for (int64_t word : member.keys)
      key += std::to_string(word) + " ";
    key += "\n";
  }
  return key + emitted.text;
}

LogicalResult toVectors(ModuleOp module, const Processor &processor) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(module)))
    return failure();
  hoistInvariants(module);
  vectorizeLoops(module, processor);
  sumInTrees(module);
  return success();
}

LogicalResult toLLVM(ModuleOp module) {
  outlineMath(module);
  approximateMath(module);
  compareMagnitudes(module);
  expandSmallFloats(module, /*halves=*/false);
  return lowerToLLVM(module);
}

/// With names that begin with `base`, which no other part has.
KernelFamily named(KernelFamily family, StringRef base) {
  for (auto [i, member] : llvm::enumerate(family.members))
    member.symbol = (base + "." + Twine(i)).str();
  return family;
}

/// Moves the functions of a family into a module of its own, where they get the part's names.
void take(SymbolTable &functions, const KernelFamily &family, Part &part) {
  part.module = ModuleOp::create(functions.getOp()->getLoc());
  SmallVector<std::pair<Operation *, std::string>> moved;
  auto move = [&](const std::string &symbol, const std::string &name) {
    Operation *function = functions.lookup(symbol);
    function->moveBefore(part.module->getBody(), part.module->getBody()->end());
    moved.push_back({function, name});
  };
  for (const LaunchPlan &launch : family.launches) {
    move(family.symbol() + launch.suffix, part.family.symbol() + launch.suffix);
    for (auto [from, to] : llvm::zip_equal(family.members, part.family.members))
      if (family.isShared() && functions.lookup(from.symbol + launch.suffix))
        move(from.symbol + launch.suffix, to.symbol + launch.suffix);
  }
  // Private functions are each one kernel's, and stand behind it.
  SmallVector<Operation *> called;
  part.module->walk([&](LLVM::CallOp call) {
    if (Operation *function = call.getCallee() ? functions.lookup(*call.getCallee()) : nullptr;
        function && function->getBlock() != part.module->getBody() &&
        !llvm::is_contained(called, function))
      called.push_back(function);
  });
  for (Operation *function : called)
    function->moveBefore(part.module->getBody(), part.module->getBody()->end());
  SymbolTable table(*part.module);
  for (auto &[function, name] : moved)
    (void)table.rename(function, name);
}

/// Calls `work` with each number below `count`, on several threads where the context has any.
LogicalResult inParallel(MLIRContext &context, size_t count,
                         llvm::function_ref<LogicalResult(size_t)> work) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> isFailed = false;
  auto run = [&] {
    for (size_t i; (i = next++) < count;)
      if (failed(work(i)))
        isFailed = true;
  };
  std::vector<std::thread> threads;
  // A context without threads has no locks either.
  size_t wanted = context.isMultithreadingEnabled()
                      ? std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()))
                      : 1;
  try {
    for (size_t i = 1; i < wanted; ++i)
      threads.emplace_back(run);
  } catch (const std::system_error &) {
    // Those there are do it all.
  }
  run();
  for (std::thread &thread : threads)
    thread.join();
  return success(!isFailed);
}

} // namespace

FailureOr<std::vector<char>> compileFamilies(ModuleOp module, ArrayRef<EmittedFamily> families,
                                             const Processor &processor, const DumpKernels &dump,
                                             TimingScope &time) {
  TimingScope step = time.nest("objects");
  if (dump) {
    dump("emitted", module, "");
    if (failed(toVectors(module, processor)))
      return failure();
    dump("vectorized", module, "");
    if (failed(toLLVM(module)))
      return failure();
    for (const EmittedFamily &emitted : families)
      if (emitted.family.isShared())
        addMembers(module, emitted.family);
    dump("lowered", module, "");
  }

  std::vector<Part> parts;
  parts.reserve(families.size());
  std::vector<LinkedName> names;
  llvm::StringMap<size_t> known;
  SymbolTable functions(module);
  for (const EmittedFamily &emitted : families) {
    std::string key = keyOf(emitted, processor);
    auto [place, isNew] = known.try_emplace(key, parts.size());
    if (isNew) {
      Part &part = parts.emplace_back();
      part.family = named(emitted.family, "weir_" + hashText(key));
      part.key = std::move(key);
      take(functions, emitted.family, part);
    }
    for (auto [from, to] :
         llvm::zip_equal(emitted.family.members, parts[place->second].family.members))
      for (const LaunchPlan &launch : emitted.family.launches)
        names.push_back({from.symbol + launch.suffix, to.symbol + launch.suffix});
  }

  // Loads the dialects that the passes need, which is not to be done on several threads.
  OwningOpRef<ModuleOp> none = ModuleOp::create(module.getLoc());
  if (failed(toVectors(*none, processor)) || failed(toLLVM(*none)))
    return failure();
  std::string build = dump ? "" : generatorBuild();
  KernelCache cache("o");
  auto compile = [&](size_t i) -> LogicalResult {
    Part &part = parts[i];
    std::string source = build + part.key;
    if (!build.empty())
      if (std::optional<std::vector<char>> object = cache.find(source)) {
        part.object.assign(object->begin(), object->end());
        return success();
      }
    if (!dump) {
      if (failed(toVectors(*part.module, processor)) || failed(toLLVM(*part.module)))
        return failure();
      if (part.family.isShared())
        addMembers(*part.module, part.family);
    }
    FailureOr<ObjectBytes> object = compileToObject(*part.module, processor);
    if (failed(object))
      return failure();
    part.object = std::move(*object);
    if (!build.empty())
      cache.keep(source, part.object);
    return success();
  };
  if (failed(inParallel(*module.getContext(), parts.size(), compile)))
    return failure();

  step = time.nest("link");
  std::vector<ObjectBytes> objects;
  for (Part &part : parts)
    objects.push_back(std::move(part.object));
  return linkObjects(objects, names, module.getLoc());
}

} // namespace weir

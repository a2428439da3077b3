//===- Targets.cpp - The targets there are --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "codegen/cpu/CpuTarget.h"
#include "codegen/cuda/CudaTarget.h"

using namespace mlir;

namespace weir {
namespace {

/// A row for each back end.
struct TargetKind {
  std::unique_ptr<Target> (*make)(StringRef option);
  void (*registerDialects)(DialectRegistry &registry);
  StringRef options;
};

constexpr TargetKind kinds[] = {
    {makeCpuTarget, registerCpuDialects,
     "cpu:x86-64-v3, cpu:x86-64-v4, cpu:x86-64-v4+bf16 or cpu:x86-64-v4+bf16+amx, or cpu on a "
     "machine with at least x86-64-v3"},
    {makeCudaTarget, registerCudaDialects,
     "cuda:sm_80, cuda:sm_90, cuda:sm_100, or cuda, with +none behind it for no libraries"},
};

} // namespace

std::unique_ptr<Target> makeTarget(StringRef option) {
  for (const TargetKind &kind : kinds)
    if (std::unique_ptr<Target> target = kind.make(option))
      return target;
  return nullptr;
}

std::string targetOptions() {
  return llvm::join(llvm::map_range(kinds, [](const TargetKind &kind) { return kind.options; }),
                    "; ");
}

void registerTargetDialects(DialectRegistry &registry) {
  for (const TargetKind &kind : kinds)
    kind.registerDialects(registry);
}

} // namespace weir

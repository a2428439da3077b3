//===- KernelElements.cpp - What kernels read, compute and store ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/KernelElements.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/structure/Structure.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/inspect/ReadArtifactPlan.h"
#include <algorithm>

using namespace mlir;

namespace weir {
namespace {

std::string nameOfElement(Value tensor) {
  std::optional<Element> element = elementOf(tensorType(tensor).getElementType());
  return element ? nameOf(*element) : "";
}

KernelElements elementsOf(KernelOp meaning) {
  KernelElements elements;
  for (Value input : meaning.getInputs())
    elements.reads.push_back(nameOfElement(input));
  for (Value result : meaning.getResults())
    elements.stores.push_back(nameOfElement(result));
  std::vector<std::string> &computes = elements.computes;
  for (Operation &op : meaning.getBody().front().without_terminator()) {
    if (isa<View, CastOp, ConstantOp>(op))
      continue;
    for (Value result : op.getResults())
      if (std::string name = nameOfElement(result);
          isa<FloatType>(tensorType(result).getElementType()) &&
          std::find(computes.begin(), computes.end(), name) == computes.end())
        computes.push_back(name);
  }
  return elements;
}

} // namespace

std::map<std::string, KernelElements> kernelElements(const std::vector<std::byte> &artifact) {
  FatalErrors ends;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> plan = readArtifactPlan(artifact, context);
  std::map<std::string, KernelElements> elements;
  for (auto kernel : plan->getOps<plan::KernelOp>())
    elements[kernel.getSymName().str()] = elementsOf(kernel.meaning());
  return elements;
}

} // namespace weir

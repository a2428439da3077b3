//===- KernelElements.h - What kernels read, compute and store ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_KERNELELEMENTS_H
#define WEIR_TOOLS_WEIR_INSPECT_KERNELELEMENTS_H

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace weir {

/// The element types of a kernel of the plan, by name.
struct KernelElements {
  std::vector<std::string> reads, stores; ///< of its operands, in their order: these, then those
  std::vector<std::string> computes; ///< floats of its ops' results but views, casts, constants
};

/// By the plan's names of the kernels. Throws Failure(Exit::model) where the plan cannot be read.
std::map<std::string, KernelElements> kernelElements(const std::vector<std::byte> &artifact);

} // namespace weir

#endif

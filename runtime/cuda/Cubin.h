//===- Cubin.h - What a GPU's machine code says of itself -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_CUBIN_H
#define WEIR_RUNTIME_CUDA_CUBIN_H

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace weir::cuda {

/// A kernel as the assembler left it.
struct KernelFacts {
  std::string name;
  int registers = 0; ///< of a thread
  int frame = 0;     ///< bytes of a thread's stack: registers that were spilled, mostly
};

/// The kernels of a cubin, an ELF file with notes of NVIDIA's; none of bytes that are no such file.
std::vector<KernelFacts> kernelsOf(std::span<const std::byte> cubin);

} // namespace weir::cuda

#endif

//===- Module.h - Code of the emulated device: shared objects of the host --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stand-in for NVRTC makes an ELF shared object per program; a note in it says that it is one,
// so that neither the real driver nor this one takes the other's code.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_MODULE_H
#define WEIR_TEST_EMULATED_CUDA_MODULE_H

#include "runtime/cuda/Api.h"
#include "test/emulated-cuda/Shadow.h"
#include <memory>
#include <string>
#include <vector>

namespace weir::emulated {

/// As kernel/weir_emulated.h lays it out, under the name weirEmulatedKernels.
struct KernelEntry {
  const char *name;
  void (*call)(void **arguments);
  const unsigned *sizes; ///< of the arguments, in bytes
  unsigned argumentCount;
  unsigned maxThreads; ///< of __launch_bounds__; 0 where there are none
};
struct KernelTable {
  unsigned version, kernels;
  unsigned checked; ///< its accesses call the hooks
  unsigned flushesToZero;
  const KernelEntry *entries;
  const void *sharedBegin, *sharedEnd; ///< its static shared arrays
};
constexpr unsigned tableVersion = 1;

struct Module;

struct Function {
  const KernelEntry *entry = nullptr;
  Module *module = nullptr;
  unsigned dynamicSharedLimit = 48 << 10;
};

struct Module : std::enable_shared_from_this<Module> {
  void *handle = nullptr;
  const KernelTable *table = nullptr;
  ImageRanges ranges;
  std::vector<std::unique_ptr<Function>> functions;

  ~Module();
  unsigned staticShared() const { return unsigned(ranges.sharedEnd - ranges.sharedBegin); }
};

/// Loads what nvrtcGetCUBIN gave; `module` is empty where the result is an error.
cuda::CUresult loadModule(const void *image, std::shared_ptr<Module> &module);

/// The name and the text of the note in every such object.
constexpr char noteName[] = "WeirEmulated";

/// Of an ELF image, from its own headers.
size_t imageBytes(const void *image);

} // namespace weir::emulated

#endif

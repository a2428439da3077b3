//===- Injection.cpp - A profiler that notes ranges -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What NVIDIA's profilers do: NVTX loads the library that NVTX_INJECTION64_PATH names, and calls
// what that puts in place of its functions.
//
//===----------------------------------------------------------------------===//

#include <nvtx3/nvToolsExt.h>
#include <string>

static std::string &notes() {
  static std::string text;
  return text;
}

static int push(const char *name) {
  notes() += std::string(name) + "{";
  return 0;
}
static int pop() {
  notes() += "}";
  return 0;
}

extern "C" {

__attribute__((visibility("default"))) const char *weirNotedRanges() { return notes().c_str(); }

__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t exportTable) {
  auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(exportTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) ||
      size <= NVTX_CBID_CORE_RangePop)
    return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
}

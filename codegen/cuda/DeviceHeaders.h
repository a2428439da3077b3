//===- DeviceHeaders.h - What kernels include -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_DEVICEHEADERS_H
#define WEIR_CODEGEN_CUDA_DEVICEHEADERS_H

#include <span>

namespace weir {

struct DeviceHeader {
  const char *name; ///< as kernels include it
  const char *text;
  bool isEverywhere; ///< else kernels name it that need it
};

/// The files of codegen/cuda/device.
std::span<const DeviceHeader> deviceHeaders();

} // namespace weir

#endif

//===- SafeTensors.cpp - Any bytes as tensors ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/SafeTensors.h"
#include "test/fuzz/Target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace weir;
  std::span<const std::byte> bytes = fuzz::bytesOf(data, size);
  try {
    for (const auto &[name, tensor] : parseSafeTensors(bytes, "fuzz.safetensors", Exit::data)) {
      fuzz::require(tensor.data >= bytes.data() &&
                        tensor.size <= size_t(bytes.data() + size - tensor.data),
                    "a tensor's bytes are the file's");
      describe(tensor);
      hashOf(tensor.data, tensor.size);
    }
  } catch (const Failure &failure) {
    fuzz::require(failure.exit == Exit::data, "what is wrong with the file is its fault");
  }
  return 0;
}

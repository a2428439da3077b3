//===- Pooling.h - Max pooling as tiles of planes -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// spec::Pooling with oneDNN, a tile's planes as the channels of one image, reordered into the
// library's blocked layout in the worker's scratch and back: on plain layouts some of its code is
// twenty times as slow. Its maximum begins at the lowest finite number and takes what compares as
// larger: it loses NaN, and knows no -inf. Tiles in which there is either are left to plain loops.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_POOLING_H
#define WEIR_RUNTIME_CPU_POOLING_H

#include "support/spec/Pooling.h"
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::cpu {

class Pooling {
public:
  struct Operands {
    const float *input;
    float *output;
  };

  Pooling(const spec::Pooling &spec, int workers);
  ~Pooling();

  int64_t tasks() const;
  size_t scratch() const;

  /// Computes tiles [lo, hi). `scratch` is the worker's own, 64-byte aligned.
  void run(int64_t lo, int64_t hi, int worker, const Operands &operands, std::byte *scratch);

  /// oneDNN's name for the implementation of a full tile.
  const char *implementation() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace weir::cpu

#endif

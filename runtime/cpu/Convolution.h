//===- Convolution.h - Convolutions as chunks of images -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// spec::Convolution with oneDNN. Images are cut into the plan's tiles; each is reordered into the
// library's blocked layout in the worker's scratch (a few percent, against the half speed of its
// plain layouts), computed by a one-thread primitive, and reordered back. A weight gradient has a
// partial sum per chunk; they are added in the order of the chunks.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_CONVOLUTION_H
#define WEIR_RUNTIME_CPU_CONVOLUTION_H

#include "support/spec/Convolution.h"
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::cpu {

class Convolution {
public:
  /// Values or cotangents, of the spec's elements; the kind says which is written. Partial weight
  /// gradients, [tiles, weights], where there are several tiles; null otherwise.
  struct Operands {
    void *input, *weight, *output;
    float *partials;
  };

  Convolution(const spec::Convolution &spec, int workers);
  ~Convolution();

  int64_t tasks() const;
  size_t scratch() const;

  /// Computes chunks [lo, hi). `scratch` is the worker's own, 64-byte aligned.
  void run(int64_t lo, int64_t hi, int worker, const Operands &operands, std::byte *scratch);

  /// The second parallel loop of a weight gradient in several tiles: tasks of blocks of elements; 0
  /// for all else.
  int64_t sumTasks() const;
  void sum(int64_t lo, int64_t hi, const Operands &operands) const;

  /// oneDNN's name for the implementation.
  const char *implementation() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace weir::cpu

#endif

//===- Generate.h - Sampling text from a trained language model -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `weir generate`: the entry `predict` maps tokens i32[1, T] to logits f32[1, T, V] of the tokens
// that follow. The last T tokens are the context. A sample is a pure function of the seed and the
// position.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_GENERATE_H
#define WEIR_RUNTIME_RUN_GENERATE_H

#include "runtime/core/Device.h"
#include "support/Error.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace weir {

struct GenerateOptions {
  std::string checkpoint;            ///< the directory of a run, or one checkpoint
  std::optional<std::string> prompt; ///< none: a new line, or the first token
  int64_t tokens = 500;              ///< to generate
  double temperature = 0.8;          ///< 0: always the most likely token
  int64_t topK = 0;                  ///< sample among the K most likely tokens; 0: among all
  int64_t seed = 1;
  DeviceOptions device;
};

void addGenerateOptions(CLI::App &app, GenerateOptions &options);

/// Prints the prompt and the generated text to standard output while it samples. Throws Failure.
Exit runGenerate(std::vector<std::byte> artifact, const GenerateOptions &options);

/// A token sampled from `logits`. `bits`: 64 random bits.
size_t sampleLogits(std::span<const float> logits, double temperature, int64_t topK, uint64_t bits);

} // namespace weir

#endif

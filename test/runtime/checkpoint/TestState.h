//===- TestState.h - A small state to save --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_CHECKPOINT_TESTSTATE_H
#define WEIR_TEST_RUNTIME_CHECKPOINT_TESTSTATE_H

#include "runtime/checkpoint/CheckpointStore.h"
#include "test/runtime/TestFiles.h"

namespace weir {

/// Tensors whose values tell the step they are of.
struct TestState {
  explicit TestState(int64_t step)
      : weights(6, static_cast<float>(step)), counter(static_cast<int32_t>(step)) {
    manifest.step = step;
    manifest.totalSteps = 1000;
    manifest.seed = 3;
    manifest.model = "test";
    manifest.target = "x86-64-v3";
    manifest.configs = {{"batch", "4"}};
    manifest.data = {{"window", {"text.txt", "text", 0, ""}}};
    manifest.vocabularies = {{"window", Vocabulary({'a', '\n', 0x20AC})}};
  }
  std::vector<StoredTensor> model() const {
    return {{"w", "F32", {2, 3}, bytes(weights.data()), 24}};
  }
  std::vector<StoredTensor> state() const {
    return {{"adamw.m/w", "F32", {2, 3}, bytes(weights.data()), 24},
            {"step", "I32", {}, bytes(&counter), 4}};
  }
  std::string save(CheckpointStore &store) const { return store.save(manifest, model(), state()); }
  static const std::byte *bytes(const void *data) { return static_cast<const std::byte *>(data); }

  Manifest manifest;
  std::vector<float> weights;
  int32_t counter;
};

/// The step of a checkpoint, having looked at every value in it.
inline int64_t checkedStep(const Checkpoint &checkpoint) {
  TestState expected(checkpoint.manifest.step);
  for (auto [file, wanted] : {std::pair(&checkpoint.model, expected.model()),
                              std::pair(&checkpoint.state, expected.state())})
    for (const StoredTensor &tensor : wanted) {
      const StoredTensor &found = file->tensors().at(tensor.name);
      EXPECT_EQ(std::string(reinterpret_cast<const char *>(found.data), found.size),
                std::string(reinterpret_cast<const char *>(tensor.data), tensor.size));
    }
  return checkpoint.manifest.step;
}

} // namespace weir

#endif

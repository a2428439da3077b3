//===- Weights.h - Trained tensors, wherever they are ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --init, --init-partial, `weir eval` and `weir predict` begin with: the tensors of a
// safetensors file, of one checkpoint (runs/gpt/step-00000100), or of the newest whole checkpoint
// in a run's directory (runs/gpt).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_WEIGHTS_H
#define WEIR_RUNTIME_CHECKPOINT_WEIGHTS_H

#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/core/Program.h"

namespace weir {

class Weights {
public:
  using Say = std::function<void(const std::string &)>;

  /// Opens and checks what is at `path`; `say` is told of checkpoints that are passed over. Throws
  /// Failure: Exit::data for what is no safetensors file, Exit::storage for a directory without a
  /// whole checkpoint.
  Weights(const std::string &path, const Say &say, const Ranks &ranks = {});

  /// What is at `path`, which need not be there: "a file", "a checkpoint" or "the directory of a
  /// run".
  static std::string kindOf(const std::string &path);

  /// Size and fingerprint of a file (Fingerprint.h), the hash of a checkpoint's manifest, which has
  /// those of its files: the same where the weights are the same.
  std::string content() const;

  /// The file or the checkpoint.
  const std::string &path() const { return place; }
  /// Of a checkpoint; null for a file.
  const Manifest *manifest() const { return description ? &*description : nullptr; }

  /// Throws Failure(Exit::model), with every difference, unless this has all parameters, and none
  /// that the model has not. Block states may be absent unless `states`. Other frameworks' buffers
  /// may be there.
  void requireAll(const std::vector<TensorView> &variables, bool states) const;

  /// Tensors of a file that no model has as weights, and this one has not: counters, masks and
  /// tables that other frameworks keep beside them, each as "bn.num_batches_tracked I64[]".
  std::vector<std::string> buffers(const std::vector<TensorView> &variables) const;

  /// Parameters and block states that are not here, each as "h.0.attn.weight F32[128, 64]".
  std::vector<std::string> absent(const std::vector<TensorView> &variables) const;

  /// In words, what of them has more digits than the model keeps; "" where nothing has.
  std::string rounded(const std::vector<TensorView> &variables) const;

  /// What a model takes of them, written in the same way.
  struct Overlap {
    std::vector<std::string> taken;
    std::vector<std::string> kept;   ///< parameters and block states that keep what init gave them
    std::vector<std::string> unused; ///< of this, buffers included
  };
  /// Throws Failure(Exit::model) where a tensor has another type or shape in the model, and where
  /// none is the model's.
  Overlap overlap(const std::vector<TensorView> &variables) const;

  /// Copies the parameters and block states that are here. requireAll() or overlap() was called.
  void load(const std::vector<TensorView> &variables) const;
  /// Copies scalars of the run that a checkpoint has.
  void loadRun(const std::vector<TensorView> &variables) const;

private:
  const StoredTensor *find(const TensorView &variable) const;

  std::string place;
  std::optional<Manifest> description;
  std::vector<SafeTensors> files; // a file; or a checkpoint's parameters, then its states
};

} // namespace weir

#endif

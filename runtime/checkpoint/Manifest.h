//===- Manifest.h - What a checkpoint says of itself ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// manifest.json: what the tensors alone do not say, the hash of each file, and a hash of itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_MANIFEST_H
#define WEIR_RUNTIME_CHECKPOINT_MANIFEST_H

#include "runtime/data/Vocabulary.h"
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

struct Manifest {
  /// Where an input's values came from, so that generation can turn numbers back into text.
  struct Data {
    std::string path, format;
    uint64_t size = 0;       ///< of the file
    std::string fingerprint; ///< Fingerprint.h; "": not known
  };
  struct File {
    uint64_t size = 0;
    std::string sum = {};  ///< FileSum.h, 16 hexadecimal digits; or, of format 1:
    std::string xxh3 = {}; ///< of the whole file
  };

  int64_t step = 0;       ///< steps done
  int64_t totalSteps = 0; ///< that the learning-rate schedule runs over
  int64_t seed = 0;
  int64_t skipped = 0, skippedInARow = 0; ///< steps that were not finite, and the last ones of them
  int64_t overflowsInARow = 0;            ///< the last ones that overflowed for their loss scale
  std::string model;                      ///< its name
  std::string target;                     ///< of the artifact
  std::map<std::string, std::string> configs; ///< of the artifact
  std::string precision = "f32";              ///< what its products multiply
  std::string master = "f32";                 ///< what its parameters are kept in
  std::string lossScale = "none";             ///< what its gradients are computed with
  std::optional<std::string> strategy; ///< of the artifact, as it records it; nothing: not known
  std::string training, prediction;    ///< the artifact's digests; "": not known
  std::optional<double> holdout;       ///< the fraction held out; nothing: not known
  std::optional<bool> shuffle;         ///< nothing: not known
  std::map<std::string, Data> data;    ///< by input
  Vocabularies vocabularies;           ///< by input
  std::map<std::string, File> files;   ///< by file name

  std::string write() const;
  /// Throws std::runtime_error saying what is wrong.
  static Manifest read(std::string_view text);
};

} // namespace weir

#endif

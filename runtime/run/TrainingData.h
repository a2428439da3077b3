//===- TrainingData.h - Data of a training run ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data of --data without the part that --holdout keeps, and the held-out data, from that part
// or from --eval-data. Text is encoded with the character numbers of the weights that the run
// begins with.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_TRAININGDATA_H
#define WEIR_RUNTIME_RUN_TRAININGDATA_H

#include "runtime/checkpoint/Manifest.h"
#include "runtime/data/Dataset.h"
#include "runtime/run/RunOptions.h"
#include "runtime/run/resume/InitialState.h"

namespace weir {

class TrainingData {
public:
  /// Opens the data for the inputs of `step`. Reads each file once for its fingerprint if
  /// `fingerprints`, because checkpoints store it, and if there are several processes, which
  /// compare their files. Throws Failure: Exit::data for data that is unreadable, too short, or of
  /// another kind than that of `beginning`; Exit::usage for options that contradict each other, and
  /// for ranks whose files differ.
  TrainingData(const artifact::Entry &step, const RunOptions &options,
               const InitialState &initialState, bool fingerprints);

  const Dataset &trainedOn() const { return *dataset; }
  const Dataset *heldOut() const { return held ? &*held : nullptr; } ///< null if there is none
  /// Facts about each input's file, for the manifest.
  const std::map<std::string, Manifest::Data> &facts() const { return dataFacts; }

  /// The unit of a run's speed, "tokens" or "samples", and how many of them a step processes.
  std::string unit() const { return dataset->window() ? "tokens" : "samples"; }
  double unitsPerStep() const;

private:
  void checkVocabularies(const Dataset &all, const Checkpoint &resumed) const;
  void compareRanks(Group &group, const std::map<std::string, Manifest::Data> &heldFacts) const;

  const RunOptions &options;
  const int64_t stepRows;
  std::optional<Dataset> dataset, held;
  std::map<std::string, Manifest::Data> dataFacts; // by input
};

} // namespace weir

#endif

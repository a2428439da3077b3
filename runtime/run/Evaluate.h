//===- Evaluate.h - A trained model on data -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `weir eval` computes loss and metrics over all rows of some data. `weir predict` writes the
// model's output for each row to .npy files. Both load saved weights.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_EVALUATE_H
#define WEIR_RUNTIME_RUN_EVALUATE_H

#include "runtime/core/Device.h"
#include "runtime/run/resume/OverwriteCheck.h"
#include "support/Error.h"
#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace weir {

struct EvaluateOptions {
  std::string checkpoint;          ///< the directory of a run, or one of its checkpoints; or:
  std::string init;                ///< a safetensors file; or:
  std::string initPartial;         ///< the same, loading only the tensors that both have
  std::vector<std::string> data;   ///< "input=path"
  std::string output;              ///< for predict: an .npy file
  std::vector<NamedPath> alsoRead; ///< files that the command itself reads
  DeviceOptions device;
  bool json = false; ///< results as one JSON object
};

void addEvaluateOptions(CLI::App &app, EvaluateOptions &options);
void addPredictOptions(CLI::App &app, EvaluateOptions &options);

/// Prints loss and metrics. Returns numeric if one is not finite. Throws Failure.
Exit runEvaluation(std::vector<std::byte> artifact, const EvaluateOptions &options);

/// Writes the model's results, the first to `options.output`, out.npy, the next to out_1.npy and so
/// on, each with the rows of the data as its first dimension. Prints what it wrote. Throws Failure.
Exit runPrediction(std::vector<std::byte> artifact, const EvaluateOptions &options);

} // namespace weir

#endif

//===- Evaluator.h - The held-out data, whole -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_EVALUATOR_H
#define WEIR_RUNTIME_RUN_EVALUATOR_H

#include "runtime/run/Ports.h"

namespace weir {

/// Evaluates all rows of arrays, or consecutive windows of streams (the tokens after the last whole
/// window are left out): in batches by the entry `eval`, the remainder by `eval_one`.
class Evaluator {
public:
  /// `dataset` and `program` have to outlive it. Throws Failure(Exit::model) where an entry is
  /// missing.
  Evaluator(Program &program, const Dataset &dataset);

  /// heldout_loss, and heldout_X for each metric.
  Values run();

private:
  struct Part {
    Part(Program &program, const artifact::Entry &entry, const Dataset &dataset)
        : entry(entry), rows(entryRows(entry)), batch(makeBatch(dataset, rows)),
          outputs(program, entry) {}
    const artifact::Entry &entry;
    int64_t rows;
    Batch batch;
    Outputs outputs;
  };
  void runRows(Part &part, int64_t first);

  Program &program;
  const Dataset &dataset;
  std::vector<Part> parts; // eval and, where a remainder is left, eval_one
};

} // namespace weir

#endif

//===- Evaluator.h - Loss and metrics of a data set -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_EVALUATOR_H
#define WEIR_RUNTIME_RUN_EVALUATOR_H

#include "runtime/run/Ports.h"
#include <functional>
#include <optional>

namespace weir {

/// Evaluates all rows of arrays, or consecutive windows of streams (the tokens after the last whole
/// window are left out): in batches by the entry `eval`, the remainder by `eval_one`. Where the
/// rows of a batch are tied there is no `eval_one`, and the remainder is left out.
class Evaluator {
public:
  /// `dataset` and `program` have to outlive it; messages call the data `what`. Throws
  /// Failure(Exit::model) where `eval` is missing, and Failure(Exit::data) where tied rows make no
  /// whole batch.
  Evaluator(Program &program, const Dataset &dataset, const std::string &what);

  /// The loss and each metric, not a number where no row counts for one of its terms; nothing where
  /// `stop`, asked before each batch, says so.
  std::optional<Values> run(const std::function<bool()> &stop = {});

  int64_t evaluated() const { return rows - leftOut(); } ///< rows or windows
  int64_t leftOut() const { return parts.size() > 1 ? 0 : rows % parts[0].rows; }
  /// That some are left out, and why; "" where none is.
  std::string notice() const;
  /// The figures of the last run that have no value, since no row counts for one of their terms.
  const std::vector<std::string> &uncounted() const { return noValue; }
  /// Whether none of so many figures has a term that counted.
  bool hasNothing(size_t figures) const { return noTerm.size() == figures; }
  /// In words; "" where all have one.
  std::string uncountedNotice() const;

private:
  struct Part {
    Part(Program &program, const artifact::Entry &entry, const Dataset &dataset)
        : entry(entry), rows(entryRows(entry)), kept(keptRows(program, entry)),
          batch(makeBatch(dataset, rows)), outputs(program, entry) {}
    const artifact::Entry &entry;
    int64_t rows;
    std::vector<int64_t> kept; // of them, those that are read here
    Batch batch;
    Outputs outputs;
  };
  void runRows(Part &part, int64_t first);

  Program &program;
  const Dataset &dataset;
  const std::string what;
  const int64_t rows;      // or windows, of the data
  std::vector<Part> parts; // eval and, where a remainder is left, eval_one
  // Figures of the last run that have no value, and those of which no term has one.
  std::vector<std::string> noValue, noTerm;
};

} // namespace weir

#endif

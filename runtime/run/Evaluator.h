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

/// Evaluates all rows of arrays, or consecutive windows of streams, without the tokens after the
/// last whole window: in batches with the entry `eval`, and the remainder with `eval_one`. If the
/// rows of a batch are tied, there is no `eval_one`, and it leaves the remainder out.
class Evaluator {
public:
  /// `dataset` and `program` must outlive it; messages call the data `what`. Throws
  /// Failure(Exit::model) if `eval` is missing, and Failure(Exit::data) if tied rows do not fill a
  /// batch.
  Evaluator(Program &program, const Dataset &dataset, const std::string &what);

  /// The loss and each metric, NaN if no row counts for one of its terms; nothing if `stop`, which
  /// is called before each batch, returns true.
  std::optional<Values> run(const std::function<bool()> &stop = {});

  int64_t evaluated() const { return rows - leftOut(); } ///< rows or windows
  int64_t leftOut() const { return parts.size() > 1 ? 0 : rows % parts[0].rows; }
  /// A message that some rows are left out, and why; "" if none is.
  std::string notice() const;
  /// The figures of the last run that have no value, because no row counts for one of their terms.
  const std::vector<std::string> &uncounted() const { return noValue; }
  /// Whether so many figures have no term that counts.
  bool hasNothing(size_t figures) const { return noTerm.size() == figures; }
  /// The same as a message; "" if all have a value.
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

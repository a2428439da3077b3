//===- Evaluator.cpp - The held-out data, whole ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Evaluator.h"
#include "runtime/core/Error.h"
#include "runtime/core/Text.h"

namespace weir {

Evaluator::Evaluator(Program &program, const Dataset &dataset)
    : program(program), dataset(dataset) {
  parts.reserve(2);
  parts.emplace_back(program, requireEntry(program, "eval", "to evaluate held-out data"), dataset);
  if (dataset.coveringRows() % parts[0].rows != 0) {
    parts.emplace_back(
        program,
        requireEntry(program, "eval_one",
                     "to evaluate the rows that are left after the last whole batch"),
        dataset);
    if (parts[1].rows != 1)
      throw Failure(Exit::model,
                    concat("the entry 'eval_one' takes ", parts[1].rows, " rows; 1 expected"));
  }
}

void Evaluator::runRows(Part &part, int64_t first) {
  for (int64_t row = 0; row < part.rows; ++row) {
    int64_t window = dataset.window();
    int64_t position = window ? consecutiveStart(first + row, window) : first + row;
    for (size_t input = 0; input < part.batch.size(); ++input)
      dataset.write(input, position,
                    part.batch[input].data() + row * dataset.inputs()[input].rowBytes());
  }
  writeInputs(program, part.entry, dataset, part.batch);
  program.run(part.entry);
  part.outputs.add();
}

Values Evaluator::run() {
  for (Part &part : parts)
    part.outputs.clear();
  int64_t rows = dataset.coveringRows(), row = 0;
  for (Part &part : parts)
    for (; row + part.rows <= rows; row += part.rows)
      runRows(part, row);
  if (parts.size() > 1)
    parts[0].outputs.add(parts[1].outputs);
  Values values;
  for (const auto &[name, value] : parts[0].outputs.ratios())
    values.emplace_back("heldout_" + name, value);
  return values;
}

} // namespace weir

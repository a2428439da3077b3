//===- Evaluator.cpp - Loss and metrics of a data set ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Evaluator.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <cmath>

namespace weir {

Evaluator::Evaluator(Program &program, const Dataset &dataset, const std::string &what)
    : program(program), dataset(dataset), what(what), rows(dataset.coveringRows()) {
  parts.reserve(2);
  parts.emplace_back(program, requireEntry(program, "eval", "to evaluate " + what), dataset);
  const int64_t batch = parts[0].rows;
  if (rows % batch != 0)
    if (const artifact::Entry *one = program.entry("eval_one")) {
      parts.emplace_back(program, *one, dataset);
      if (parts[1].rows != 1)
        throw Failure(Exit::model,
                      concat("the entry 'eval_one' takes ", parts[1].rows, " rows; 1 expected"));
    }
  if (parts.size() == 1 && rows < batch)
    throw Failure(Exit::data,
                  concat(what, ": ", rows, dataset.window() ? " windows" : " rows", ", but ",
                         tiedRows(program, "eval"), ", so Weir evaluates only whole batches of ",
                         batch, "; give more data, or compile with a smaller batch"));
}

std::string Evaluator::notice() const {
  if (leftOut() == 0)
    return "";
  return concat(what, ": ", leftOut(), " of ", rows, dataset.window() ? " windows" : " rows",
                " are left out of every evaluation: ", tiedRows(program, "eval"),
                ", so only whole batches of ", parts[0].rows, " are evaluated");
}

void Evaluator::runRows(Part &part, int64_t first) {
  int64_t window = dataset.window();
  for (int64_t row : part.kept)
    readRow(dataset, window ? consecutiveStart(first + row, window) : first + row, part.batch, row);
  dataset.requireIntact();
  writeInputs(program, part.entry, dataset, part.batch);
  program.run(part.entry);
  part.outputs.add();
}

std::optional<Values> Evaluator::run(const std::function<bool()> &stop) {
  for (Part &part : parts)
    part.outputs.clear();
  int64_t row = 0;
  for (Part &part : parts)
    for (; row + part.rows <= rows; row += part.rows) {
      if (stop && stop())
        return std::nullopt;
      runRows(part, row);
    }
  if (parts.size() > 1)
    parts[0].outputs.add(parts[1].outputs);
  noValue = parts[0].outputs.partlyUncounted();
  noTerm = parts[0].outputs.uncounted();
  Values figures = parts[0].outputs.ratios();
  for (auto &[name, value] : figures)
    if (std::ranges::count(noValue, name))
      value = std::nan("");
  return figures;
}

std::string Evaluator::uncountedNotice() const {
  if (noValue.empty())
    return "";
  std::vector<std::string> figures = noTerm;
  for (const std::string &name : noValue)
    if (!std::ranges::count(noTerm, name))
      figures.push_back(concat("a term of ", name));
  return concat(what, ": no ", dataset.window() ? "window" : "row", " counts for ", join(figures),
                ": the count is 0, so there is no value");
}

} // namespace weir

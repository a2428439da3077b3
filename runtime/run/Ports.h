//===- Ports.h - A program's inputs and outputs as the run uses them ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_PORTS_H
#define WEIR_RUNTIME_RUN_PORTS_H

#include "runtime/core/Program.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/report/Record.h"

namespace weir {

/// The entry of that name. Throws Failure(Exit::model) if the artifact has none; the message says
/// why it is needed.
const artifact::Entry &requireEntry(const Program &program, const std::string &name,
                                    const std::string &purpose);

/// "the rows of a batch depend on each other (models/clip.weir:9:12: rows are combined with other
/// rows)", for an entry that runs only for whole batches.
std::string tiedRows(const Program &program, const std::string &entry);

/// The inputs of an entry, for Dataset.
std::vector<InputSpec> inputSpecs(const artifact::Entry &entry);

/// The rows that an entry takes: the first dimension of its inputs.
int64_t entryRows(const artifact::Entry &entry);

/// The rows that this process needs, ascending: all, unless other processes hold ranks with the
/// rest.
std::vector<int64_t> keptRows(const Program &program, const artifact::Entry &entry);

/// Copies a batch of `dataset` into the entry's input ports.
void writeInputs(Program &program, const artifact::Entry &entry, const Dataset &dataset,
                 const Batch &batch);

/// Reads the output ports of an entry. Adds up sums and counts in double over the calls of add().
/// The value of a ratio is the sum over its terms of weight * sum / count; a term with the count 0
/// adds nothing.
class Outputs {
public:
  Outputs(Program &program, const artifact::Entry &entry);

  void clear();
  /// Adds the sums and counts of a run.
  void add();
  /// Adds the totals of another entry's outputs with the same names.
  void add(const Outputs &other);

  /// Loss and metrics, in the order of their ports.
  Values ratios() const;
  /// Those whose terms all have the count 0: their value, 0, means nothing.
  std::vector<std::string> uncounted() const;
  /// Those of which some term, or each, has the count 0: their value omits it.
  std::vector<std::string> partlyUncounted() const;
  /// The scalar ports of the last run.
  Values scalars() const;

private:
  struct Term {
    uint32_t number;
    double weight;
    const artifact::Port *sum, *count;
    double sumSoFar, countSoFar;
  };
  struct Ratio {
    std::string name;
    std::vector<Term> terms;
  };
  double read(const artifact::Port &port) const;

  Program &program;
  const artifact::Entry &entry;
  std::vector<Ratio> all;
  std::vector<const artifact::Port *> scalarPorts;
};

/// A scalar of the run (artifact::Role::run); nothing if the program does not use it.
std::optional<int32_t> readRunScalar(const Program &program, std::string_view name);
void writeRunScalar(const Program &program, std::string_view name, int32_t value);

/// The value of that name, or `absent`.
double valueOf(const Values &values, const std::string &name, double absent);

} // namespace weir

#endif

//===- Ports.cpp - A program's inputs and outputs as the run uses them ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Ports.h"
#include "artifact/Reader.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <cassert>
#include <cstring>

namespace weir {
namespace {

const artifact::Tied *findTied(const Program &program, const std::string &entry) {
  if (program.plan().tied())
    for (const artifact::Tied *tied : *program.plan().tied())
      if (tied->entry()->string_view() == entry)
        return tied;
  return nullptr;
}

} // namespace

const artifact::Entry &requireEntry(const Program &program, const std::string &name,
                                    const std::string &purpose) {
  if (const artifact::Entry *entry = program.entry(name))
    return *entry;
  const artifact::Tied *tied = findTied(program, name);
  throw Failure(Exit::model, concat("the artifact of '", program.plan().model()->str(),
                                    "' has no entry '", name, "', which is needed ", purpose,
                                    tied ? concat(": ", tied->why()->string_view()) : ""));
}

std::string tiedRows(const Program &program, const std::string &entry) {
  if (const artifact::Tied *tied = findTied(program, entry))
    return concat("the rows of a batch depend on each other (", tied->why()->string_view(), ")");
  return "the artifact runs only whole batches";
}

std::vector<InputSpec> inputSpecs(const artifact::Entry &entry) {
  std::vector<InputSpec> specs;
  for (const artifact::Port *port : *entry.inputs()) {
    InputSpec spec;
    spec.name = port->name()->str();
    spec.element = artifact::elementOf(port->dtype());
    spec.shape.assign(port->shape()->begin(), port->shape()->end());
    spec.limit = port->limit();
    if (port->limit_config())
      spec.limitConfig = port->limit_config()->str();
    if (spec.shape.empty())
      throw Failure(Exit::model,
                    concat("the input '", spec.name, "' has no dimension that counts rows"));
    specs.push_back(std::move(spec));
  }
  return specs;
}

int64_t entryRows(const artifact::Entry &entry) {
  int64_t rows = 0;
  for (const InputSpec &spec : inputSpecs(entry)) {
    if (rows != 0 && spec.rows() != rows)
      throw Failure(Exit::model,
                    concat("the inputs of '", entry.name()->str(), "' take ", rows, " and ",
                           spec.rows(), " rows; all inputs must take the same number"));
    rows = spec.rows();
  }
  if (rows <= 0)
    throw Failure(Exit::model,
                  concat("the entry '", entry.name()->str(), "' has no input to read data for"));
  return rows;
}

std::vector<int64_t> keptRows(const Program &program, const artifact::Entry &entry) {
  int64_t count = entryRows(entry);
  std::vector<bool> kept(static_cast<size_t>(count));
  for (const artifact::Port *port : *entry.inputs()) {
    uint64_t bytes = 0;
    artifact::tensorSize(port->dtype(), *port->shape(), bytes);
    uint64_t row = bytes / uint64_t(count);
    program.forEachKept(entry, *port, [&](uint64_t from, uint64_t size) {
      for (uint64_t at = from / row; at * row < from + size; ++at)
        kept[at] = true;
    });
  }
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < count; ++row)
    if (kept[size_t(row)])
      rows.push_back(row);
  return rows;
}

void writeInputs(Program &program, const artifact::Entry &entry, const Dataset &dataset,
                 const Batch &batch) {
  for (const artifact::Port *port : *entry.inputs())
    for (size_t i = 0; i < batch.size(); ++i)
      if (dataset.inputs()[i].name == port->name()->string_view()) {
        assert(batch[i].size() == entryRows(entry) * dataset.inputs()[i].rowBytes());
        program.write(entry, *port, batch[i]);
      }
}

Outputs::Outputs(Program &program, const artifact::Entry &entry) : program(program), entry(entry) {
  for (const artifact::Port *port : *entry.outputs()) {
    if (port->kind() == artifact::PortKind::scalar)
      scalarPorts.push_back(port);
    if (port->kind() != artifact::PortKind::sum && port->kind() != artifact::PortKind::count)
      continue;
    std::string name = port->name()->str();
    auto ratio = std::find_if(all.begin(), all.end(),
                              [&](const Ratio &ratio) { return ratio.name == name; });
    if (ratio == all.end())
      ratio = all.insert(all.end(), {name, {}});
    auto &terms = ratio->terms;
    auto term = std::find_if(terms.begin(), terms.end(),
                             [&](const Term &term) { return term.number == port->term(); });
    if (term == terms.end())
      term = terms.insert(terms.end(), {port->term(), 1.0, nullptr, nullptr, 0, 0});
    if (port->kind() == artifact::PortKind::sum) {
      term->sum = port;
      term->weight = port->weight();
    } else {
      term->count = port;
    }
  }
  for (const Ratio &ratio : all)
    for (const Term &term : ratio.terms)
      if (!term.sum || !term.count)
        throw Failure(Exit::model, concat("the output '", ratio.name, "' of '", entry.name()->str(),
                                          "' lacks a sum or a count"));
}

double Outputs::read(const artifact::Port &port) const {
  Element element = artifact::elementOf(port.dtype());
  std::vector<std::byte> bytes(sizeOf(element));
  program.read(entry, port, bytes);
  double value = 0;
  loadNumbers(element, bytes.data(), {&value, 1});
  return value;
}

void Outputs::clear() {
  for (Ratio &ratio : all)
    for (Term &term : ratio.terms)
      term.sumSoFar = term.countSoFar = 0;
}

void Outputs::add() {
  for (Ratio &ratio : all)
    for (Term &term : ratio.terms) {
      term.sumSoFar += read(*term.sum);
      term.countSoFar += read(*term.count);
    }
}

void Outputs::add(const Outputs &other) {
  for (Ratio &ratio : all)
    for (const Ratio &more : other.all)
      if (more.name == ratio.name)
        for (size_t i = 0; i < std::min(ratio.terms.size(), more.terms.size()); ++i) {
          ratio.terms[i].sumSoFar += more.terms[i].sumSoFar;
          ratio.terms[i].countSoFar += more.terms[i].countSoFar;
        }
}

Values Outputs::ratios() const {
  Values values;
  for (const Ratio &ratio : all) {
    double value = 0;
    for (const Term &term : ratio.terms)
      if (term.countSoFar != 0)
        value += term.weight * term.sumSoFar / term.countSoFar;
    values.emplace_back(ratio.name, value);
  }
  return values;
}

std::vector<std::string> Outputs::uncounted() const {
  std::vector<std::string> names;
  for (const Ratio &ratio : all)
    if (std::ranges::all_of(ratio.terms, [](const Term &term) { return term.countSoFar == 0; }))
      names.push_back(ratio.name);
  return names;
}

std::vector<std::string> Outputs::partlyUncounted() const {
  std::vector<std::string> names;
  for (const Ratio &ratio : all)
    if (std::ranges::any_of(ratio.terms, [](const Term &term) { return term.countSoFar == 0; }))
      names.push_back(ratio.name);
  return names;
}

Values Outputs::scalars() const {
  Values values;
  for (const artifact::Port *port : scalarPorts)
    values.emplace_back(port->name()->str(), read(*port));
  return values;
}

static const TensorView *runScalar(const Program &program, std::string_view name) {
  for (const TensorView &variable : program.variables())
    if (variable.role == artifact::Role::run && variable.name == name &&
        variable.element == Element::i32 && variable.size == sizeof(int32_t))
      return &variable;
  return nullptr;
}

std::optional<int32_t> readRunScalar(const Program &program, std::string_view name) {
  const TensorView *scalar = runScalar(program, name);
  int32_t value = 0;
  if (!scalar)
    return std::nullopt;
  scalar->read(0, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

void writeRunScalar(const Program &program, std::string_view name, int32_t value) {
  if (const TensorView *scalar = runScalar(program, name))
    scalar->write(0, std::as_bytes(std::span(&value, 1)));
}

double valueOf(const Values &values, const std::string &name, double absent) {
  for (const auto &[key, value] : values)
    if (key == name)
      return value;
  return absent;
}

} // namespace weir

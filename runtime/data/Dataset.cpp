//===- Dataset.cpp - A model's inputs and where their values come from ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Dataset.h"
#include "runtime/data/Readers.h"
#include "runtime/data/Sampling.h"
#include "support/Error.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace weir {
namespace {

/// Elements that are scanned while binding: a fraction of a second.
constexpr int64_t scanned = int64_t{1} << 27;

std::string typeText(Element element, const std::vector<int64_t> &shape) {
  return concat(nameOf(element), shapeText(shape));
}

/// idx files hold samples, never tokens.
bool takesStream(const InputSpec &spec, const Array &array) {
  return isInteger(spec.element) && array.shape.size() == 1 && spec.shape.size() == 2 &&
         array.format != "idx";
}

[[noreturn]] void failType(const InputSpec &spec, const Array &array) {
  std::string advice;
  if (array.vocabulary)
    advice = "Weir reads text as numbered characters, for an input of i32; save numbers as .npy";
  else if (array.element == Element::b8)
    advice = concat(
        spec.element == Element::f32
            ? concat("declare the input u8 and convert it in the model: f32(", spec.name, "), and ")
            : std::string(),
        "save it as integers: .astype(\"uint8\") in NumPy");
  else if (spec.element == Element::f32)
    advice = concat("declare the input ",
                    nameOf(array.element == Element::u8 ? Element::u8 : Element::i32),
                    " and convert it in the model: f32(", spec.name, ")");
  else if (spec.element == Element::i32)
    advice = "declare the input f32, or save integers";
  else
    advice = concat("save it as ", nameOf(spec.element));
  throw Failure(Exit::data, concat(array.path, ": holds ", typeText(array.element, array.shape),
                                   ", but the input '", spec.name, "' takes ", nameOf(spec.element),
                                   "; ", advice));
}

/// The value at `index` is outside the input's range: says so, and which command would take all
/// values.
[[noreturn]] void failRange(const InputSpec &spec, const Array &array, int64_t index) {
  int64_t value = integerAt(array, index), most = value;
  int64_t last = std::min(array.count(), index + scanned);
  for (int64_t i = index; i < last; ++i)
    most = std::max(most, integerAt(array, i));

  std::string where =
      array.shape.size() == 1
          ? concat("position ", index)
          : concat("row ", index / std::max<int64_t>(array.count() / array.shape[0], 1));
  std::string found = concat("the value ", value, " at ", where);
  if (array.vocabulary)
    found = concat("the character ", characterText(array.vocabulary->code(value)),
                   " has the number ", value);
  if (spec.limit == 0)
    throw Failure(Exit::data, concat(array.path, ": ", found, " does not fit the input '",
                                     spec.name, "' of ", nameOf(spec.element)));
  std::string message = concat(array.path, ": ", found, ", but the input '", spec.name,
                               "' takes integers in [0, ", spec.limit, ")");
  if (array.vocabulary)
    most = static_cast<int64_t>(array.vocabulary->size()) - 1;
  if (value < 0)
    message += "; they cannot be negative";
  else if (most >= std::numeric_limits<int32_t>::max())
    message += concat("; ", most, " is more than any vocabulary has: check the file's format");
  else if (!spec.limitConfig.empty())
    message += concat(": the config '", spec.limitConfig, "' is ", spec.limit, "; --set ",
                      spec.limitConfig, "=", most + 1, " would accept ",
                      array.vocabulary ? "this text" : "these data");
  else
    message += concat("; for these data, the model must accept ", most + 1);
  throw Failure(Exit::data, message);
}

} // namespace

int64_t InputSpec::rowElements() const {
  int64_t total = 1;
  for (size_t d = 1; d < shape.size(); ++d)
    total *= shape[d];
  return total;
}

SourceSpec parseSource(const std::string &option, const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Failure(Exit::usage, concat(option, " ", text, ": expected ", option,
                                      " NAME=PATH, the model's input and its file"));
  if (pathOf(text.substr(equals + 1)).empty())
    throw Failure(Exit::usage, concat(option, " ", text, ": no file given; expected ", option, " ",
                                      text, "PATH (is a shell variable unset?)"));
  std::string format = unknownFormat(text.substr(equals + 1));
  if (!format.empty())
    throw Failure(Exit::usage, concat(option, " ", text, ": unknown format '", format, "'",
                                      didYouMean(format, formatNames()), "; the formats are ",
                                      join(formatNames())));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Dataset::Dataset(std::vector<InputSpec> inputs, const std::vector<SourceSpec> &sources,
                 const std::string &option, const Vocabularies &vocabularies)
    : specs(std::move(inputs)) {
  std::vector<std::string> names;
  for (const InputSpec &spec : specs)
    names.push_back(spec.name);
  std::string list = names.size() == 1 ? "the model's input is " + names[0]
                                       : "the model's inputs are " + joinFew(names);
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string &name = sources[i].input;
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Failure(Exit::usage, concat(option, " ", name, "=…: the model has no input '", name,
                                        "'", didYouMean(name, names), "; ", list));
    for (size_t j = 0; j < i; ++j)
      if (sources[j].input == name)
        throw Failure(Exit::usage,
                      concat(option, " ", name, "=… is given twice; an input has one source"));
  }
  for (const InputSpec &spec : specs) {
    auto source = std::find_if(sources.begin(), sources.end(),
                               [&](const SourceSpec &source) { return source.input == spec.name; });
    if (source == sources.end())
      throw Failure(Exit::usage, concat("no data for the input '", spec.name, "' (",
                                        typeText(spec.element, spec.shape), "); give ", option, " ",
                                        spec.name, "=PATH"));
    auto vocabulary = vocabularies.find(spec.name);
    bind(spec, openSource(source->location,
                          vocabulary == vocabularies.end() ? nullptr : &vocabulary->second));
  }
}

void Dataset::bind(const InputSpec &spec, Array array) {
  assert(!spec.shape.empty());
  if (!converts(array.element, spec.element))
    failType(spec, array);

  bool stream = takesStream(spec, array);
  std::vector<int64_t> row(spec.shape.begin() + 1, spec.shape.end());
  if (array.isPlain && !stream) {
    int64_t count = array.count(), elements = spec.rowElements();
    if (count % elements != 0)
      throw Failure(Exit::data,
                    concat(array.path, ": holds ", count, " numbers of ", nameOf(array.element),
                           ", but a row of the input '", spec.name, "' has ", elements, ", ",
                           shapeText(row), ", so the numbers do not form whole rows"));
    array.shape = spec.shape;
    array.shape[0] = count / elements;
  }
  if (!stream) {
    if (array.shape.empty() ||
        !std::equal(array.shape.begin() + 1, array.shape.end(), row.begin(), row.end()))
      throw Failure(Exit::data,
                    concat(array.path, ": holds ", typeText(array.element, array.shape),
                           ", rows of ", shapeText({array.shape.begin() + 1, array.shape.end()}),
                           "; the input '", spec.name, "' takes ",
                           typeText(spec.element, spec.shape), ", rows of ", shapeText(row)));
    if (array.shape[0] == 0)
      throw Failure(Exit::data, array.path + ": has no rows");
  }
  if (arrays.empty()) {
    windowSize = stream ? row[0] : 0;
    end = array.shape[0];
  } else {
    const Array &first = arrays.front();
    if (stream != (windowSize > 0))
      throw Failure(Exit::data, concat("the input '", spec.name, "' is ",
                                       stream ? "a stream of tokens" : "an array of rows", " (",
                                       array.path, "), but '", specs[0].name, "' is ",
                                       stream ? "an array of rows" : "a stream of tokens", " (",
                                       first.path, "); all inputs must be of the same kind"));
    if (array.shape[0] != end)
      throw Failure(Exit::data, concat(array.path, ": has ", array.shape[0],
                                       stream ? " tokens" : " rows", ", but ", first.path, " has ",
                                       end, "; all inputs must have the same number"));
    if (stream)
      windowSize = std::max(windowSize, row[0]);
  }
  if (stream && array.shape[0] < windowSize)
    throw Failure(Exit::data,
                  concat(array.path, ": has ", array.shape[0], " tokens, but the input '",
                         spec.name, "' takes windows of ", windowSize));
  checkRange(spec, array);
  arrays.push_back(std::move(array));
}

void Dataset::checkRange(const InputSpec &spec, const Array &array) const {
  // A text says how many numbers it has without a scan.
  if (array.vocabulary && spec.limit > 0 &&
      static_cast<int64_t>(array.vocabulary->size()) > spec.limit)
    throw Failure(Exit::data,
                  concat(array.path, ": has ", array.vocabulary->size(),
                         " distinct characters, but the input '", spec.name,
                         "' takes integers in [0, ", spec.limit, ")",
                         spec.limitConfig.empty()
                             ? "; for this text, the model must accept " +
                                   std::to_string(array.vocabulary->size())
                             : concat(": the config '", spec.limitConfig, "' is ", spec.limit,
                                      "; --set ", spec.limitConfig, "=", array.vocabulary->size(),
                                      " would accept this text")));
  if (isInteger(array.element) || array.element == Element::b8) {
    int64_t bad = findOutside(array, 0, std::min(array.count(), scanned), spec.element, spec.limit);
    if (bad >= 0)
      failRange(spec, array, bad);
  }
}

Vocabularies Dataset::vocabularies() const {
  Vocabularies all;
  for (size_t i = 0; i < specs.size(); ++i)
    if (arrays[i].vocabulary)
      all[specs[i].name] = *arrays[i].vocabulary;
  return all;
}

int64_t Dataset::coveringRows() const {
  return windowSize ? consecutiveWindows(units(), windowSize) : units();
}

Dataset Dataset::part(int64_t first, int64_t last) const {
  assert(0 <= first && first <= last && last <= units());
  Dataset other(*this);
  other.begin = begin + first;
  other.end = begin + last;
  return other;
}

std::pair<Dataset, Dataset> Dataset::split(double fraction) const {
  assert(fraction > 0 && fraction < 1);
  auto at = static_cast<int64_t>(std::floor(static_cast<double>(units()) * (1 - fraction)));
  std::pair<Dataset, Dataset> parts(part(0, at), part(at, units()));
  if (parts.second.coveringRows() == 0)
    throw Failure(Exit::data,
                  concat(arrays[0].path, ": of ", units(), windowSize ? " tokens" : " rows",
                         ", --holdout ", fraction, " holds out ", units() - at, ", but ",
                         windowSize ? concat("one window takes ", windowSize)
                                    : std::string("at least 1 is needed"),
                         "; hold out more"));
  return parts;
}

void Dataset::requireRows(int64_t rows) const {
  const std::string &path = arrays[0].path;
  if (windowSize ? units() < windowSize : units() < rows)
    throw Failure(Exit::data,
                  windowSize
                      ? concat(path, ": leaves ", units(),
                               " tokens to train on, but one window takes ", windowSize)
                      : concat(path, ": leaves ", units(), " rows to train on, but one step takes ",
                               rows, "; use a smaller batch, or more data"));
}

void Dataset::write(size_t input, int64_t position, std::byte *out) const {
  const InputSpec &spec = specs[input];
  int64_t elements = spec.rowElements();
  int64_t first = windowSize ? begin + position : (begin + position) * elements;
  assert(position >= 0 && position < units());
  int64_t bad = convert(arrays[input], first, elements, spec.element, spec.limit, out);
  if (bad < 0)
    return;
  requireIntact();
  failRange(spec, arrays[input], bad);
}

std::optional<std::string> Dataset::notFinite(int64_t position) const {
  for (size_t input = 0; input < specs.size(); ++input) {
    const InputSpec &spec = specs[input];
    if (spec.element != Element::f32)
      continue;
    std::vector<float> row(spec.rowElements());
    write(input, position, reinterpret_cast<std::byte *>(row.data()));
    auto bad = std::find_if(row.begin(), row.end(), [](float x) { return !std::isfinite(x); });
    if (bad == row.end())
      continue;
    std::vector<int64_t> place(spec.shape.size(), begin + position);
    int64_t index = bad - row.begin();
    for (size_t d = place.size(); d-- > 1; index /= spec.shape[d])
      place[d] = index % spec.shape[d];
    return concat("the input '", spec.name, "' has ", *bad, " in row ", begin + position, " of ",
                  arrays[input].path, place.size() > 1 ? ", at " + shapeText(place) : "");
  }
  return std::nullopt;
}

void Dataset::requireIntact() const {
  for (const Array &array : arrays)
    if (array.file && array.owner == array.file) // not a copy of it, as a text's numbers are
      array.file->requireIntact();
}

} // namespace weir

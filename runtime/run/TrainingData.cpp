//===- TrainingData.cpp - Data of a training run --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/TrainingData.h"
#include "runtime/checkpoint/Fingerprint.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/data/MappedFile.h"
#include "runtime/report/Say.h"
#include "runtime/run/Ports.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include <algorithm>

namespace weir {
namespace {

std::vector<SourceSpec> sources(const char *option, const std::vector<std::string> &texts) {
  std::vector<SourceSpec> specs;
  for (const std::string &text : texts)
    specs.push_back(parseSource(option, text));
  return specs;
}

/// By input. Files are read for their fingerprints alone.
std::map<std::string, Manifest::Data> factsOf(const Dataset &dataset, bool fingerprints) {
  std::map<std::string, Manifest::Data> facts;
  for (size_t i = 0; i < dataset.inputs().size(); ++i) {
    const Array &source = dataset.source(i);
    facts[dataset.inputs()[i].name] = {source.path, source.format, source.file->bytes().size(),
                                       fingerprints ? fingerprint(source.file->bytes())
                                                    : std::string()};
  }
  return facts;
}

bool usesWholeVocabulary(const Array &text) {
  std::vector<bool> used(text.vocabulary->size());
  size_t left = used.size();
  for (int64_t i = 0; i < text.count() && left > 0; ++i) {
    int64_t number = integerAt(text, i);
    left -= !used[number];
    used[number] = true;
  }
  return left == 0;
}

} // namespace

TrainingData::TrainingData(const artifact::Entry &step, const RunOptions &options,
                           const InitialState &initialState, bool fingerprints)
    : options(options), stepRows(entryRows(step)) {
  Dataset all(inputSpecs(step), sources("--data", options.data), "--data",
              initialState.vocabularies());
  Group *group = options.device.group;
  dataFacts = factsOf(all, fingerprints || group);
  if (!options.evalData.empty())
    held.emplace(inputSpecs(step), sources("--eval-data", options.evalData), "--eval-data",
                 all.vocabularies());
  if (group)
    compareRanks(*group, held ? factsOf(*held, true) : std::map<std::string, Manifest::Data>());
  if (initialState.checkpoint())
    checkVocabularies(all, *initialState.checkpoint());
  if (options.holdout > 0) {
    auto parts = all.split(options.holdout);
    dataset = std::move(parts.first);
    held = std::move(parts.second);
  } else {
    dataset = std::move(all);
  }
  if (options.evalEvery > 0 && !held)
    throw Failure(Exit::usage, "--eval-every: no held-out data; give --holdout or --eval-data");
  dataset->requireRows(stepRows);
}

double TrainingData::unitsPerStep() const {
  return static_cast<double>(stepRows * std::max<int64_t>(dataset->window() - 1, 1));
}

/// That all processes read the same, wherever each has it.
void TrainingData::compareRanks(Group &group,
                                const std::map<std::string, Manifest::Data> &heldFacts) const {
  std::vector<collectives::Given> given;
  for (const auto &[option, facts] :
       {std::pair("--data", &dataFacts), std::pair("--eval-data", &heldFacts)})
    for (const auto &[input, data] : *facts) {
      std::string value =
          concat(data.size, " bytes, ", data.format, ", content ", data.fingerprint);
      given.push_back({concat(option, " ", shownName(input)), value,
                       concat(shownName(data.path), " (", value, ")")});
    }
  collectives::requireSameGiven(group, "the comparison of data", given);
}

void TrainingData::checkVocabularies(const Dataset &all, const Checkpoint &resumed) const {
  const Manifest &before = resumed.manifest;
  for (size_t i = 0; i < all.inputs().size(); ++i) {
    const std::string &name = all.inputs()[i].name;
    const Array &source = all.source(i);
    auto data = before.data.find(name);
    auto vocabulary = before.vocabularies.find(name);
    bool wasText = vocabulary != before.vocabularies.end();
    if (wasText != source.vocabulary.has_value() && (wasText || data != before.data.end()))
      throw Failure(Exit::data,
                    concat(source.path, ": is read as ", source.format, ", but the run in ",
                           options.checkpoint, " was trained on ",
                           wasText ? "text" : data->second.format, " for the input '", name,
                           "', so its numbers would have another meaning; give it ",
                           wasText ? "text" : data->second.format, ", or start another run"));
    if (wasText && !usesWholeVocabulary(source))
      say(concat(source.path, ": has fewer than the ", vocabulary->second.size(),
                 " characters that the run started with; they keep the numbers in ", resumed.path));
  }
}

} // namespace weir

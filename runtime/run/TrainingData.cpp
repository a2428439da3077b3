//===- TrainingData.cpp - What a run reads --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/TrainingData.h"
#include "runtime/base/Text.h"
#include "runtime/checkpoint/Fingerprint.h"
#include "runtime/data/MappedFile.h"
#include "runtime/report/Say.h"
#include "runtime/run/Ports.h"
#include <algorithm>

namespace weir {
namespace {

std::vector<SourceSpec> sources(const char *option, const std::vector<std::string> &texts) {
  std::vector<SourceSpec> specs;
  for (const std::string &text : texts)
    specs.push_back(parseSource(option, text));
  return specs;
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
                           const Beginning &beginning, bool fingerprints)
    : options(options), stepRows(entryRows(step)) {
  Dataset all(inputSpecs(step), sources("--data", options.data), "--data",
              beginning.vocabularies());
  if (beginning.checkpoint())
    checkVocabularies(all, *beginning.checkpoint());
  noteFacts(all, fingerprints);
  if (!options.evalData.empty())
    held.emplace(inputSpecs(step), sources("--eval-data", options.evalData), "--eval-data",
                 all.vocabularies());
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

/// The content only where a checkpoint will keep it or has kept it: it is read once for that.
void TrainingData::noteFacts(const Dataset &all, bool fingerprints) {
  for (size_t i = 0; i < all.inputs().size(); ++i) {
    const Array &source = all.source(i);
    Manifest::Data &facts = dataFacts[all.inputs()[i].name];
    facts = {source.path, source.format, source.file->bytes().size(), ""};
    if (fingerprints)
      facts.fingerprint = fingerprint(source.file->bytes());
  }
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
                           "', where the numbers mean something else; give it ",
                           wasText ? "text" : data->second.format, ", or begin another run"));
    if (wasText && !usesWholeVocabulary(source))
      say(concat(source.path, ": has fewer than the ", vocabulary->second.size(),
                 " characters that the run was begun with; they keep the numbers of ",
                 resumed.path));
  }
}

} // namespace weir

//===- Manifest.cpp - What a checkpoint says of itself --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/Disk.h"
#include "runtime/checkpoint/Fields.h"
#include "runtime/checkpoint/Leftovers.h"
#include "support/Text.h"
#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir {

using Json = nlohmann::json;

namespace {
/// Format 1 has other hashes of the files.
constexpr int64_t formatVersion = 2;
constexpr int64_t most32 = std::numeric_limits<int32_t>::max(),
                  most64 = std::numeric_limits<int64_t>::max();

/// Of the manifest without its own hash; nlohmann's dump has one form per value.
std::string selfHash(const Json &json) {
  std::string text = json.dump();
  return hexText(hashOf(text.data(), text.size()));
}
} // namespace

std::string Manifest::write() const {
  bool isOld = std::ranges::any_of(files, [](const auto &file) { return file.second.sum.empty(); });
  Json json = {{"format", isOld ? 1 : formatVersion},
               {"step", step},
               {"total_steps", totalSteps},
               {"seed", seed},
               {"skipped_steps", skipped},
               {"skipped_in_a_row", skippedInARow},
               {"model", model},
               {"target", target},
               {"configs", configs},
               {"data", Json::object()},
               {"files", Json::object()}};
  if (precision != Manifest().precision)
    json["precision"] = precision;
  if (master != Manifest().master)
    json["master"] = master;
  if (lossScale != Manifest().lossScale)
    json["loss_scale"] = lossScale;
  if (strategy)
    json["strategy"] = *strategy;
  if (overflowsInARow)
    json["overflows_in_a_row"] = overflowsInARow;
  if (!training.empty())
    json["training"] = training;
  if (!prediction.empty())
    json["prediction"] = prediction;
  if (holdout)
    json["holdout"] = *holdout;
  if (shuffle)
    json["shuffle"] = *shuffle;
  for (const auto &[input, source] : data) {
    json["data"][input] = {{"path", source.path}, {"format", source.format}};
    if (!source.fingerprint.empty()) {
      json["data"][input]["size"] = source.size;
      json["data"][input]["fingerprint"] = source.fingerprint;
    }
    if (auto vocabulary = vocabularies.find(input); vocabulary != vocabularies.end())
      json["data"][input]["vocabulary"] = vocabulary->second.text();
  }
  for (const auto &[name, file] : files)
    json["files"][name] = {{"size", file.size},
                           isOld ? Json{"xxh3", file.xxh3} : Json{"sum", file.sum}};
  // A path is bytes, not always UTF-8.
  json = Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  json["xxh3"] = selfHash(json);
  return json.dump(2) + "\n";
}

static Vocabulary readVocabulary(const Fields &source) {
  std::string characters = source.text("vocabulary");
  std::vector<uint32_t> codes;
  for (size_t at = 0; at < characters.size();) // JSON is UTF-8
    codes.push_back(decodeUtf8(characters, at));
  if (codes.empty())
    source.fail("vocabulary", "at least one character");
  return Vocabulary(std::move(codes));
}

Manifest Manifest::read(std::string_view text) {
  Json json = parseManifest(text);
  Fields all(json);
  int64_t format = all.whole("format", 0, most64);
  if (format < 1 || format > formatVersion)
    throw std::runtime_error(concat("manifest.json has format ", format,
                                    ", but this program reads formats 1 to ", formatVersion));
  std::string hash = all.hash("xxh3");
  json.erase("xxh3");
  if (hash != selfHash(json))
    throw std::runtime_error("manifest.json does not match the hash in it");
  Manifest manifest;
  manifest.totalSteps = all.whole("total_steps", 1, most32);
  manifest.step = all.whole("step", 0, manifest.totalSteps);
  manifest.seed = all.whole("seed", 0, most32);
  if (all.has("skipped_steps")) { // not in those of older builds
    manifest.skipped = all.whole("skipped_steps", 0, manifest.step);
    manifest.skippedInARow = all.whole("skipped_in_a_row", 0, manifest.skipped);
  }
  manifest.model = all.text("model");
  manifest.target = all.text("target");
  Fields configs = all.object("configs"), data = all.object("data"), files = all.object("files");
  for (const std::string &name : configs.names())
    manifest.configs[name] = configs.text(name);
  if (all.has("precision"))
    manifest.precision = all.text("precision");
  if (all.has("master"))
    manifest.master = all.text("master");
  if (all.has("loss_scale"))
    manifest.lossScale = all.text("loss_scale");
  if (all.has("strategy"))
    manifest.strategy = all.text("strategy");
  if (all.has("overflows_in_a_row"))
    manifest.overflowsInARow = all.whole("overflows_in_a_row", 0, manifest.skipped);
  if (all.has("training"))
    manifest.training = all.hash("training");
  if (all.has("prediction"))
    manifest.prediction = all.hash("prediction");
  if (all.has("holdout"))
    manifest.holdout = all.number("holdout", 0, 1);
  if (all.has("shuffle"))
    manifest.shuffle = all.truth("shuffle");
  for (const std::string &input : data.names()) {
    Fields source = data.object(input);
    Data &facts = manifest.data[input];
    facts.path = source.text("path");
    facts.format = source.text("format");
    if (source.has("fingerprint")) {
      facts.size = source.whole("size", 0, most64);
      facts.fingerprint = source.hash("fingerprint");
    }
    if (source.has("vocabulary") || facts.format == "text")
      manifest.vocabularies[input] = readVocabulary(source);
  }
  for (const char *name : {modelFile, stateFile}) {
    Fields file = files.object(name);
    Manifest::File &facts = manifest.files[name];
    facts.size = static_cast<uint64_t>(file.whole("size", 0, most64));
    (format == 1 ? facts.xxh3 : facts.sum) = file.hash(format == 1 ? "xxh3" : "sum");
  }
  return manifest;
}

} // namespace weir

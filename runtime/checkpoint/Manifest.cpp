//===- Manifest.cpp - What a checkpoint says of itself --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/Disk.h"
#include "runtime/core/Text.h"
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace weir {

using Json = nlohmann::json;

namespace {
constexpr int64_t formatVersion = 1;

/// Of the manifest without its own hash; nlohmann's dump has one form per value.
std::string selfHash(const Json &json) {
  std::string text = json.dump();
  return hexText(hashOf(text.data(), text.size()));
}
} // namespace

std::string Manifest::write() const {
  Json json = {{"format", formatVersion},
               {"step", step},
               {"total_steps", totalSteps},
               {"seed", seed},
               {"model", model},
               {"target", target},
               {"configs", configs},
               {"data", Json::object()},
               {"files", Json::object()}};
  for (const auto &[input, source] : data) {
    json["data"][input] = {{"path", source.path}, {"format", source.format}};
    if (auto vocabulary = vocabularies.find(input); vocabulary != vocabularies.end())
      json["data"][input]["vocabulary"] = vocabulary->second.text();
  }
  for (const auto &[name, file] : files)
    json["files"][name] = {{"size", file.size}, {"xxh3", file.xxh3}};
  // A path is bytes, not always UTF-8.
  json = Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  json["xxh3"] = selfHash(json);
  return json.dump(2) + "\n";
}

Manifest Manifest::read(std::string_view text) {
  constexpr size_t longest = 64 << 20;
  if (text.size() > longest)
    throw std::runtime_error(concat("manifest.json has ", text.size(), " bytes"));
  try {
    Json json = Json::parse(text);
    int64_t format = json.at("format");
    if (format != formatVersion)
      throw std::runtime_error(
          concat("manifest.json is of format ", format, ", this program reads ", formatVersion));
    std::string hash = json.at("xxh3");
    json.erase("xxh3");
    if (hash != selfHash(json))
      throw std::runtime_error("manifest.json does not have the hash it states");
    Manifest manifest;
    manifest.step = json.at("step");
    manifest.totalSteps = json.at("total_steps");
    manifest.seed = json.at("seed");
    manifest.model = json.at("model");
    manifest.target = json.at("target");
    manifest.configs = json.at("configs");
    for (const auto &[input, source] : json.at("data").items()) {
      manifest.data[input] = {source.at("path"), source.at("format")};
      if (!source.contains("vocabulary"))
        continue;
      std::string characters = source.at("vocabulary");
      std::vector<uint32_t> codes;
      for (size_t at = 0; at < characters.size();) {
        int32_t code = decodeUtf8(characters, at);
        if (code < 0)
          throw std::runtime_error("manifest.json has a vocabulary that is no UTF-8");
        codes.push_back(code);
      }
      manifest.vocabularies[input] = Vocabulary(std::move(codes));
    }
    for (const auto &[name, file] : json.at("files").items())
      manifest.files[name] = {file.at("size"), file.at("xxh3")};
    return manifest;
  } catch (const Json::exception &error) {
    throw std::runtime_error(concat("manifest.json cannot be read (", error.what(), ")"));
  }
}

} // namespace weir

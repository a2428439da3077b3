//===- Manifest.cpp - Any text as a checkpoint's manifest ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mutator changes a manifest's values and mends its hash, so that the checks behind it answer.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/Disk.h"
#include "test/fuzz/Target.h"
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

using Json = nlohmann::json;

static void collect(Json &json, std::vector<Json *> &values) {
  for (auto &item : json) {
    values.push_back(&item);
    if (item.is_structured())
      collect(item, values);
  }
}

static const Json strange[] = {nullptr,
                               true,
                               "",
                               "\x1b[2J",
                               "../..",
                               0,
                               -1,
                               INT32_MAX,
                               int64_t(1) << 31,
                               INT64_MAX,
                               INT64_MIN,
                               UINT64_MAX,
                               1.5,
                               1e300,
                               Json::array(),
                               Json::object(),
                               Json::array({1})};

static void mutate(Json &manifest, std::minstd_rand &random) {
  std::vector<Json *> values;
  collect(manifest, values);
  if (values.empty())
    return;
  Json &value = *values[random() % values.size()];
  switch (random() % 4) {
  case 0:
    value = strange[random() % std::size(strange)];
    break;
  case 1: {
    Json other = *values[random() % values.size()]; // a copy: it may be part of this one
    value = std::move(other);
    break;
  }
  case 2:
    if (value.is_object() && !value.empty())
      value.erase(std::next(value.begin(), random() % value.size()));
    else if (value.is_number_integer())
      value = value.get<int64_t>() ^ (int64_t(1) << random() % 64);
    break;
  default:
    if (value.is_object())
      value["other"] = strange[random() % std::size(strange)];
    else if (value.is_string())
      value = value.get<std::string>() + "x";
  }
}

/// The text of a manifest with the hash that it should have (runtime/checkpoint/Manifest.cpp).
static std::string withHash(Json manifest) {
  if (manifest.is_object()) {
    manifest.erase("xxh3");
    std::string text = manifest.dump(-1, ' ', false, Json::error_handler_t::replace);
    manifest["xxh3"] = weir::hexText(weir::hashOf(text.data(), text.size()));
  }
  return manifest.dump(2, ' ', false, Json::error_handler_t::replace);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  Json manifest = Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (manifest.is_discarded() || random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, most);
  for (size_t count = 1 + random() % 3; count > 0; --count)
    mutate(manifest, random);
  std::string text = withHash(manifest);
  size_t length = std::min(text.size(), most);
  std::memcpy(data, text.data(), length);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using weir::Manifest;
  Manifest manifest;
  try {
    manifest = Manifest::read(std::string_view(reinterpret_cast<const char *>(data), size));
  } catch (const std::runtime_error &) {
    return 0;
  }
  weir::fuzz::require(manifest.step >= 0 && manifest.totalSteps >= 0, "steps are counted from 0");
  std::string text = manifest.write();
  weir::fuzz::require(Manifest::read(text).write() == text,
                      "what is read and written is read as the same");
  return 0;
}

//===- ManifestTest.cpp - Manifests that say something wrong --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/checkpoint/TestState.h"
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Json = nlohmann::json;
using Path = Json::json_pointer;

Json whole() {
  Manifest manifest = TestState(100).manifest;
  for (const char *name : {"model.safetensors", "state.safetensors"})
    manifest.files[name] = {80, "0123456789abcdef"};
  return Json::parse(manifest.write());
}

/// With the hash that it should have.
std::string hashed(Json json) {
  json.erase("xxh3");
  std::string text = json.dump();
  json["xxh3"] = hexText(hashOf(text.data(), text.size()));
  return json.dump();
}

std::string refused(const std::string &text) {
  try {
    Manifest::read(text);
  } catch (const std::runtime_error &error) {
    EXPECT_LT(strlen(error.what()), 400u);
    return error.what();
  }
  return "";
}

TEST(Manifest, RoundTrip) { EXPECT_EQ(refused(hashed(whole())), ""); }

TEST(Manifest, TheStrategyMayBeUnknown) {
  Manifest manifest = Manifest::read(hashed(whole()));
  EXPECT_FALSE(manifest.strategy);
  for (const char *text : {"", "mesh=dp=2 zero=1"}) {
    manifest.strategy = text;
    EXPECT_EQ(Manifest::read(manifest.write()).strategy, text);
  }
}

TEST(Manifest, EveryFieldIsChecked) {
  struct Wrong {
    const char *field, *value, *says;
  };
  const Wrong all[] = {
      {"/step", "-1", "'step': expected a whole number from 0 to 1000, found -1"},
      {"/step", "1001", "found 1001"},
      {"/step", "1.5", "found 1.5"},
      {"/step", "1e2", "found 100.0"},
      {"/step", "\"7\"", "found \"7\""},
      {"/step", "null", "found null"},
      {"/total_steps", "0", "'total_steps': expected a whole number from 1 to 2147483647, found 0"},
      {"/total_steps", "9223372036854775807", "found 9223372036854775807"},
      {"/total_steps", "18446744073709551615", "found 18446744073709551615"},
      {"/total_steps", "1e300", "found 1e+300"},
      {"/seed", "-1", "'seed': expected a whole number from 0 to 2147483647"},
      {"/seed", "2147483648", "found 2147483648"},
      {"/seed", "[1]", "found a list"},
      {"/model", "7", "'model': expected a text, found 7"},
      {"/target", "{}", "found an object"},
      {"/strategy", "7", "'strategy': expected a text, found 7"},
      {"/configs", "[]", "'configs': expected an object, found a list"},
      {"/configs/batch", "4", "'configs.batch': expected a text"},
      {"/data", "null", "'data': expected an object"},
      {"/data/window", "\"text.txt\"", "'data.window': expected an object"},
      {"/data/window/path", "1", "'data.window.path': expected a text"},
      {"/data/window/format", "true", "'data.window.format'"},
      {"/data/window/vocabulary", "\"\"",
       "'data.window.vocabulary': expected at least one character"},
      {"/data/window/vocabulary", "3", "expected a text, found 3"},
      {"/files", "3", "'files': expected an object"},
      {"/files/model.safetensors/size", "-1", "'files.model.safetensors.size'"},
      {"/files/model.safetensors/sum", "\"0123456789ABCDEF\"", "expected 16 hexadecimal digits"},
      {"/files/state.safetensors/sum", "\"\"", "'files.state.safetensors.sum'"},
      {"/format", "3", "has format 3, but this program reads formats 1 to 2"},
      {"/format", "0", "has format 0, but this program reads formats 1 to 2"},
      {"/format", "1.0", "'format'"},
  };
  for (const Wrong &wrong : all) {
    Json json = whole();
    json[Path(wrong.field)] = Json::parse(wrong.value);
    EXPECT_TRUE(says(refused(hashed(json)), {"manifest.json", wrong.says}))
        << wrong.field << " " << wrong.value;
  }
}

TEST(Manifest, EveryFieldIsNeeded) {
  for (const char *field :
       {"/step", "/total_steps", "/seed", "/model", "/target", "/configs", "/data", "/files",
        "/data/window/path", "/data/window/format", "/data/window/vocabulary",
        "/files/model.safetensors", "/files/state.safetensors", "/files/model.safetensors/size",
        "/files/state.safetensors/sum"}) {
    Json json = whole();
    Path path(field);
    json[path.parent_pointer()].erase(path.back());
    EXPECT_TRUE(says(refused(hashed(json)), {path.back(), "found nothing"})) << field;
  }
  Json tokens = whole();
  tokens[Path("/data/window/format")] = "nanogpt";
  tokens[Path("/data/window")].erase("vocabulary");
  EXPECT_EQ(refused(hashed(tokens)), "");
}

TEST(Manifest, Format1HasOtherHashes) {
  Manifest manifest = TestState(100).manifest;
  for (const char *name : {"model.safetensors", "state.safetensors"})
    manifest.files[name] = {.size = 80, .xxh3 = "0123456789abcdef"};
  Json json = Json::parse(manifest.write());
  EXPECT_EQ(json["format"], 1);
  Manifest again = Manifest::read(hashed(json));
  EXPECT_EQ(again.files["model.safetensors"].xxh3, "0123456789abcdef");
  EXPECT_EQ(again.write(), manifest.write());
  json["format"] = 2;
  EXPECT_TRUE(says(refused(hashed(json)), {"'files.model.safetensors.sum'", "found nothing"}));
}

TEST(Manifest, TextThatIsNoManifest) {
  auto nested = [](size_t depth, const std::string &open, const std::string &close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i)
      text += open;
    for (size_t i = 0; i < depth; ++i)
      text += close;
    return text;
  };
  EXPECT_TRUE(says(refused(nested(100000, "[", "]")), {"nests deeper"}));
  EXPECT_TRUE(says(refused(nested(100000, "{\"a\":", "}")), {"nests deeper"}));
  EXPECT_TRUE(says(refused("{\"format\":" + nested(100000, "[", "") + "}"), {"nests deeper"}));
  EXPECT_TRUE(says(refused("[1]"), {"is not a JSON object"}));
  EXPECT_TRUE(says(refused(""), {"not valid JSON"}));
  EXPECT_TRUE(says(refused("{\"model\":\"\xff\"}"), {"not valid JSON"}));
  EXPECT_TRUE(says(refused("{\"step\":1e999}"), {"not valid JSON"}));
  EXPECT_TRUE(says(refused("{\"format\":1}"), {"'xxh3'"}));
  std::string letters = "{\"format\":1,\"" + std::string(1 << 20, '\x7f') + "\":";
  EXPECT_TRUE(says(refused(letters), {"not valid JSON at byte"}));
  Json json = whole();
  json["configs"]["\x1b[2J"] = 1;
  EXPECT_TRUE(says(refused(hashed(json)), {"'configs.\\x1b[2J'"}));
}

} // namespace
} // namespace weir

//===- Choice.cpp - One way to train a model on several devices -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Choice.h"
#include "planner/machines/TomlTable.h"
#include "runtime/base/Link.h"
#include "runtime/base/Mesh.h"
#include "runtime/base/MeshRates.h"
#include "runtime/base/Text.h"
#include "runtime/base/Utf8.h"
#include <algorithm>

namespace weir::planner {

std::string Choice::text() const {
  std::vector<std::string> words;
  auto say = [&](const std::string &option, const std::string &value) {
    if (!value.empty())
      words.push_back(option + " " + value);
  };
  say("--mesh", mesh);
  say("--zero", zero ? std::to_string(zero) : "");
  say("--microbatches", microbatches ? std::to_string(microbatches) : "");
  say("--schedule", schedule);
  for (const std::string &pattern : recompute)
    say("--recompute", "'" + pattern + "'");
  say("--sequence-parallel", sequenceParallel ? "" : "off");
  say("--context-parallel", contextParallel);
  say("--offload", offload);
  return join(words, " ");
}

PlanFile readPlanFile(const std::string &path) {
  TomlTable file = TomlTable::read(path), table = file.table("plan");
  if (!file.has("plan"))
    file.wrong("plan", "is missing: expected a table [plan], as `weir plan -o` writes it");
  PlanFile plan;
  plan.model = table.text("model", "");
  plan.target = table.text("target", "");
  plan.precision = table.text("precision", "");
  Choice &choice = plan.choice;
  choice.mesh = table.text("mesh", "");
  if (auto parsed = Mesh::parse(choice.mesh); auto *wrong = std::get_if<std::string>(&parsed))
    table.wrong("mesh", *wrong);
  choice.zero = table.integer("zero", 0, 0);
  choice.microbatches = table.integer("microbatches", 0, 0);
  choice.schedule = table.text("schedule", "");
  choice.recompute = table.texts("recompute");
  choice.sequenceParallel = table.truth("sequence-parallel", true);
  choice.contextParallel = table.text("context-parallel", "");
  choice.offload = table.text("offload", "");
  choice.link = table.text("link", "");
  if (!choice.link.empty() && !Link::parse(choice.link))
    table.wrong("link", "expected bytes per second and a latency, such as \"50GB/s,5us\", but "
                        "found \"" +
                            choice.link + "\"");
  choice.rates = table.text("rates", "");
  if (std::string wrong = MeshRates::wrong(choice.rates); !wrong.empty())
    table.wrong("rates", wrong);
  table.requireAllRead();
  file.requireAllRead();
  return plan;
}

/// Whether TOML may have it.
static bool isUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (decodeUtf8(text, at) < 0)
      return false;
  return true;
}

std::string planFileText(const PlanFile &plan, const std::vector<std::string> &comments) {
  std::string out;
  for (std::string line : comments) {
    std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
    out += "# " + line + "\n";
  }
  out += "[plan]\n";
  auto say = [&](const char *key, const std::string &value) {
    if (!value.empty())
      out += std::string(key) + " = " + value + "\n";
  };
  auto text = [&](const char *key, const std::string &value) {
    say(key, value.empty() ? "" : quoted(value));
  };
  const Choice &choice = plan.choice;
  text("model", isUtf8(plan.model) ? plan.model : ""); // whose name TOML cannot say
  text("target", plan.target);
  text("precision", plan.precision);
  text("mesh", choice.mesh);
  say("zero", choice.zero ? std::to_string(choice.zero) : "");
  say("microbatches", choice.microbatches ? std::to_string(choice.microbatches) : "");
  text("schedule", choice.schedule);
  std::vector<std::string> patterns;
  for (const std::string &pattern : choice.recompute)
    patterns.push_back(quoted(pattern));
  say("recompute", patterns.empty() ? "" : "[" + join(patterns) + "]");
  say("sequence-parallel", choice.sequenceParallel ? "" : "false");
  text("context-parallel", choice.contextParallel);
  text("offload", choice.offload);
  text("link", choice.link);
  text("rates", choice.rates);
  return out;
}

} // namespace weir::planner

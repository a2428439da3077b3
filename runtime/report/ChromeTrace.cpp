//===- ChromeTrace.cpp - A run's actions on a time line -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/ChromeTrace.h"
#include "artifact/Actions.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Json = nlohmann::json;

/// What a slice is called, and what is told when it is picked.
struct Description {
  std::string name;
  Json arguments = Json::object();
};

Description descriptionOf(const artifact::Program &program, const artifact::Action &action) {
  Description text;
  text.name = artifact::describe(program, action);
  spec::Cost cost = artifact::costOf(program, action);
  for (auto [name, value] : {std::pair("flops", cost.flops), std::pair("bytes", cost.bytes)})
    if (value > 0)
      text.arguments[name] = value;
  if (const artifact::Launch *launch = action.work_as_Launch())
    if (const auto *ops = program.kernels()->Get(launch->kernel())->ops())
      for (const flatbuffers::String *op : *ops)
        text.arguments["ops"].push_back(op->str());
  if (action.locations())
    for (const artifact::Location *location : *action.locations())
      if (location->line() > 0 && location->file() < program.files()->size())
        text.arguments["at"].push_back(concat(program.files()->Get(location->file())->str(), ":",
                                              location->line(), ":", location->column()));
  return text;
}

} // namespace

std::string chromeTrace(const artifact::Program &program, const std::vector<Trace::Event> &events) {
  std::vector<std::vector<const artifact::Action *>> actions(program.entries()->size());
  for (size_t entry = 0; entry < actions.size(); ++entry)
    actions[entry] = artifact::actionsOf(*program.entries()->Get(entry));

  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  out += Json{{"ph", "M"},
              {"pid", 1},
              {"name", "process_name"},
              {"args", {{"name", program.model()->str()}}}}
             .dump(-1, ' ', false, Json::error_handler_t::replace);
  int64_t origin = events.empty() ? 0 : std::ranges::min(events, {}, &Trace::Event::start).start;
  for (const Trace::Event &event : events) {
    const artifact::Action &action = *actions.at(event.entry).at(event.action);
    Description text = descriptionOf(program, action);
    if (event.round > 0)
      text.arguments["round"] = event.round;
    Json slice = {{"ph", "X"},
                  {"pid", 1},
                  {"tid", 1 + action.queue()},
                  {"ts", static_cast<double>(event.start - origin) / 1e3},
                  {"dur", static_cast<double>(event.end - event.start) / 1e3},
                  {"cat", program.entries()->Get(event.entry)->name()->str()},
                  {"name", text.name},
                  {"args", text.arguments}};
    out += ",\n" + slice.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return out + "\n]}\n";
}

void writeChromeTrace(const std::string &path, const artifact::Program &program,
                      const std::vector<Trace::Event> &events) {
  std::ofstream file(path, std::ios::binary);
  file << chromeTrace(program, events) << std::flush;
  if (!file)
    throw Failure(isScarce(errno) ? Exit::device : Exit::storage,
                  concat(path, ": cannot write the trace: ", std::strerror(errno)));
}

} // namespace weir

//===- ChromeTrace.cpp - A run's actions on a time line -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/ChromeTrace.h"
#include "runtime/core/Error.h"
#include "runtime/core/Text.h"
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Json = nlohmann::json;

/// An entry's actions by their numbers: depth first, a repeat before its body.
void number(const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions,
            std::vector<const artifact::Action *> &into) {
  for (const artifact::Action *action : actions) {
    into.push_back(action);
    if (const artifact::Repeat *repeat = action->work_as_Repeat())
      number(*repeat->body(), into);
  }
}

/// What a slice is called, and what is told when it is picked.
struct Description {
  std::string name;
  Json arguments = Json::object();
};

Description describe(const artifact::Program &program, const artifact::Action &action) {
  Description text;
  if (const artifact::Launch *launch = action.work_as_Launch()) {
    const artifact::Kernel &kernel = *program.kernels()->Get(launch->kernel());
    text.name = kernel.symbol()->str();
    text.arguments = {
        {"shape", kernel.shape()->str()}, {"flops", kernel.flops()}, {"bytes", kernel.bytes()}};
    if (kernel.ops())
      for (const flatbuffers::String *op : *kernel.ops())
        text.arguments["ops"].push_back(op->str());
  } else if (const artifact::Product *product = action.work_as_Product()) {
    text.name = concat("product ", product->m(), "x", product->n(), "x", product->k());
    if (product->batch() > 1)
      text.name += concat(" of ", product->batch());
    text.arguments["flops"] = 2.0 * static_cast<double>(product->batch()) *
                              static_cast<double>(product->m()) *
                              static_cast<double>(product->n()) * static_cast<double>(product->k());
  } else if (const artifact::Convolution *convolution = action.work_as_Convolution()) {
    text.name = concat("convolution ", artifact::EnumNameConvolutionKind(convolution->kind()));
  } else if (const artifact::Copy *copy = action.work_as_Copy()) {
    text.name = "copy";
    text.arguments["bytes"] = copy->size();
  } else if (const artifact::Fill *fill = action.work_as_Fill()) {
    text.name = "fill";
    text.arguments["bytes"] = fill->size();
  } else {
    text.name = "repeat";
  }
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
    number(*program.entries()->Get(entry)->actions(), actions[entry]);

  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  out += Json{{"ph", "M"},
              {"pid", 1},
              {"name", "process_name"},
              {"args", {{"name", program.model()->str()}}}}
             .dump(-1, ' ', false, Json::error_handler_t::replace);
  int64_t origin = events.empty() ? 0 : events.front().start;
  for (const Trace::Event &event : events) {
    Description text = describe(program, *actions.at(event.entry).at(event.action));
    if (event.round > 0)
      text.arguments["round"] = event.round;
    Json slice = {{"ph", "X"},
                  {"pid", 1},
                  {"tid", 1},
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

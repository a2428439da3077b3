//===- PageFacts.cpp - A page's facts -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/page/PageFacts.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include "tools/weir/inspect/Describe.h"
#include "tools/weir/page/Repeats.h"
#include <algorithm>
#include <optional>

using nlohmann::ordered_json;

namespace weir {
namespace {

using Actions = flatbuffers::Vector<flatbuffers::Offset<artifact::Action>>;

constexpr int none = -1;

/// What is there often, once: a place for each.
template <class Value> class Table {
public:
  int placeOf(const Value &value) {
    auto [place, isNew] = places.try_emplace(value, int(values.size()));
    if (isNew)
      values.push_back(value);
    return place->second;
  }
  const std::vector<Value> &list() const { return values; }

private:
  std::map<Value, int> places;
  std::vector<Value> values;
};

std::string textOf(const flatbuffers::String *s) { return s ? printable(s->str()) : ""; }

class PageFacts {
public:
  PageFacts(const artifact::Program &program, const PageTypes &known)
      : program(program), known(known) {}

  ordered_json run(const std::vector<PageSource> &sources);

private:
  ordered_json variables();
  ordered_json kernelTypes() const;
  ordered_json entryFacts(const artifact::Entry &entry);
  void walk(const Actions &actions, int loop, uint64_t times);
  ordered_json actionFacts(const artifact::Action &action, int loop, uint64_t times);
  void noteTypes(const artifact::Action &action, const std::vector<spec::Footprint> &touched);
  void noteType(const artifact::Ref &ref, const std::string &type);
  int workOf(const artifact::Action &action);
  int lineOf(const artifact::Location *location);
  int lineSetOf(const artifact::Action &action);
  const KernelElements *elementsOf(const artifact::Kernel &kernel) const;

  const artifact::Program &program;
  const PageTypes &known;
  Table<std::pair<uint32_t, uint32_t>> lines;
  Table<std::vector<int>> lineSets;
  Table<std::string> strings;
  std::map<std::string, int> callPlaces; ///< an entry's call: its place behind the kernels
  // Of the entry at hand:
  std::string entryName;
  std::vector<int> repeats;
  std::vector<std::vector<std::string>> types; ///< what each buffer was seen to hold
  ordered_json actions;
};

int PageFacts::lineOf(const artifact::Location *location) {
  if (!location || location->line() == 0)
    return none;
  return lines.placeOf({location->file(), location->line()});
}

int PageFacts::lineSetOf(const artifact::Action &action) {
  std::vector<int> set;
  if (action.locations())
    for (const artifact::Location *location : *action.locations())
      if (int line = lineOf(location);
          line != none && std::find(set.begin(), set.end(), line) == set.end())
        set.push_back(line);
  return lineSets.placeOf(set);
}

const KernelElements *PageFacts::elementsOf(const artifact::Kernel &kernel) const {
  std::string name = kernel.symbol()->str();
  if (kernel.suffix())
    name.resize(name.size() - kernel.suffix()->size());
  auto found = known.kernels.find(name);
  return found == known.kernels.end() ? nullptr : &found->second;
}

ordered_json PageFacts::kernelTypes() const {
  ordered_json types = ordered_json::array();
  for (const artifact::Kernel *kernel : *program.kernels()) {
    const KernelElements *elements = elementsOf(*kernel);
    KernelElements shown = elements ? *elements : KernelElements();
    types.push_back(
        {{"reads", shown.reads}, {"stores", shown.stores}, {"computes", shown.computes}});
  }
  return types;
}

ordered_json PageFacts::variables() {
  ordered_json list = ordered_json::array();
  for (const artifact::Variable *v : *program.variables()) {
    std::vector<int64_t> shape(v->shape()->begin(), v->shape()->end());
    list.push_back({textOf(v->name()), artifact::EnumNameRole(v->role()),
                    nameOf(artifact::elementOf(v->dtype())), shapeText(shape), v->size(),
                    v->offset(), lineOf(v->location())});
  }
  return list;
}

/// Equal calls of an entry are one of describe()'s.
std::string keyOf(const std::string &entry, const std::string &kind, const ordered_json &fields) {
  return entry + " " + kind + " " + fields.dump();
}

int PageFacts::workOf(const artifact::Action &action) {
  if (const artifact::Launch *launch = action.work_as_Launch())
    return int(launch->kernel());
  if (const artifact::Call *call = action.work_as_Call()) {
    spec::Call spec = artifact::specOf(*call);
    return callPlaces.at(keyOf(entryName, std::string(spec::kindOf(spec)), fieldsOf(spec)));
  }
  return -1 - strings.placeOf(artifact::describe(program, action));
}

void PageFacts::noteType(const artifact::Ref &ref, const std::string &type) {
  if (ref.memory() != artifact::Memory::buffer || type.empty())
    return;
  std::vector<std::string> &seen = types[ref.index()];
  if (std::find(seen.begin(), seen.end(), type) == seen.end())
    seen.push_back(type);
}

/// What is written, and what is read as nothing else has told it.
void PageFacts::noteTypes(const artifact::Action &action,
                          const std::vector<spec::Footprint> &touched) {
  const artifact::Launch *launch = action.work_as_Launch();
  const KernelElements *elements =
      launch ? elementsOf(*program.kernels()->Get(launch->kernel())) : nullptr;
  for (size_t i = 0; i < touched.size(); ++i) {
    const artifact::Ref &ref = *action.operands()->Get(i);
    std::string type;
    if (action.work_as_Call() && !touched[i].workspace)
      type = nameOf(touched[i].element);
    else if (elements && i < elements->reads.size())
      type = elements->reads[i];
    else if (elements && i - elements->reads.size() < elements->stores.size())
      type = elements->stores[i - elements->reads.size()];
    if (ref.memory() == artifact::Memory::buffer &&
        (spec::writes(touched[i].mode) || types[ref.index()].empty()))
      noteType(ref, type);
  }
}

ordered_json PageFacts::actionFacts(const artifact::Action &action, int loop, uint64_t times) {
  std::vector<spec::Footprint> touched = artifact::footprintsOf(program, action);
  noteTypes(action, touched);
  std::vector<int64_t> reads, writes;
  auto add = [](std::vector<int64_t> &list, int64_t place) {
    if (std::find(list.begin(), list.end(), place) == list.end())
      list.push_back(place);
  };
  for (size_t i = 0; i < touched.size(); ++i) {
    const artifact::Ref &ref = *action.operands()->Get(i);
    int64_t place =
        ref.memory() == artifact::Memory::buffer ? ref.index() : -1 - int64_t(ref.index());
    if (spec::reads(touched[i].mode))
      add(reads, place);
    if (spec::writes(touched[i].mode))
      add(writes, place);
  }
  return {workOf(action), lineSetOf(action), loop, times, repeats[actions.size()], reads, writes};
}

void PageFacts::walk(const Actions &list, int loop, uint64_t times) {
  for (const artifact::Action *action : list) {
    int place = int(actions.size());
    actions.push_back(actionFacts(*action, loop, times));
    if (const artifact::Loop *inner = action->work_as_Loop())
      walk(*inner->body(), place, times * inner->count());
  }
}

ordered_json PageFacts::entryFacts(const artifact::Entry &entry) {
  entryName = entry.name()->str();
  repeats = repeatsOf(program, entry);
  types.assign(entry.buffers()->size(), {});
  actions = ordered_json::array();
  for (const auto *ports : {entry.inputs(), entry.outputs()})
    for (const artifact::Port *port : *ports)
      noteType(*port->ref(), nameOf(artifact::elementOf(port->dtype())));
  walk(*entry.actions(), none, 1);

  uint64_t pinned = 0;
  ordered_json buffers = ordered_json::array();
  for (uint32_t i = 0; i < entry.buffers()->size(); ++i) {
    const artifact::Buffer &buffer = *entry.buffers()->Get(i);
    if (buffer.space() == artifact::Space::pinned)
      pinned = std::max(pinned, buffer.offset() + buffer.size());
    int type = types[i].empty() ? none : strings.placeOf(join(types[i], " then "));
    buffers.push_back({buffer.space() == artifact::Space::scratch ? int64_t(buffer.offset()) : none,
                       buffer.size(), buffer.first(), buffer.last(),
                       strings.placeOf(textOf(buffer.label())), lineOf(buffer.location()), type});
  }
  return {{"name", printable(entryName)},
          {"buffers", std::move(buffers)},
          {"pinned", pinned},
          {"actions", std::move(actions)}};
}

ordered_json PageFacts::run(const std::vector<PageSource> &sources) {
  ordered_json facts = describe(program);
  facts.erase("variables");
  for (ordered_json &entry : facts["memory"]["entries"])
    entry.erase("peak");
  int calls = int(facts["kernels"].size());
  for (const ordered_json &call : facts["calls"])
    callPlaces[keyOf(call["entry"], call["kind"], call["fields"])] = calls++;

  ordered_json files = ordered_json::array();
  for (const PageSource &source : sources)
    files.push_back({{"name", source.name}, {"text", source.text}, {"note", source.note}});
  ordered_json list = variables(), entries = ordered_json::array();
  for (const artifact::Entry *entry : *program.entries())
    entries.push_back(entryFacts(*entry));
  return {{"facts", std::move(facts)},
          {"files", std::move(files)},
          {"lines", lines.list()},
          {"line_sets", lineSets.list()},
          {"variables", std::move(list)},
          {"elements", kernelTypes()},
          {"no_types", printable(known.whyNone)},
          {"strings", strings.list()},
          {"entries", std::move(entries)}};
}

} // namespace

ordered_json pageFacts(const artifact::Program &program, const PageTypes &types,
                       const std::vector<PageSource> &sources) {
  return PageFacts(program, types).run(sources);
}

} // namespace weir

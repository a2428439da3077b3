//===- Repeats.cpp - What an entry computes twice -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/page/Repeats.h"
#include "artifact/Actions.h"
#include <algorithm>
#include <map>
#include <utility>

namespace weir {
namespace {

using Actions = flatbuffers::Vector<flatbuffers::Offset<artifact::Action>>;
using Number = uint64_t;
using Words = std::vector<uint64_t>; ///< what values and actions are compared by

/// Bytes of a variable or buffer that were written at once: `number` is of all that was, from
/// `skipped` bytes ahead of this piece on.
struct Piece {
  uint64_t end;
  Number number;
  uint64_t skipped;
};
using Content = std::map<uint64_t, Piece>; ///< by the first byte

class Numbering {
public:
  Numbering(const artifact::Program &program, const artifact::Entry &entry)
      : program(program), entry(entry) {}

  std::vector<int> run() {
    for (const artifact::Port *input : *entry.inputs())
      write(*input->ref(), UINT64_MAX - input->ref()->offset(), ++last);
    walk(*entry.actions());
    return std::move(repeats);
  }

private:
  using Memory = std::pair<artifact::Memory, uint32_t>;

  static Memory memoryOf(const artifact::Ref &ref) { return {ref.memory(), ref.index()}; }
  void walk(const Actions &actions);
  void enter(const artifact::Action &loop);
  void forgetWritten(const Actions &body);
  void number(const artifact::Action &action);
  void appendRead(const artifact::Ref &ref, uint64_t extent, Words &words) const;
  void write(const artifact::Ref &ref, uint64_t extent, Number value);
  Words workOf(const artifact::Action &action) const;

  const artifact::Program &program;
  const artifact::Entry &entry;
  std::map<Memory, Content> contents;
  std::map<Words, std::pair<Number, int>> known; ///< an action's words: its number, its place
  std::vector<int> repeats;
  Number last = 0;
};

void cut(Content &content, uint64_t at) {
  auto next = content.upper_bound(at);
  if (next == content.begin())
    return;
  auto [begin, piece] = *std::prev(next);
  if (begin == at || piece.end <= at)
    return;
  std::prev(next)->second.end = at;
  content.emplace(at, Piece{piece.end, piece.number, piece.skipped + (at - begin)});
}

void Numbering::write(const artifact::Ref &ref, uint64_t extent, Number value) {
  if (extent == 0)
    return;
  Content &content = contents[memoryOf(ref)];
  uint64_t begin = ref.offset(), end = begin + extent;
  cut(content, begin);
  cut(content, end);
  content.erase(content.lower_bound(begin), content.lower_bound(end));
  content[begin] = {end, value, 0};
}

/// What was not written is a variable's, whose place is then of the words, or nobody's business: of
/// a buffer, which is a workspace.
void Numbering::appendRead(const artifact::Ref &ref, uint64_t extent, Words &words) const {
  uint64_t at = ref.offset(), end = at + extent;
  auto initial = [&](uint64_t to) {
    if (ref.memory() == artifact::Memory::variable)
      words.insert(words.end(), {0, ref.index(), at});
    else
      words.push_back(0);
    at = to;
  };
  if (auto found = contents.find(memoryOf(ref)); found != contents.end()) {
    const Content &content = found->second;
    auto piece = content.upper_bound(at);
    if (piece != content.begin() && std::prev(piece)->second.end > at)
      --piece;
    for (; piece != content.end() && piece->first < end; ++piece) {
      if (piece->first > at)
        initial(piece->first);
      const Piece &what = piece->second;
      uint64_t to = std::min(what.end, end);
      words.insert(words.end(), {what.number, what.skipped + (at - piece->first), to - at});
      at = to;
    }
  }
  if (at < end)
    initial(end);
}

/// What it does, whatever the operands.
Words Numbering::workOf(const artifact::Action &action) const {
  Words words = {uint64_t(action.work_type())};
  if (const artifact::Launch *launch = action.work_as_Launch()) {
    words.push_back(launch->kernel());
  } else if (const artifact::Call *call = action.work_as_Call()) {
    for (char letter : call->kind()->str())
      words.push_back(uint64_t(letter));
    for (int64_t field : *call->fields())
      words.push_back(uint64_t(field));
  } else if (const artifact::Copy *copy = action.work_as_Copy()) {
    words.push_back(copy->size());
  } else if (const artifact::Collective *collective = action.work_as_Collective()) {
    words.insert(words.end(), {uint64_t(collective->kind()), collective->own()});
    for (char letter : collective->axis()->str())
      words.push_back(uint64_t(letter));
  } else if (const artifact::Transfer *transfer = action.work_as_Transfer()) {
    words.insert(words.end(), {uint64_t(transfer->kind()), transfer->peer(), transfer->size()});
  }
  if (action.moves())
    for (const artifact::Move *move : *action.moves())
      words.insert(words.end(),
                   {move->operand(), move->loop(), move->modulus(), uint64_t(move->bytes())});
  return words;
}

void Numbering::number(const artifact::Action &action) {
  int place = int(repeats.size());
  repeats.push_back(noRepeat);
  if (!action.operands())
    return;
  std::vector<spec::Footprint> touched = artifact::footprintsOf(program, action);
  std::vector<bool> moves(touched.size());
  if (action.moves())
    for (const artifact::Move *move : *action.moves())
      moves[move->operand()] = true;
  Words words = workOf(action);
  for (size_t i = 0; i < touched.size(); ++i) {
    const artifact::Ref &ref = *action.operands()->Get(i);
    const spec::Footprint &what = touched[i];
    // What is written with gaps, or elsewhere in each round, leaves some of what was there.
    bool keepsSome = !what.dims.empty() || moves[i];
    words.push_back(i);
    if (!what.workspace && (spec::reads(what.mode) || keepsSome))
      appendRead(ref, what.extent(), words);
  }
  auto [found, isNew] = known.try_emplace(words, last + 1, place);
  if (isNew)
    last += touched.size();
  else if (action.work_as_Launch() || action.work_as_Call())
    repeats[place] = found->second.second;
  for (size_t i = 0; i < touched.size(); ++i)
    if (spec::writes(touched[i].mode))
      write(*action.operands()->Get(i), touched[i].extent(), found->second.first + i);
}

void Numbering::forgetWritten(const Actions &body) {
  for (const artifact::Action *action : body) {
    std::vector<spec::Footprint> touched = artifact::footprintsOf(program, *action);
    for (size_t i = 0; i < touched.size(); ++i)
      if (spec::writes(touched[i].mode)) {
        const artifact::Ref &ref = *action->operands()->Get(i);
        Content &content = contents[memoryOf(ref)];
        content.clear();
        content[0] = {UINT64_MAX, ++last, 0};
      }
    if (const Actions *inner = artifact::bodyOf(*action))
      forgetWritten(*inner);
  }
}

/// Neither the rounds before nor those after say anything of the values of one.
void Numbering::enter(const artifact::Action &loop) {
  repeats.push_back(noRepeat);
  const Actions &body = *artifact::bodyOf(loop);
  auto forget = [&] {
    forgetWritten(body);
    write(*loop.operands()->Get(0), sizeOf(Element::i32), ++last);
  };
  forget();
  walk(body);
  forget();
}

void Numbering::walk(const Actions &actions) {
  for (const artifact::Action *action : actions)
    if (artifact::bodyOf(*action))
      enter(*action);
    else
      number(*action);
}

} // namespace

std::vector<int> repeatsOf(const artifact::Program &program, const artifact::Entry &entry) {
  return Numbering(program, entry).run();
}

} // namespace weir

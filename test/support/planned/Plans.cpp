//===- Plans.cpp - Planned entries that are right, to plant faults in ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/support/planned/Plans.h"

namespace weir::planned {

static Access access(Mode mode, uint32_t buffer, uint64_t bytes, int64_t offset) {
  Access access;
  access.buffer = buffer;
  access.bytes = bytes;
  access.offset = offset;
  access.mode = mode;
  return access;
}

Access reads(uint32_t buffer, uint64_t bytes, int64_t offset) {
  return access(Mode::read, buffer, bytes, offset);
}
Access writes(uint32_t buffer, uint64_t bytes, int64_t offset) {
  return access(Mode::write, buffer, bytes, offset);
}
Access updates(uint32_t buffer, uint64_t bytes, int64_t offset) {
  return access(Mode::update, buffer, bytes, offset);
}

Access moving(Access access, int64_t bytes, uint32_t modulus, uint32_t loop) {
  access.strides.push_back({loop, bytes, modulus});
  return access;
}

Action work(std::string name, uint32_t queue, std::vector<Access> accesses) {
  Action action;
  action.name = std::move(name);
  action.queue = queue;
  action.accesses = std::move(accesses);
  return action;
}

static Action sync(Action::Kind kind, uint32_t queue, uint32_t event) {
  Action action;
  action.kind = kind;
  action.queue = queue;
  action.event = event;
  return action;
}

Action record(uint32_t queue, uint32_t event) { return sync(Action::Kind::record, queue, event); }
Action wait(uint32_t queue, uint32_t event) { return sync(Action::Kind::wait, queue, event); }

Action loop(uint64_t count, std::vector<Action> body, std::vector<Access> accesses) {
  Action action;
  action.kind = Action::Kind::loop;
  action.count = count;
  action.body = std::move(body);
  action.accesses = std::move(accesses);
  return action;
}

uint32_t addBuffer(Entry &entry, std::string name, uint64_t size, Space space) {
  uint64_t &room = entry.sizes[size_t(space)];
  Buffer buffer;
  buffer.space = space;
  buffer.offset = room;
  buffer.size = size;
  buffer.name = std::move(name);
  buffer.holds = space == Space::persistent;
  room = (room + size + 63) / 64 * 64;
  entry.buffers.push_back(buffer);
  return entry.buffers.size() - 1;
}

static uint32_t countOf(const std::vector<Action> &actions) {
  uint32_t count = 0;
  for (const Action &action : actions)
    count += 1 + countOf(action.body);
  return count;
}

static std::pair<std::vector<Action> *, size_t> find(std::vector<Action> &actions,
                                                     uint32_t number) {
  for (size_t i = 0; i < actions.size(); ++i) {
    if (number == 0)
      return {&actions, i};
    uint32_t inside = countOf(actions[i].body);
    if (number <= inside)
      return find(actions[i].body, number - 1);
    number -= 1 + inside;
  }
  return {nullptr, 0};
}

Action &at(Entry &entry, uint32_t number) {
  auto [row, place] = find(entry.actions, number);
  return (*row)[place];
}

void drop(Entry &entry, uint32_t number) {
  auto [row, place] = find(entry.actions, number);
  row->erase(row->begin() + place);
  keepAlive(entry);
}

uint32_t lastOf(const Entry &entry) { return countOf(entry.actions) - 1; }

void keepAlive(Entry &entry) {
  uint32_t last = lastOf(entry);
  for (Buffer &buffer : entry.buffers)
    buffer.last = last;
}

Entry doubleBuffers(uint64_t rounds) {
  Entry entry;
  entry.queues = 2;
  entry.events = 3;
  uint32_t host = addBuffer(entry, "host", (rounds + 1) * 64, Space::pinned);
  uint32_t slots = addBuffer(entry, "slots", 128);
  uint32_t sum = addBuffer(entry, "sum", 64, Space::persistent);
  entry.inputs = {writes(host, (rounds + 1) * 64)};
  entry.outputs = {reads(sum, 64)};
  entry.actions = {
      record(0, 0),
      wait(1, 0),
      work("copy", 1, {reads(host, 64), writes(slots, 64)}),
      record(1, 1),
      loop(rounds,
           {wait(0, 1), // the copy of the round before
            wait(1, 2), // what the round before computed
            work("copy next", 1,
                 {moving(reads(host, 64, 64), 64), moving(writes(slots, 64, 64), -64, 2)}),
            record(1, 1), work("compute", 0, {moving(reads(slots, 64), 64, 2), updates(sum, 64)}),
            record(0, 2)}),
      wait(0, 1),
  };
  keepAlive(entry);
  return entry;
}

Entry pipeline(uint64_t rounds) {
  Entry entry;
  entry.queues = 3;
  entry.events = 4;
  uint32_t x = addBuffer(entry, "x", rounds * 64);
  uint32_t a = addBuffer(entry, "a", 128);
  uint32_t b = addBuffer(entry, "b", 128);
  uint32_t loss = addBuffer(entry, "loss", rounds * 4);
  entry.inputs = {writes(x, rounds * 64)};
  entry.outputs = {reads(loss, rounds * 4)};
  entry.actions = {
      record(0, 0),
      wait(1, 0),
      wait(2, 0),
      loop(rounds,
           {wait(0, 2), work("first", 0, {moving(reads(x, 64), 64), moving(writes(a, 64), 64, 2)}),
            record(0, 1), wait(1, 1), wait(1, 3),
            work("second", 1, {moving(reads(a, 64), 64, 2), moving(writes(b, 64), 64, 2)}),
            record(1, 2), wait(2, 2),
            work("third", 2, {moving(reads(b, 64), 64, 2), moving(writes(loss, 4), 4)}),
            record(2, 3)}),
      wait(0, 3),
  };
  keepAlive(entry);
  return entry;
}

Entry backwardScan(uint64_t rounds) {
  Entry entry;
  entry.queues = 2;
  entry.events = 3;
  int64_t last = int64_t(rounds) * 64;
  uint32_t states = addBuffer(entry, "states", last + 64);
  uint32_t cotangents = addBuffer(entry, "cotangents", 128);
  uint32_t gradient = addBuffer(entry, "gradient", 64);
  entry.inputs = {writes(states, 64)};
  entry.outputs = {reads(gradient, 64)};
  entry.actions = {
      loop(rounds, {work("forward", 0,
                         {moving(reads(states, 64), 64), moving(writes(states, 64, 64), 64)})}),
      work("begin", 0, {writes(cotangents, 64), writes(gradient, 64)}),
      record(0, 0),
      loop(rounds,
           {wait(0, 1), // the sum of the round before
            work("backward", 0,
                 {moving(reads(states, 64, last), -64), moving(reads(cotangents, 64), 64, 2),
                  moving(writes(cotangents, 64, 64), -64, 2)}),
            record(0, 0), wait(1, 0),
            work("sum", 1,
                 {moving(reads(states, 64, last - 64), -64), moving(reads(cotangents, 64), 64, 2),
                  updates(gradient, 64)}),
            record(1, 1)}),
      wait(0, 1),
  };
  keepAlive(entry);
  return entry;
}

Entry loopNest(uint64_t outer, uint64_t inner) {
  Entry entry;
  uint64_t rows = outer * inner;
  uint32_t x = addBuffer(entry, "x", rows * 64, Space::constant);
  uint32_t y = addBuffer(entry, "y", rows * 64);
  uint32_t sums = addBuffer(entry, "sums", outer * 4);
  uint32_t column = addBuffer(entry, "column", rows * 4);
  int64_t row = 64, block = int64_t(inner) * 64;
  Access wholeColumn = reads(y, 4, 32);
  wholeColumn.dims = {{rows, 64}};
  entry.outputs = {reads(column, rows * 4), reads(sums, outer * 4)};
  entry.actions = {
      loop(outer, {work("zero", 0, {moving(writes(sums, 4), 4)}),
                   loop(inner, {work("row", 0,
                                     {moving(moving(reads(x, 64), block), row, 0, 1),
                                      moving(moving(writes(y, 64), block), row, 0, 1)}),
                                work("sum", 0,
                                     {moving(moving(reads(y, 64), block), row, 0, 1),
                                      moving(updates(sums, 4), 4)})})}),
      work("column", 0, {wholeColumn, writes(column, rows * 4)}),
  };
  keepAlive(entry);
  return entry;
}

Entry microbatches(uint64_t rounds) {
  Entry entry;
  uint32_t x = addBuffer(entry, "x", rounds * 256);
  uint32_t weights = addBuffer(entry, "weights", 64, Space::persistent);
  uint32_t ordinal = addBuffer(entry, "ordinal", 4);
  uint32_t hidden = addBuffer(entry, "hidden", 128);
  uint32_t gradient = addBuffer(entry, "gradient", 64);
  uint32_t losses = addBuffer(entry, "losses", rounds * 4);
  entry.inputs = {writes(x, rounds * 256)};
  entry.outputs = {reads(losses, rounds * 4)};
  entry.actions = {
      work("zero", 0, {writes(gradient, 64)}),
      loop(rounds,
           {work("forward", 0,
                 {moving(reads(x, 256), 256), reads(weights, 64), reads(ordinal, 4),
                  writes(hidden, 128)}),
            work("loss", 0, {reads(hidden, 128), moving(writes(losses, 4), 4)}),
            work("backward", 0, {reads(hidden, 128), updates(gradient, 64)})},
           {writes(ordinal, 4)}),
      work("step", 0, {reads(gradient, 64), updates(weights, 64)}),
  };
  keepAlive(entry);
  entry.buffers[hidden].first = 2;
  entry.buffers[hidden].last = 4;
  return entry;
}

Entry inPlace() {
  Entry entry;
  entry.queues = 2;
  entry.events = 2;
  uint32_t x = addBuffer(entry, "x", 64);
  uint32_t weights = addBuffer(entry, "weights", 256, Space::persistent);
  uint32_t early = addBuffer(entry, "early", 256);
  uint32_t late = addBuffer(entry, "late", 128);
  uint32_t gradient = addBuffer(entry, "gradient", 256);
  entry.buffers[late].offset = entry.buffers[early].offset + 64;
  entry.inputs = {writes(x, 64)};
  entry.outputs = {reads(weights, 256)};
  entry.actions = {
      record(0, 0),
      wait(1, 0),
      work("partials", 1, {reads(x, 64), writes(early, 256)}),
      work("gradient", 1, {reads(early, 256), writes(gradient, 256)}),
      record(1, 1),
      wait(0, 1),
      work("norms", 0, {reads(gradient, 256), writes(late, 128)}),
      work("step", 0, {reads(late, 128), reads(gradient, 256), updates(weights, 256)}),
  };
  keepAlive(entry);
  entry.buffers[early].first = 2;
  entry.buffers[early].last = 3;
  entry.buffers[late].first = 6;
  return entry;
}

} // namespace weir::planned

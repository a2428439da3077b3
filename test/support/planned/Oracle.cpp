//===- Oracle.cpp - The slow, obvious answer about a planned entry ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/support/planned/Oracle.h"
#include <bitset>
#include <map>

namespace weir::planned {
namespace {

using Bytes = std::bitset<maxBytes * spaceCount>;

struct Touch {
  uint32_t buffer;
  Bytes bytes;
  std::vector<size_t> places; // the same, some perhaps repeated
  bool reads, writes;
};

struct Op {
  std::vector<Touch> touches;
  std::bitset<maxOps> before; // the ops that happen before it
};

class Oracle {
public:
  explicit Oracle(const Entry &entry) : entry(entry), lastOn(entry.queues) {}

  std::optional<std::set<FaultKind>> run() {
    for (const Buffer &buffer : entry.buffers)
      if (buffer.offset + buffer.size > maxBytes)
        return {};
    checkBuffers();
    Op begin;
    for (const Access &access : entry.inputs)
      addTouch(begin, access, 0, false, true);
    add(begin, {}); // op 0 is the host
    lastOn[0] = 0;
    unroll(entry.actions, 0);
    for (auto &[number, reached] : waits)
      if (!reached)
        found.insert(FaultKind::neverRecorded);
    Op end;
    for (const Access &access : entry.outputs)
      addTouch(end, access, total ? total - 1 : 0, true, false);
    add(end, {lastOn[0]});
    if (ops.size() >= maxOps)
      return {};
    checkPairs();
    checkReads();
    for (size_t i = 0; i + 1 < ops.size(); ++i)
      if (!ops[i].touches.empty() && !ops.back().before[i])
        found.insert(FaultKind::queueNotJoined);
    return found;
  }

private:
  uint32_t count(const std::vector<Action> &actions) {
    uint32_t sum = 0;
    for (const Action &action : actions)
      sum += 1 + count(action.body);
    return sum;
  }

  void checkBuffers() {
    total = count(entry.actions);
    uint32_t end = total ? total - 1 : 0;
    for (const Buffer &a : entry.buffers) {
      if (a.size == 0)
        found.insert(FaultKind::emptyBuffer);
      if (a.offset % 64)
        found.insert(FaultKind::misaligned);
      if (a.offset + a.size > entry.sizes[size_t(a.space)])
        found.insert(FaultKind::bufferOutsideSpace);
      bool holds = a.holds || a.space == Space::constant;
      if (a.first > a.last || a.last > end || (holds && a.first) ||
          (a.space == Space::persistent && a.last != end))
        found.insert(FaultKind::badLifetime);
      for (const Buffer &b : entry.buffers)
        if (&a != &b && a.space == b.space && a.first <= b.last && b.first <= a.last &&
            a.offset < b.offset + b.size && b.offset < a.offset + a.size)
          found.insert(FaultKind::buffersOverlap);
    }
  }

  void add(Op op, std::initializer_list<std::optional<size_t>> after) {
    if (ops.size() >= maxOps)
      return;
    for (std::optional<size_t> i : after)
      if (i) {
        op.before |= ops[*i].before;
        op.before.set(*i);
      }
    ops.push_back(op);
  }

  uint32_t unroll(const std::vector<Action> &actions, uint32_t number) {
    for (const Action &action : actions) {
      if (ops.size() >= maxOps)
        return 0;
      std::optional<size_t> &last = lastOn[action.queue];
      if (action.kind == Action::Kind::loop) {
        uint32_t end = number + count(action.body);
        loops.push_back({number, end});
        rounds.push_back(0);
        for (; rounds.back() < action.count && ops.size() < maxOps; ++rounds.back()) {
          if (!action.accesses.empty())
            work(action, number);
          unroll(action.body, number + 1);
        }
        rounds.pop_back();
        loops.pop_back();
        number = end + 1;
        continue;
      }
      if (action.kind == Action::Kind::work) {
        work(action, number);
      } else if (action.kind == Action::Kind::record) {
        add({}, {last});
        last = ops.size() - 1;
        records[action.event] = *last;
        requireFork();
      } else {
        auto record = records.find(action.event);
        waits[number] |= record != records.end();
        if (record == records.end())
          add({}, {last});
        else
          add({}, {last, record->second});
        last = ops.size() - 1;
      }
      ++number;
    }
    return number;
  }

  void work(const Action &action, uint32_t number) {
    Op op;
    for (const Access &access : action.accesses)
      addTouch(op, access, number, access.mode != Mode::write, access.mode != Mode::read);
    add(op, {lastOn[action.queue]});
    lastOn[action.queue] = ops.size() - 1;
    requireFork();
  }

  void requireFork() {
    if (!ops.back().before[0])
      found.insert(FaultKind::queueNotForked);
  }

  void addTouch(Op &op, const Access &access, uint32_t number, bool reads, bool writes) {
    const Buffer &buffer = entry.buffers[access.buffer];
    if (writes && buffer.space == Space::constant)
      found.insert(FaultKind::writeToConstant);
    if (number < buffer.first || number > buffer.last)
      found.insert(FaultKind::outsideLifetime);
    for (auto [loop, end] : loops)
      if (buffer.first <= loop && buffer.last < end)
        found.insert(FaultKind::diesInLoop);
    int64_t start = access.offset;
    for (const Stride &stride : access.strides) {
      uint64_t round = rounds[stride.loop];
      start += stride.bytes * int64_t(stride.modulus ? round % stride.modulus : round);
    }
    op.touches.push_back({access.buffer, {}, {}, reads, writes});
    addPieces(op.touches.back(), access, 0, start);
  }

  void addPieces(Touch &touch, const Access &access, size_t dim, int64_t start) {
    if (dim < access.dims.size()) {
      for (uint64_t i = 0; i < access.dims[dim].count; ++i)
        addPieces(touch, access, dim + 1, start + access.dims[dim].stride * int64_t(i));
      return;
    }
    const Buffer &buffer = entry.buffers[access.buffer];
    for (int64_t byte = start; byte < start + int64_t(access.bytes); ++byte) {
      uint64_t place = buffer.offset + byte;
      if (byte < 0 || byte >= int64_t(buffer.size))
        found.insert(FaultKind::accessOutsideBuffer);
      else {
        touch.places.push_back(size_t(buffer.space) * maxBytes + place);
        touch.bytes.set(touch.places.back());
      }
    }
  }

  void checkPairs() {
    for (size_t j = 0; j < ops.size(); ++j)
      for (size_t i = 0; i <= j; ++i)
        if (!ops[j].before[i])
          for (const Touch &a : ops[i].touches)
            for (const Touch &b : ops[j].touches)
              checkPair(i == j, j + 1 == ops.size(), a, b);
  }

  void checkPair(bool isSame, bool isEnd, const Touch &a, const Touch &b) {
    if (&a == &b || !(a.writes || b.writes) || (a.bytes & b.bytes).none())
      return;
    if (isSame) {
      if (a.writes && b.writes)
        found.insert(FaultKind::writtenTwice);
      return;
    }
    if (a.writes && b.reads)
      found.insert(isEnd ? FaultKind::outputBeforeCompletion : FaultKind::writeThenRead);
    if (a.reads && b.writes)
      found.insert(FaultKind::readThenWrite);
    if (a.writes && b.writes)
      found.insert(FaultKind::writeThenWrite);
  }

  void checkReads() {
    std::vector<int64_t> writer(maxBytes * spaceCount, -1);
    for (uint32_t i = 0; i < entry.buffers.size(); ++i) {
      const Buffer &buffer = entry.buffers[i];
      if (buffer.holds || buffer.space == Space::constant)
        for (uint64_t at = buffer.offset; at < buffer.offset + buffer.size; ++at)
          writer[size_t(buffer.space) * maxBytes + at] = i;
    }
    for (const Op &op : ops) {
      for (const Touch &touch : op.touches)
        for (size_t place : touch.places)
          if (touch.reads && writer[place] != touch.buffer)
            found.insert(FaultKind::readBeforeWrite);
      for (const Touch &touch : op.touches)
        for (size_t place : touch.places)
          if (touch.writes)
            writer[place] = touch.buffer;
    }
  }

  const Entry &entry;
  uint32_t total = 0;
  std::vector<Op> ops; // in the order of issue
  std::vector<std::optional<size_t>> lastOn;
  std::map<uint32_t, size_t> records;               // event -> its last record
  std::map<uint32_t, bool> waits;                   // wait action -> whether there was a record
  std::vector<uint64_t> rounds;                     // of the loops around
  std::vector<std::pair<uint32_t, uint32_t>> loops; // their first and last actions
  std::set<FaultKind> found;
};

} // namespace

std::optional<std::set<FaultKind>> faultsOf(const Entry &entry) { return Oracle(entry).run(); }

} // namespace weir::planned

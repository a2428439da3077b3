//===- VerifyTest.cpp - Faults planted in plans that are right ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Verify.h"
#include "test/support/planned/Plans.h"
#include <gtest/gtest.h>
#include <set>

namespace weir::planned {

void PrintTo(FaultKind kind, std::ostream *out) { *out << text(kind); }

namespace {

using Kind = FaultKind;

// A plan with one thing changed, and what is found in it.
struct Planted {
  const char *name;
  Entry (*plan)();
  void (*change)(Entry &);
  Kind kind;
};

Entry buffers() { return doubleBuffers(); }
Entry stages() { return pipeline(); }
Entry scan() { return backwardScan(); }
Entry nest() { return loopNest(); }
Entry batches() { return microbatches(); }
Entry manyBatches() { return microbatches(1000); }

// Two buffers that share a place inside a loop's body.
Entry workspaces() {
  Entry entry;
  addBuffer(entry, "a", 128);
  addBuffer(entry, "b", 128);
  entry.buffers[1].offset = 0;
  entry.actions = {loop(9, {work("a", 0, {writes(0, 128)}), work("sum a", 0, {reads(0, 128)}),
                            work("b", 0, {writes(1, 128)})})};
  entry.buffers[0].first = 1;
  entry.buffers[0].last = 2;
  entry.buffers[1].first = entry.buffers[1].last = 3;
  return entry;
}

// Queue 0 writes four slots in turn, queue 1 reads the second and the third of them in turn, and
// each sees what the other did in the round before: in no round do they meet.
Entry gears() {
  Entry entry;
  entry.queues = 2;
  entry.events = 2;
  addBuffer(entry, "slots", 512);
  entry.inputs = {writes(0, 512)};
  entry.actions = {
      record(0, 0),
      loop(1000, {wait(1, 0), wait(0, 1), work("write", 0, {moving(writes(0, 64), 64, 4)}),
                  work("read", 1, {moving(reads(0, 64, 64), 64, 2)}), record(0, 0), record(1, 1)}),
      wait(0, 1),
  };
  keepAlive(entry);
  return entry;
}

// As gears, but queue 0 writes slot after slot, queue 1 reads a buffer of its own, and queue 2 has
// written another before the loop.
Entry lanes() {
  Entry entry = gears();
  entry.queues = entry.events = 3;
  addBuffer(entry, "one", 64);
  addBuffer(entry, "two", 64);
  entry.buffers[0].size = 64000;
  entry.buffers[1].offset = 64000;
  entry.buffers[2].offset = 64064;
  entry.sizes[size_t(Space::scratch)] = 64128;
  entry.inputs = {writes(1, 64), writes(0, 64000)};
  at(entry, 4).accesses = {moving(writes(0, 64), 64)};
  at(entry, 5).accesses = {reads(1, 64)};
  entry.actions.insert(entry.actions.begin() + 1,
                       {wait(2, 0), work("early", 2, {writes(2, 64)}), record(2, 2)});
  entry.actions.push_back(wait(0, 2));
  keepAlive(entry);
  return entry;
}

// doubleBuffers: 0 record, 1 wait, 2 copy, 3 record, 4 loop, 5 wait, 6 wait, 7 copy next, 8 record,
// 9 compute, 10 record, 11 wait; buffers host, slots, sum.
// pipeline: 0 record, 1-2 wait, 3 loop, 4 wait, 5 first, 6 record, 7-8 wait, 9 second, 10 record,
// 11 wait, 12 third, 13 record, 14 wait; buffers x, a, b, loss.
// backwardScan: 0 loop, 1 forward, 2 begin, 3 record, 4 loop, 5 wait, 6 backward, 7 record, 8 wait,
// 9 sum, 10 record, 11 wait; buffers states, cotangents, gradient.
// loopNest: 0 loop, 1 zero, 2 loop, 3 row, 4 sum, 5 column; buffers x, y, sums, column.
// microbatches: 0 zero, 1 loop, 2 forward, 3 loss, 4 backward, 5 step; buffers x, weights, ordinal,
// hidden, gradient, losses.
// gears: 0 record, 1 loop, 2-3 wait, 4 write, 5 read, 6-7 record, 8 wait; buffer slots.
// lanes: 0 record, 1 wait, 2 early, 3 record, 4 loop, 5-6 wait, 7 write, 8 read, 9-10 record, 11-12
// wait; buffers slots, one, two.
// workspaces: 0 loop, 1 a, 2 sum a, 3 b; buffers a, b.
// inPlace: 0 record, 1 wait, 2 partials, 3 gradient, 4 record, 5 wait, 6 norms, 7 step; buffers x,
// weights, early, late, gradient.
const Planted planted[] = {
    // No plan at all.
    {"space", batches, [](Entry &e) { e.buffers[0].space = Space(5); }, Kind::unknownKind},
    {"mode", batches, [](Entry &e) { at(e, 2).accesses[1].mode = Mode(3); }, Kind::unknownKind},
    {"kind", batches, [](Entry &e) { at(e, 2).kind = Action::Kind(4); }, Kind::unknownKind},
    {"wait with an access", buffers, [](Entry &e) { at(e, 1).accesses = {reads(0, 4)}; },
     Kind::misplaced},
    {"work with a body", buffers, [](Entry &e) { at(e, 9).body = {record(0, 0)}; },
     Kind::misplaced},
    {"buffer", batches, [](Entry &e) { at(e, 3).accesses[0].buffer = 6; }, Kind::unknownBuffer},
    {"input's buffer", batches, [](Entry &e) { e.inputs[0].buffer = 9; }, Kind::unknownBuffer},
    {"queue", buffers, [](Entry &e) { at(e, 7).queue = 2; }, Kind::unknownQueue},
    {"no queue", batches, [](Entry &e) { e.queues = 0; }, Kind::unknownQueue},
    {"event", buffers, [](Entry &e) { at(e, 8).event = 3; }, Kind::unknownEvent},
    {"loop", nest, [](Entry &e) { at(e, 3).accesses[0].strides[1].loop = 2; }, Kind::unknownLoop},
    {"input's loop", batches, [](Entry &e) { e.inputs[0] = moving(e.inputs[0], 0); },
     Kind::unknownLoop},
    {"two strides", nest, [](Entry &e) { at(e, 3).accesses[0].strides[1].loop = 0; },
     Kind::strideTwice},
    {"no bytes", batches, [](Entry &e) { at(e, 4).accesses[0].bytes = 0; }, Kind::emptyAccess},
    {"no rows", nest, [](Entry &e) { at(e, 5).accesses[0].dims[0].count = 0; }, Kind::emptyAccess},
    {"no rounds", batches, [](Entry &e) { at(e, 1).count = 0; }, Kind::emptyLoop},
    {"five loops", batches,
     [](Entry &e) { at(e, 4) = loop(1, {loop(1, {loop(1, {loop(1, {at(e, 4)})})})}); },
     Kind::nestingTooDeep},
    {"queues", batches, [](Entry &e) { e.queues = UINT32_MAX; }, Kind::tooManyQueues},
    {"wait for what is recorded nowhere", stages, [](Entry &e) { at(e, 13).event = 2; },
     Kind::neverRecorded},
    {"wait for what is recorded later", buffers, [](Entry &e) { at(e, 1).event = 2; },
     Kind::neverRecorded},
    {"wait for the round before the only one", buffers, [](Entry &e) { at(e, 4).count = 1; },
     Kind::neverRecorded},
    // Where buffers lie, and when.
    {"empty buffer", batches, [](Entry &e) { e.buffers[2].size = 0; }, Kind::emptyBuffer},
    {"behind its space", batches, [](Entry &e) { --e.sizes[size_t(Space::persistent)]; },
     Kind::bufferOutsideSpace},
    {"around its space", batches, [](Entry &e) { e.buffers[5].offset = -uint64_t(64); },
     Kind::bufferOutsideSpace},
    {"endless space", batches, [](Entry &e) { e.sizes[size_t(Space::scratch)] = UINT64_MAX; },
     Kind::bufferOutsideSpace},
    {"misaligned", batches, [](Entry &e) { e.buffers[5].offset += 32; }, Kind::misaligned},
    {"lifetime backwards", batches, [](Entry &e) { e.buffers[3].first = 5; }, Kind::badLifetime},
    {"lifetime behind the end", batches, [](Entry &e) { e.buffers[3].last = 6; },
     Kind::badLifetime},
    {"variable born late", batches, [](Entry &e) { e.buffers[1].first = 1; }, Kind::badLifetime},
    {"variable dying early", batches, [](Entry &e) { e.buffers[1].last = 4; }, Kind::badLifetime},
    {"alive together", inPlace, [](Entry &e) { e.buffers[3].first = 3; }, Kind::buffersOverlap},
    // Where accesses lie.
    {"before its buffer", batches, [](Entry &e) { at(e, 3).accesses[0].offset = -1; },
     Kind::accessOutsideBuffer},
    {"behind its buffer", batches, [](Entry &e) { at(e, 3).accesses[0].bytes = 129; },
     Kind::accessOutsideBuffer},
    {"by the last round", batches, [](Entry &e) { ++at(e, 1).count; }, Kind::accessOutsideBuffer},
    {"by a negative stride", scan, [](Entry &e) { at(e, 9).accesses[0].offset -= 64; },
     Kind::accessOutsideBuffer},
    {"by a slot", buffers, [](Entry &e) { at(e, 9).accesses[0].strides[0].modulus = 3; },
     Kind::accessOutsideBuffer},
    {"by rows", nest, [](Entry &e) { ++at(e, 5).accesses[0].dims[0].count; },
     Kind::accessOutsideBuffer},
    {"by wrapping", nest,
     [](Entry &e) {
       at(e, 5).accesses[0].dims = {{UINT64_MAX, INT64_MAX}, {UINT64_MAX, INT64_MAX}};
     },
     Kind::accessOutsideBuffer},
    {"to a constant", nest, [](Entry &e) { at(e, 3).accesses[0].mode = Mode::update; },
     Kind::writeToConstant},
    {"after its death", inPlace, [](Entry &e) { e.buffers[2].last = 2; }, Kind::outsideLifetime},
    {"input before its birth", batches, [](Entry &e) { e.buffers[0].first = 1; },
     Kind::outsideLifetime},
    {"output after its death", batches, [](Entry &e) { e.buffers[5].last = 4; },
     Kind::outsideLifetime},
    {"dying in the loop", batches, [](Entry &e) { e.buffers[3].first = 1, e.buffers[3].last = 3; },
     Kind::diesInLoop},
    {"dying in the loop, used before", batches, [](Entry &e) { e.buffers[0].last = 3; },
     Kind::diesInLoop},
    {"ordinal dying in the loop", batches, [](Entry &e) { e.buffers[2].last = 3; },
     Kind::diesInLoop},
    // What is read.
    {"never written", batches, [](Entry &e) { at(e, 0).accesses.clear(); }, Kind::readBeforeWrite},
    {"no input", batches, [](Entry &e) { e.inputs.clear(); }, Kind::readBeforeWrite},
    {"the last slot unwritten", manyBatches, [](Entry &e) { --e.inputs[0].bytes; },
     Kind::readBeforeWrite},
    {"a slot in the middle unwritten", manyBatches,
     [](Entry &e) { e.inputs = {writes(0, 256 * 500), writes(0, 256 * 499, 256 * 501)}; },
     Kind::readBeforeWrite},
    {"half written", batches, [](Entry &e) { at(e, 2).accesses[3].bytes = 64; },
     Kind::readBeforeWrite},
    {"the round after", scan, [](Entry &e) { at(e, 1).accesses[0].offset = 64; },
     Kind::readBeforeWrite},
    {"another's bytes", inPlace, [](Entry &e) { at(e, 6).accesses.pop_back(); },
     Kind::readBeforeWrite},
    {"no ordinal", batches, [](Entry &e) { at(e, 1).accesses.clear(); }, Kind::readBeforeWrite},
    {"output never written", batches, [](Entry &e) { at(e, 3).accesses.pop_back(); },
     Kind::readBeforeWrite},
    // Happens-before.
    {"overwritten in the round before", workspaces,
     [](Entry &e) {
       at(e, 1).accesses = {moving(writes(0, 64), 64, 2)};
       at(e, 2).accesses = {reads(0, 64)};
     },
     Kind::overwritten},
    {"not forked", inPlace,
     [](Entry &e) {
       at(e, 1) = record(0, 0);
       at(e, 2).accesses = {writes(2, 256)};
     },
     Kind::queueNotForked},
    {"record on a queue not forked", inPlace, [](Entry &e) { at(e, 1) = record(1, 1); },
     Kind::queueNotForked},
    {"input not visible", buffers, [](Entry &e) { drop(e, 1); }, Kind::inputNotVisible},
    {"reader waits too early", stages, [](Entry &e) { std::swap(at(e, 6), at(e, 7)); },
     Kind::writeThenRead},
    {"reader does not wait", stages, [](Entry &e) { drop(e, 7); }, Kind::writeThenRead},
    {"writer does not wait for the round before", stages, [](Entry &e) { drop(e, 4); },
     Kind::readThenWrite},
    {"copy does not wait", buffers, [](Entry &e) { drop(e, 6); }, Kind::readThenWrite},
    {"compute does not wait", buffers, [](Entry &e) { drop(e, 5); }, Kind::writeThenRead},
    {"record on the wrong queue", stages, [](Entry &e) { at(e, 6).queue = 1; },
     Kind::writeThenRead},
    {"wait for another event", stages, [](Entry &e) { at(e, 11).event = 1; }, Kind::writeThenRead},
    {"record before the work", stages, [](Entry &e) { std::swap(at(e, 9), at(e, 10)); },
     Kind::writeThenRead},
    // Slots 0 to 3 in turn, and 3 to 7: in round 15 for the first time.
    {"slots that meet late", gears,
     [](Entry &e) { at(e, 5).accesses = {moving(reads(0, 64, 192), 64, 5)}; }, Kind::writeThenRead},
    {"a slot read in passing", lanes,
     [](Entry &e) { at(e, 8).accesses = {reads(0, 64, 500 * 64)}; }, Kind::writeThenRead},
    {"slots from both ends", lanes,
     [](Entry &e) {
       at(e, 4).count = 999;
       at(e, 8).accesses = {moving(reads(0, 64, 998 * 64), -64)};
     },
     Kind::writeThenRead},
    {"a slot written before the loop", lanes,
     [](Entry &e) { at(e, 2).accesses = {writes(0, 4, 700 * 64)}; }, Kind::writeThenWrite},
    {"two writers", stages, [](Entry &e) { at(e, 12).accesses.push_back(writes(1, 64)); },
     Kind::writeThenWrite},
    {"one slot", buffers, [](Entry &e) { at(e, 7).accesses[1].strides.clear(); },
     Kind::writeThenRead},
    {"written twice", batches, [](Entry &e) { at(e, 2).accesses.push_back(writes(3, 4, 124)); },
     Kind::writtenTwice},
    {"inputs overlap", batches, [](Entry &e) { e.inputs.push_back(writes(0, 4)); },
     Kind::writtenTwice},
    {"output not awaited", stages, [](Entry &e) { drop(e, 14); }, Kind::outputBeforeCompletion},
    {"queue not joined", buffers, [](Entry &e) { drop(e, 11); }, Kind::queueNotJoined},
};

TEST(PlannedEntry, AcceptsWhatIsRight) {
  for (const Entry &entry : {buffers(), stages(), scan(), nest(), batches(), manyBatches(),
                             workspaces(), gears(), lanes(), inPlace(), Entry()}) {
    Verdict verdict = verify(entry);
    EXPECT_FALSE(verdict.fault) << verdict.fault->message;
  }
}

TEST(PlannedEntry, FindsEachPlantedFault) {
  std::set<Kind> kinds;
  for (const Planted &plant : planted) {
    SCOPED_TRACE(plant.name);
    Entry entry = plant.plan();
    plant.change(entry);
    Verdict verdict = verify(entry);
    ASSERT_TRUE(verdict.fault) << "accepted";
    EXPECT_EQ(verdict.fault->kind, plant.kind) << verdict.fault->message;
    kinds.insert(plant.kind);
  }
  // All but tooLongToProve, which is below.
  EXPECT_EQ(kinds.size(), size_t(Kind::tooLongToProve));
}

std::string messageOf(Entry entry, void (*change)(Entry &), Limits limits = {}) {
  change(entry);
  Verdict verdict = verify(entry, limits);
  return verdict.fault ? std::string(text(verdict.fault->kind)) + ": " + verdict.fault->message
                       : "accepted";
}

TEST(PlannedEntry, SaysWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_EQ(messageOf(scan(), [](Entry &e) { at(e, 9).accesses[0].offset -= 64; }),
            "access outside its buffer: action 9 'sum' on queue 1, access to buffer 0 "
            "'states': it takes bytes [-64, 1216) of 1344");
  EXPECT_EQ(messageOf(inPlace(), [](Entry &e) { e.buffers[3].first = 3; }),
            "buffers alive together overlap: buffer 2 'early', alive in actions 2 to 3, and "
            "buffer 3 'late', alive in actions 3 to 7: they overlap");
  EXPECT_EQ(messageOf(batches(), [](Entry &e) { e.buffers[0].last = 3; }),
            "alive before a loop and dying inside its body: action 2 'forward' on queue 0, "
            "access to buffer 0 'x': buffer 0 'x', alive in actions 0 to 3, is used in the "
            "loop of actions 1 to 4");
  EXPECT_EQ(messageOf(batches(), [](Entry &e) { at(e, 2).accesses[3].bytes = 64; }),
            "read before it is written: action 3 'loss' on queue 0, access to buffer 3 "
            "'hidden': it reads bytes [64, 128), which nothing has written; in round 0 of "
            "action 1");
  EXPECT_EQ(messageOf(inPlace(), [](Entry &e) { at(e, 6).accesses.pop_back(); }),
            "read before it is written: action 7 'step' on queue 0, access to buffer 3 "
            "'late': it reads bytes [0, 128), which only action 2 'partials' on queue 1, "
            "access to buffer 2 'early' has written");
  EXPECT_EQ(messageOf(stages(), [](Entry &e) { at(e, 6).queue = 1; }),
            "read not ordered after a write: action 9 'second' on queue 1, access to buffer "
            "1 'a': it reads bytes [0, 64), which action 5 'first' on queue 0, access to "
            "buffer 1 'a' writes, and nothing puts the two in order: queue 1 has to wait for "
            "an event that queue 0 records behind that, and has waited for event 1, recorded "
            "on queue 1; event 0, recorded on queue 0; in round 0 of action 3");
  EXPECT_EQ(messageOf(stages(), [](Entry &e) { drop(e, 4); }),
            "write not ordered after a read: action 4 'first' on queue 0, access to buffer 1 "
            "'a': it writes bytes [0, 64), which action 8 'second' on queue 1, access to "
            "buffer 1 'a' reads, and nothing puts the two in order: queue 0 has to wait for "
            "an event that queue 1 records behind that, and has waited for none; in round 2 "
            "of action 3");
  EXPECT_EQ(messageOf(stages(), [](Entry &e) { drop(e, 14); }),
            "output read before completion: the host, access to buffer 3 'loss': it reads "
            "bytes [40, 44), which action 12 'third' on queue 2, access to buffer 3 'loss' "
            "writes, and nothing puts the two in order: queue 0 has to wait for an event "
            "that queue 2 records behind that, and has waited for event 2, recorded on queue "
            "1");
  EXPECT_EQ(messageOf(buffers(), [](Entry &e) { drop(e, 11); }),
            "queue not joined: action 7 'copy next' is the last work of queue 1, and queue 0 "
            "ends the entry without having waited for it");
  EXPECT_EQ(messageOf(buffers(), [](Entry &e) { drop(e, 1); }),
            "input not visible: action 1 'copy' on queue 1, access to buffer 0 'host': it "
            "reads what the host has written, and nothing puts the two in order: queue 1 has "
            "waited for nothing that queue 0 has recorded");
  EXPECT_EQ(messageOf(buffers(), [](Entry &e) { at(e, 1).event = 2; }),
            "waits for an event never recorded: action 1: queue 1 waits for event 2, which "
            "is recorded only later, at action 10");
}

// Rounds are left out where they repeat; a scan keeps no slots, and is followed to its end.
TEST(PlannedEntry, FollowsLongLoopsOnlyUntilTheyRepeat) {
  uint64_t many = uint64_t(1) << 40;
  for (const Entry &entry : {doubleBuffers(many), pipeline(many), microbatches(many)}) {
    Verdict verdict = verify(entry);
    EXPECT_FALSE(verdict.fault) << verdict.fault->message;
    EXPECT_LT(verdict.steps, 1000u);
  }
  Verdict verdict = verify(backwardScan(10000));
  EXPECT_FALSE(verdict.fault) << verdict.fault->message;
  EXPECT_LT(verdict.steps, 200000u);
  Limits limits;
  limits.steps = 5000;
  std::string message = messageOf(backwardScan(10000), [](Entry &) {}, limits);
  EXPECT_EQ(
      message.substr(0, message.find("; in round")),
      "too long to prove: more than 5000 steps, or 2000000 segments of memory; each round has "
      "to be followed of action 0: action 1 'forward' on queue 0, access to buffer 0 'states' "
      "and action 1 'forward' on queue 0, access to buffer 0 'states' take 128 bytes in a "
      "round and move by 64");
}

// A queue's every work on a buffer of its own, then one that reads what eight did.
Entry chain(uint32_t length) {
  Entry entry;
  entry.queues = 2;
  entry.events = 2;
  entry.actions = {record(0, 0), wait(1, 0)};
  for (uint32_t i = 0; i < length; ++i) {
    uint32_t queue = i / 16 % 2;
    addBuffer(entry, "x", 64);
    Action action = work("next", queue, {writes(i, 64)});
    for (uint32_t j = i < 8 ? 0 : i - 8; j < i; ++j)
      action.accesses.push_back(reads(j, 64));
    if (i % 16 == 0)
      entry.actions.push_back(wait(queue, 1 - queue));
    entry.actions.push_back(action);
    if (i % 16 == 15)
      entry.actions.push_back(record(queue, queue));
  }
  entry.actions.push_back(record(1, 1));
  entry.actions.push_back(wait(0, 1));
  at(entry, 2) = record(0, 0); // there is nothing yet to wait for
  keepAlive(entry);
  return entry;
}

TEST(PlannedEntry, TakesStepsInProportionToTheActions) {
  std::vector<uint64_t> steps;
  for (uint32_t length : {1000, 10000, 100000}) {
    Verdict verdict = verify(chain(length));
    ASSERT_FALSE(verdict.fault) << verdict.fault->message;
    steps.push_back(verdict.steps);
    EXPECT_LT(verdict.steps, 40 * length);
  }
  EXPECT_LT(steps[2], 11 * steps[1]);
  EXPECT_LT(steps[1], 11 * steps[0]);
}

} // namespace
} // namespace weir::planned

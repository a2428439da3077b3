//===- RanksTest.cpp - Programs of all ranks, and faults in them ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Ranks.h"
#include <ctime>
#include <functional>
#include <gtest/gtest.h>
#include <set>

using namespace weir;
using namespace weir::planned;

namespace {

SyncPoint gather(std::string axis, uint64_t number) {
  return {.kind = "all_gather",
          .axis = std::move(axis),
          .number = number,
          .source = "net.weir:" + std::to_string(number) + ":1",
          .bytes = {8, 8},
          .own = 8};
}

SyncPoint loop(uint64_t rounds, std::vector<SyncPoint> body) {
  return {.rounds = rounds, .body = std::move(body)};
}

SyncPoint on(uint32_t queue, SyncPoint point) {
  point.queue = queue;
  return point;
}

SyncPoint record(uint32_t event, uint32_t queue) {
  return {.queue = queue, .order = SyncPoint::Order::record, .event = event};
}

SyncPoint wait(uint32_t event, uint32_t queue) {
  return {.queue = queue, .order = SyncPoint::Order::wait, .event = event};
}

/// A collective on a queue that begins when queue 0 has come so far, and that is waited for where
/// `behind` are given away.
std::vector<SyncPoint> beside(SyncPoint collective, uint32_t queue, std::vector<SyncPoint> behind) {
  uint32_t begins = 2 * queue, ends = begins + 1;
  std::vector<SyncPoint> all = {record(begins, 0), wait(begins, queue),
                                on(queue, std::move(collective)), record(ends, queue)};
  all.insert(all.end(), behind.begin(), behind.end());
  all.push_back(wait(ends, 0));
  return all;
}

std::vector<SyncPoint> both(std::vector<SyncPoint> some, const std::vector<SyncPoint> &others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

/// Of 8 bytes between ranks along dp.
SyncPoint transfer(std::string kind, uint64_t peer, uint64_t number, uint64_t round = 0) {
  return {.kind = std::move(kind),
          .axis = "dp",
          .number = number,
          .source = "net.weir:" + std::to_string(number) + ":1",
          .bytes = {8},
          .own = 8,
          .peer = peer,
          .round = round};
}

/// On dp=2,tp=2, each with a program of its own: four collectives, of which two are in a loop.
MeshPrograms fourRanks() {
  RankProgram program;
  program.variables = {{"w", Element::f32, {5, 4}, "5@dp 4", {3, 4}},
                       {"b", Element::f32, {4}, "", {4}}};
  std::vector<RankTensor> inputs = {{"x", Element::f32, {8, 4}, "8@dp 4", {4, 4}}};
  std::vector<RankTensor> results = {{"loss", Element::f32, {}, "", {}}};
  std::vector<SyncPoint> syncPoints = {gather("dp", 1), loop(3, {gather("tp", 2), gather("dp", 3)}),
                                       gather("tp", 4), gather("dp", 5), gather("dp", 6)};
  program.entries = {{"init", {}, {}, {}}, {"step", inputs, results, syncPoints}};
  MeshPrograms ranks{std::get<Mesh>(Mesh::parse("dp=2,tp=2")), {}, {0, 1, 2, 3}};
  for (int rank = 0; rank < 4; ++rank) {
    ranks.programs.push_back(program);
    ranks.programs.back().variables[0].own[0] = rank < 2 ? 3 : 2;
  }
  return ranks;
}

struct Fault {
  const char *name;
  FaultKind kind;
  const char *words; ///< of its message
  std::function<void(MeshPrograms &)> plant;
};

void PrintTo(const Fault &fault, std::ostream *out) { *out << fault.name; }

std::vector<SyncPoint> &step(MeshPrograms &ranks, int rank = 3) {
  return ranks.programs[rank].entries[1].syncPoints;
}
RankTensor &weight(MeshPrograms &ranks, int rank = 3) { return ranks.programs[rank].variables[0]; }

const Fault faults[] = {
    {"ARankWithoutAProgram", FaultKind::rankWithoutProgram, "rank 3 of dp=2,tp=2 has no program",
     [](auto &ranks) { ranks.programOf.pop_back(); }},
    {"AProgramThatIsNotThere", FaultKind::rankWithoutProgram, "rank 1 of dp=2,tp=2 has no program",
     [](auto &ranks) { ranks.programOf[1] = 4; }},
    {"EntriesInAnotherOrder", FaultKind::otherEntries, "rank 3 has other entries than rank 0",
     [](auto &ranks) { std::swap(ranks.programs[3].entries[0], ranks.programs[3].entries[1]); }},
    {"AVariableOfAnotherName", FaultKind::otherVariables,
     "the variable 'v' of rank 3 is not the one of rank 0",
     [](auto &ranks) { weight(ranks).name = "v"; }},
    {"AVariableLess", FaultKind::otherVariables, "the variable 'b' of rank 0 is none of rank 3",
     [](auto &ranks) { ranks.programs[3].variables.pop_back(); }},
    {"AnInputOfAnotherType", FaultKind::otherInputs,
     "the input of entry 'step' 'x' of rank 3 is not the one of rank 0",
     [](auto &ranks) { ranks.programs[3].entries[1].inputs[0].element = Element::i32; }},
    {"UnequalResults", FaultKind::otherResults, "the result of entry 'step' 'loss' of rank 3",
     [](auto &ranks) { ranks.programs[3].entries[1].results[0].shape = {2}; }},
    {"AnotherLayout", FaultKind::otherLayout,
     "the variable 'w' lies as '5 4@dp' on rank 3 and as '5@dp 4' on rank 0",
     [](auto &ranks) { weight(ranks).layout = "5 4@dp"; }},
    {"AnAxisThatIsNotThere", FaultKind::unknownLayout, "cannot lie as '5@pp 4' on dp=2,tp=2",
     [](auto &ranks) {
       for (RankProgram &program : ranks.programs)
         program.variables[0].layout = "5@pp 4";
     }},
    {"ASumThatIsNotMade", FaultKind::unknownLayout, "cannot lie as '5@dp 4 +tp'",
     [](auto &ranks) {
       for (RankProgram &program : ranks.programs)
         program.variables[0].layout = "5@dp 4 +tp";
     }},
    {"SharesThatOverlap", FaultKind::sharesOverlap,
     "rank 3 has 3 places of 5 along dimension 0 of the variable 'w', and 2 by its layout",
     [](auto &ranks) { weight(ranks).own[0] = 3; }},
    {"APlaceThatNobodyHas", FaultKind::shareMissing,
     "rank 1 has 2 places of 5 along dimension 0 of the variable 'w', and 3 by its layout",
     [](auto &ranks) { weight(ranks, 1).own[0] = 2; }},
    {"TheProgramOfARankWithOtherSizes", FaultKind::sharesOverlap, "rank 2 has 3 places of 5",
     [](auto &ranks) { ranks.programOf[2] = 0; }},
    {"SwappedOrder", FaultKind::otherOrder,
     "rank 1 is in all_gather over dp, collective 5 (net.weir:5:1), and rank 3 in all_gather over "
     "dp, collective 6 (net.weir:6:1)",
     [](auto &ranks) { std::swap(step(ranks)[3], step(ranks)[4]); }},
    {"ACollectiveLess", FaultKind::missingCollective, "rank 3 has no collective 5",
     [](auto &ranks) { step(ranks).erase(step(ranks).begin() + 3); }},
    {"TheLastCollectiveLess", FaultKind::missingCollective,
     "waits for rank 3, which has no collective 6", [](auto &ranks) { step(ranks).pop_back(); }},
    {"ACollectiveMore", FaultKind::missingCollective, "rank 1 has no collective 7",
     [](auto &ranks) { step(ranks).insert(step(ranks).begin(), gather("dp", 7)); }},
    {"ACollectiveLessInALoop", FaultKind::missingCollective,
     "waits for rank 2, which has no collective 2",
     [](auto &ranks) { step(ranks, 2)[1].body.erase(step(ranks, 2)[1].body.begin()); }},
    {"AnotherKind", FaultKind::otherKind, "and rank 3 in all_to_all over dp, collective 1",
     [](auto &ranks) { step(ranks)[0].kind = "all_to_all"; }},
    {"AnotherAxis", FaultKind::otherAxis,
     "rank 3 in all_gather over tp, collective 1 (net.weir:1:1); that of rank 2 is all_gather over "
     "dp",
     [](auto &ranks) { step(ranks)[0].axis = "tp"; }},
    {"AnAxisThatTheMeshHasNot", FaultKind::unknownAxis, "rank 3 is in all_gather over pp",
     [](auto &ranks) { step(ranks)[0].axis = "pp"; }},
    {"AnotherSizeOfAMember", FaultKind::otherSize, "members have 8, 8 bytes by the one, 4, 8",
     [](auto &ranks) { step(ranks)[0].bytes[0] = 4; }},
    {"ASizeThatIsNotItsOwn", FaultKind::otherSize, "with 4 bytes, and has 8 by its members",
     [](auto &ranks) { step(ranks)[0].own = 4; }},
    {"NotAsManySizesAsMembers", FaultKind::otherSize, "has 3 sizes for 2 members",
     [](auto &ranks) { step(ranks)[0].bytes.push_back(8); }},
    {"AnotherTypeOfTheSameSize", FaultKind::otherElement, "of f32 and of i32",
     [](auto &ranks) { step(ranks)[0].element = Element::i32; }},
    {"AnotherSource", FaultKind::otherSource, "collective 1 (net.weir:9:1)",
     [](auto &ranks) { step(ranks)[0].source = "net.weir:9:1"; }},
    {"OtherRoundsOfALoop", FaultKind::otherRounds, "in round 1 of 3, and rank 3 in round 1 of 2",
     [](auto &ranks) { step(ranks)[1].rounds = 2; }},
    {"OtherRoundsOfTheLastLoop", FaultKind::otherRounds,
     "in round 1 of 3, and rank 3 in round 1 of 4",
     [](auto &ranks) {
       for (RankProgram &program : ranks.programs)
         program.entries[1].syncPoints.resize(2);
       step(ranks)[1].rounds = 4;
     }},
    {"OutOfItsLoop", FaultKind::otherRounds, "in round 1 of 3, and rank 3 in no loop",
     [](auto &ranks) { step(ranks)[1] = SyncPoint(step(ranks)[1].body[0]); }},
    {"DeadlockOfTwoAxes", FaultKind::deadlock,
     "entry 'step': rank 0 is in all_gather over dp, collective 1 (net.weir:1:1) and waits for "
     "rank 2, in all_gather over tp, collective 2 (net.weir:2:1), which waits for rank 3, in "
     "all_gather over dp, collective 1 (net.weir:1:1), which waits for rank 1, in all_gather over "
     "tp, collective 2 (net.weir:2:1), which waits for rank 0",
     [](auto &ranks) {
       for (int rank : {0, 3})
         step(ranks, rank) = {gather("dp", 1), gather("tp", 2)};
       for (int rank : {1, 2})
         step(ranks, rank) = {gather("tp", 2), gather("dp", 1)};
     }},
    {"AnAxisOnTwoQueues", FaultKind::axisOnQueues,
     "rank 3 is in all_gather over dp, collective 6 (net.weir:6:1) on queue 3, and others are on "
     "queue 0",
     [](auto &ranks) { step(ranks)[4].queue = 3; }},
    {"AnotherOrderOnAQueue", FaultKind::otherOrder,
     "rank 1 is in all_gather over dp, collective 5 (net.weir:5:1), and rank 3 in all_gather over "
     "dp, collective 6",
     [](auto &ranks) {
       for (int rank = 0; rank < 4; ++rank)
         step(ranks, rank) = beside(gather("dp", 5), 3, beside(gather("dp", 6), 3, {}));
       step(ranks) = beside(gather("dp", 6), 3, beside(gather("dp", 5), 3, {}));
     }},
    // Each is waited for before the other is given away.
    {"DeadlockOfTwoQueues", FaultKind::deadlock,
     "rank 0 is in all_gather over dp, collective 1 (net.weir:1:1) and waits for rank 2, in "
     "all_gather over tp, collective 2",
     [](auto &ranks) {
       for (int rank : {0, 3})
         step(ranks, rank) = both(beside(gather("dp", 1), 3, {}), beside(gather("tp", 2), 4, {}));
       for (int rank : {1, 2})
         step(ranks, rank) = both(beside(gather("tp", 2), 4, {}), beside(gather("dp", 1), 3, {}));
     }},
    // One queue waits for the other.
    {"DeadlockBehindAnEvent", FaultKind::deadlock,
     "rank 0 is in all_gather over dp, collective 1 (net.weir:1:1) and waits for rank 2, in "
     "all_gather over tp, collective 2",
     [](auto &ranks) {
       for (int rank : {0, 3})
         step(ranks, rank) =
             beside(gather("dp", 1), 3, both({wait(7, 4)}, beside(gather("tp", 2), 4, {})));
       for (int rank : {1, 2})
         step(ranks, rank) =
             beside(gather("tp", 2), 4, both({wait(9, 3)}, beside(gather("dp", 1), 3, {})));
     }},
    {"NobodyOnTheOtherQueue", FaultKind::missingCollective,
     "waits for rank 3, which has no collective 2",
     [](auto &ranks) {
       for (int rank = 0; rank < 4; ++rank)
         step(ranks, rank) = beside(gather("dp", 1), 3, beside(gather("tp", 2), 4, {}));
       step(ranks) = beside(gather("dp", 1), 3, {});
     }},
    {"AWayToOneself", FaultKind::unknownPeer,
     "rank 3 is in send to dp 1, number 7 of microbatch 0 (net.weir:7:1), on dp=2,tp=2",
     [](auto &ranks) { step(ranks).push_back(transfer("send", 1, 7)); }},
    {"ASendThatIsMissing", FaultKind::missingSend,
     "rank 3 is in receive from dp 0, number 7 of microbatch 2 (net.weir:7:1), and rank 1 does not "
     "send it",
     [](auto &ranks) { step(ranks).push_back(transfer("receive", 0, 7, 2)); }},
    {"AReceiveThatIsMissing", FaultKind::missingReceive,
     "rank 3 is in send to dp 0, number 7 of microbatch 0 (net.weir:7:1), and rank 1 does not "
     "receive it",
     [](auto &ranks) { step(ranks).push_back(transfer("send", 0, 7)); }},
    {"AWrongMicrobatch", FaultKind::otherMicrobatch,
     "rank 3 is in receive from dp 0, number 7 of microbatch 1 (net.weir:7:1), and rank 1 has sent "
     "it in send to dp 1, number 7 of microbatch 0",
     [](auto &ranks) {
       step(ranks, 1).push_back(transfer("send", 1, 7, 0));
       step(ranks).push_back(transfer("receive", 0, 7, 1));
     }},
    {"AMicrobatchSentTwice", FaultKind::sentTwice, ", and has sent it before",
     [](auto &ranks) {
       step(ranks, 1).push_back(transfer("send", 1, 7));
       step(ranks, 1).push_back(transfer("send", 1, 7));
       step(ranks).push_back(transfer("receive", 0, 7));
       step(ranks).push_back(transfer("receive", 0, 7));
     }},
    {"AnotherSizeThanIsSent", FaultKind::otherSize, ": 8 bytes by the one, 16 by the other",
     [](auto &ranks) {
       step(ranks, 1).push_back(transfer("send", 1, 7));
       step(ranks, 1).back().bytes = {16};
       step(ranks).push_back(transfer("receive", 0, 7));
     }},
    {"ACycleOfReceives", FaultKind::deadlock,
     "rank 1 is in receive from dp 1, number 8 of microbatch 0 (net.weir:8:1) and waits for rank "
     "3, in receive from dp 0, number 7 of microbatch 0 (net.weir:7:1), which waits for rank 1",
     [](auto &ranks) {
       step(ranks, 1) = {transfer("receive", 1, 8), transfer("send", 1, 7)};
       step(ranks, 3) = {transfer("receive", 0, 7), transfer("send", 0, 8)};
       step(ranks, 0) = step(ranks, 2) = {};
     }},
};

class Planted : public testing::TestWithParam<Fault> {};

TEST_P(Planted, IsRefusedByName) {
  MeshPrograms ranks = fourRanks();
  GetParam().plant(ranks);
  std::optional<RanksFault> found = verifyRanks(ranks);
  ASSERT_TRUE(found);
  EXPECT_EQ(text(found->kind), text(GetParam().kind)) << found->message;
  EXPECT_NE(found->message.find(GetParam().words), std::string::npos) << found->message;
}

INSTANTIATE_TEST_SUITE_P(Faults, Planted, testing::ValuesIn(faults),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Ranks, EachKindOfFaultIsPlanted) {
  std::set<FaultKind> kinds;
  for (const Fault &fault : faults)
    kinds.insert(fault.kind);
  EXPECT_EQ(kinds.size(), size_t(FaultKind::sentTwice) - size_t(FaultKind::tooLongToProve));
}

TEST(Ranks, ProgramsThatFitAreAccepted) {
  MeshPrograms ranks = fourRanks();
  auto found = verifyRanks(ranks);
  EXPECT_FALSE(found) << found->message;
  ranks.programOf = {0, 0, 2, 2}; // as many programs as there are sizes
  found = verifyRanks(ranks);
  EXPECT_FALSE(found) << found->message;
}

/// Stages of a pipeline would: what matters is whom each one meets.
TEST(Ranks, OrdersMayDifferWhereNobodyMeets) {
  MeshPrograms ranks = fourRanks();
  for (int rank : {1, 3})
    step(ranks, rank) = {gather("dp", 7), loop(9, {gather("dp", 8)}), gather("tp", 2)};
  for (int rank : {0, 2})
    step(ranks, rank) = {gather("tp", 2), gather("dp", 1), loop(2, {gather("dp", 3)})};
  auto found = verifyRanks(ranks);
  EXPECT_FALSE(found) << found->message;
}

/// What is given to queues before any of it is waited for.
TEST(Ranks, QueuesGoByThemselves) {
  MeshPrograms ranks = fourRanks();
  for (int rank : {0, 3})
    step(ranks, rank) = beside(gather("dp", 1), 3, beside(gather("tp", 2), 4, {}));
  for (int rank : {1, 2})
    step(ranks, rank) = beside(gather("tp", 2), 4, beside(gather("dp", 1), 3, {}));
  auto found = verifyRanks(ranks);
  EXPECT_FALSE(found) << found->message;
  // In loops too, in the same rounds.
  for (int rank = 0; rank < 4; ++rank)
    step(ranks, rank) = {loop(5, step(ranks, rank))};
  found = verifyRanks(ranks);
  EXPECT_FALSE(found) << found->message;
}

/// As stages do: two microbatches forward ahead of the first that comes back.
TEST(Ranks, WhoSendsDoesNotWait) {
  MeshPrograms ranks = fourRanks();
  for (int rank : {0, 1})
    step(ranks, rank) = {transfer("send", 1, 1, 0), transfer("send", 1, 1, 1),
                         transfer("receive", 1, 2, 0), transfer("receive", 1, 2, 1),
                         gather("tp", 1)};
  for (int rank : {2, 3})
    step(ranks, rank) = {transfer("receive", 0, 1, 0), transfer("send", 0, 2, 0),
                         transfer("receive", 0, 1, 1), transfer("send", 0, 2, 1)};
  auto found = verifyRanks(ranks);
  EXPECT_FALSE(found) << found->message;
}

/// The ones wait for the others while these go on in other groups.
TEST(Ranks, WaitingIsNoDeadlock) {
  MeshPrograms ranks = fourRanks();
  step(ranks, 0) = {gather("dp", 1), gather("tp", 2)};
  step(ranks, 1) = {gather("tp", 2), gather("dp", 3)};
  step(ranks, 2) = {gather("tp", 4), gather("dp", 1)};
  step(ranks, 3) = {gather("tp", 4), gather("dp", 3)};
  auto found = verifyRanks(ranks);
  EXPECT_FALSE(found) << found->message;
}

/// What a file says may be anything.
TEST(Ranks, EndsWhateverItIsGiven) {
  MeshPrograms ranks = fourRanks();
  std::vector<SyncPoint> deep = {gather("dp", 1), gather("dp", 1)};
  for (int i = 0; i < 4; ++i)
    deep = {loop(65536, deep)};
  for (int rank = 0; rank < 4; ++rank)
    step(ranks, rank) = deep;
  EXPECT_FALSE(verifyRanks(ranks)); // in step, whatever the rounds
  step(ranks).push_back(gather("tp", 2));
  auto found = verifyRanks(ranks, {.steps = 100000});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FaultKind::tooLongToProve);
}

/// Twelve layers, whose parameters are gathered for each microbatch, on 64 ranks of two sizes.
TEST(Ranks, ManyRanksTakeNoTime) {
  RankProgram program;
  std::vector<SyncPoint> layers;
  for (uint64_t number = 1; number <= 12 * 40; ++number) {
    layers.push_back(gather(number % 3 ? "dp" : "tp", number));
    layers.back().bytes.assign(8, 8);
    program.variables.push_back(
        {"w" + std::to_string(number), Element::f32, {1000, 768}, "1000@dp@tp 768", {16, 768}});
  }
  program.entries = {{"step", {}, {}, {loop(8, layers)}}};
  MeshPrograms ranks{std::get<Mesh>(Mesh::parse("dp=8,tp=8")), {program, program}, {}};
  for (RankTensor &variable : ranks.programs[1].variables)
    variable.own[0] = 15;
  for (int64_t rank = 0; rank < 64; ++rank)
    ranks.programOf.push_back(
        firstOfPart(1000, rank + 1, 64) - firstOfPart(1000, rank, 64) == 16 ? 0 : 1);
  auto seconds = [&] {
    std::clock_t begin = std::clock(); // of the processor: other tests run beside this one
    auto found = verifyRanks(ranks);
    EXPECT_FALSE(found) << found->message;
    return double(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(), 0.2);
  // Nor where they have to be followed.
  std::vector<SyncPoint> &first = ranks.programs[0].entries[0].syncPoints;
  first = {loop(4, layers), loop(4, layers)};
  ranks.programs[1].entries[0].syncPoints = {loop(4, layers), loop(4, layers), loop(1, {})};
  EXPECT_LT(seconds(), 0.5);
}

} // namespace

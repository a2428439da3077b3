//===- ReaderTest.cpp - Artifacts are read or refused -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Header.h"
#include "test/artifact/WholeProgram.h"
#include <cstring>
#include <random>

using namespace weir;
using namespace weir::artifact;
using Builder = TestProgram;

TEST(Reader, AcceptsTheWholeProgram) {
  std::vector<std::byte> file = whole().file();
  EXPECT_EQ(verify(file).model()->str(), "test");
}

TEST(Reader, AcceptsKernelsOfManyLaunches) {
  Builder test = whole();
  test.program.kernels[0]->meaning = "what it means";
  KernelT second = *test.program.kernels[0];
  second.part = 1;
  second.symbol = "k_1";
  second.suffix = "_1";
  second.meaning.clear();
  test.program.kernels.push_back(std::make_unique<KernelT>(second));
  test.step().actions[0]->locations = {Location(0, 7, 3)};
  test.step().actions[0]->lines = {0, 65535};
  EXPECT_EQ(messageOf(test.file()), "");
}

TEST(Reader, RefusesEveryTruncation) {
  std::vector<std::byte> file = whole().file();
  for (size_t length = 0; length < file.size(); ++length)
    EXPECT_NE(messageOf({file.begin(), file.begin() + length}), "") << length;
  EXPECT_NE(messageOf({file.begin(), file.begin() + 20}).find("truncated"), std::string::npos);
  EXPECT_NE(messageOf({file.begin(), file.end() - 1}).find("truncated"), std::string::npos);
  file.push_back({});
  EXPECT_NE(messageOf(file).find("after its end"), std::string::npos);
}

TEST(Reader, TheSchemaHasEveryPrecision) {
  size_t known = 0;
  for (artifact::Precision precision : EnumValuesPrecision())
    known += precisionNamed(EnumNamePrecision(precision)).has_value();
  EXPECT_EQ(known, std::size(precisionRows));
}

TEST(Reader, TellsDamageApart) {
  const std::vector<std::byte> file = whole().file();
  auto changed = [&](size_t at) {
    std::vector<std::byte> copy = file;
    copy[at] ^= std::byte(4);
    return messageOf(copy);
  };
  EXPECT_NE(changed(0).find("not a Weir artifact"), std::string::npos);
  EXPECT_NE(changed(8).find("format version 7, this Weir reads version 3"), std::string::npos);
  for (size_t at : {size_t(12), size_t(24), size_t(32), file.size() - 1})
    EXPECT_NE(changed(at).find("damaged"), std::string::npos) << at;
  std::vector<std::byte> noise(1000, std::byte(0x5a));
  EXPECT_NE(messageOf(wrap(noise)).find("malformed"), std::string::npos);
}

// The hash is right, so the FlatBuffers verifier and the semantic checks must answer.
TEST(Reader, SurvivesFlippedBits) {
  const std::vector<std::byte> payload = whole().payload();
  std::mt19937 engine(7);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> copy = payload;
    for (int flips = engine() % 3 + 1; flips > 0; --flips)
      copy[engine() % copy.size()] ^= std::byte(1 << engine() % 8);
    refused += messageOf(wrap(copy)) != "";
  }
  EXPECT_GT(refused, 5000);
}

/// The payload with a vector of a table moved by 4 bytes, and an element less in it.
template <class Vector>
static std::vector<std::byte> moved(std::vector<std::byte> payload, const void *table,
                                    flatbuffers::voffset_t field, const Vector *vector,
                                    const std::byte *origin) {
  auto *bytes = reinterpret_cast<const uint8_t *>(origin);
  auto write = [&](const void *place, uint32_t value) {
    std::memcpy(&payload[static_cast<const uint8_t *>(place) - bytes], &value, sizeof value);
  };
  const uint8_t *link = static_cast<const flatbuffers::Table *>(table)->GetAddressOf(field);
  auto *from = reinterpret_cast<const uint8_t *>(vector);
  write(link, from + 4 - link);
  write(from + 4, vector->size() - 1);
  return payload;
}

TEST(Reader, RefusesVectorsThatAreNotAligned) {
  const std::vector<std::byte> payload = whole().payload();
  const Program &program = *GetProgram(payload.data());
  const Kernel &kernel = *program.kernels()->Get(0);
  const Variable &variable = *program.variables()->Get(0);
  const Entry &step = *program.entries()->Get(1);
  const Port &port = *step.inputs()->Get(0);
  const Action &call = *step.actions()->Get(1);
  auto refused = [&](const void *table, flatbuffers::voffset_t field, const auto *vector) {
    return messageOf(wrap(moved(payload, table, field, vector, payload.data())));
  };
  for (const auto &[message, expected] :
       {std::pair(refused(&kernel, Kernel::VT_OPERANDS, kernel.operands()),
                  "kernel 'k': its operands are not aligned"),
        std::pair(refused(&variable, Variable::VT_SHAPE, variable.shape()),
                  "variable 'w': its shape is not aligned"),
        std::pair(refused(&port, Port::VT_SHAPE, port.shape()),
                  "input 'x': its shape is not aligned"),
        std::pair(refused(&call, Action::VT_OPERANDS, call.operands()),
                  "action 1 (Call): its operands are not aligned")})
    EXPECT_NE(message.find(expected), std::string::npos) << message;
}

/// With eval and eval_one, which read and give what step does.
static Builder evaluated() {
  Builder test = whole();
  for (const char *name : {"eval", "eval_one"}) {
    EntryT &entry = test.addEntry(name);
    for (uint64_t i = 0; i < 2; ++i)
      test.buffer(entry, 4096, 0, 0);
    entry.inputs.push_back(std::make_unique<PortT>(*test.step().inputs[0]));
    for (const auto &port : test.step().outputs)
      entry.outputs.push_back(std::make_unique<PortT>(*port));
    for (auto &port : entry.outputs)
      *port->ref = Builder::var(0).ref; // nothing writes a buffer
  }
  test.program.entries[3]->inputs[0]->shape[0] = 1;
  return test;
}

TEST(Reader, ComparesEvaluationsWithSteps) {
  static auto input = [](Builder &t, int entry) -> PortT & {
    return *t.program.entries[entry]->inputs[0];
  };
  const ArtifactFault all[] = {
      {"", [](Builder &) {}},
      {"", [](Builder &t) { t.program.entries.pop_back(); }},
      {"entry 'eval': it is unlike 'step' in 'x'", [](Builder &t) { input(t, 2).shape[1] = 63; }},
      {"entry 'eval_one': it is unlike 'step' in 'x'",
       [](Builder &t) { input(t, 3).shape = {1, 64, 1}; }},
      {"entry 'eval': it is unlike 'step' in 'x'",
       [](Builder &t) { input(t, 2).dtype = DType::u8; }},
      {"entry 'eval': it is unlike 'step' in 'y'", [](Builder &t) { input(t, 2).name = "y"; }},
      {"entry 'eval': it is unlike 'step' in 'x'",
       [](Builder &t) { t.program.entries[2]->inputs.clear(); }},
      {"entry 'eval': the input 'y' has other rows than 'x'",
       [](Builder &t) {
         t.program.entries[2]->inputs.push_back(std::make_unique<PortT>(input(t, 2)));
         t.program.entries[2]->inputs[1]->name = "y";
         t.program.entries[2]->inputs[1]->shape[0] = 5;
         t.program.entries[2]->inputs[1]->ref->mutate_index(1);
       }},
      {"entry 'eval_one': it is unlike 'eval' in 'loss'",
       [](Builder &t) { t.program.entries[3]->outputs[0]->weight = 2; }},
      {"entry 'eval_one': it is unlike 'eval' in 'loss'",
       [](Builder &t) { t.program.entries[3]->outputs.pop_back(); }},
      {"entry 'eval_one': it is unlike 'eval' in 'loss'",
       [](Builder &t) { t.program.entries[2]->outputs.pop_back(); }},
  };
  for (const ArtifactFault &fault : all) {
    Builder test = evaluated();
    fault.make(test);
    std::vector<std::byte> file = test.file();
    EXPECT_EQ(messageOf(file), "");
    std::string message;
    try {
      verifyEvaluations(verify(file));
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exit, Exit::model);
      message = failure.what();
    }
    EXPECT_TRUE(*fault.message ? message.find(fault.message) != std::string::npos : message.empty())
        << "expected: " << fault.message << "\nfound:    " << message;
  }
}

//===- ReaderTest.cpp -----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/Reader.h"
#include "runtime/artifact/Header.h"
#include "runtime/core/Error.h"
#include "test/runtime/core/TestProgram.h"
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace weir;
using namespace weir::artifact;
using Builder = TestProgram;

/// A program with one of everything. Actions of step: 0 launch, 1 product, 2 convolution, 3 repeat
/// (4 copy), 5 fill.
static Builder whole() {
  Builder test;
  uint32_t w = test.variable("w", {64, 64});
  test.variable("v", {64});
  uint32_t ordinal = test.variable("step", {}, DType::i32, Role::run);
  EntryT &entry = test.step();
  uint32_t x = test.buffer(entry, 4096, 0, 5), y = test.buffer(entry, 4096, 0, 5);
  auto input = Builder::port("x", PortKind::input, Builder::buf(x), {8, 8}, DType::i32);
  input->limit = 65;
  entry.inputs.push_back(std::move(input));
  entry.outputs.push_back(Builder::port("loss", PortKind::sum, Builder::buf(y), {}));
  entry.outputs.push_back(Builder::port("loss", PortKind::count, Builder::buf(y, 4), {}));
  test.program.code.assign(64, 0);
  test.add(Builder::launch(test.kernel("k", 4, {4096, 256}), {*Builder::buf(x), *Builder::var(1)}));
  ProductT product;
  product.batch = 2, product.m = 4, product.n = 5, product.k = 6;
  product.a = Builder::var(w), product.a_batch = 24, product.a_row = 6, product.a_column = 1;
  product.b = Builder::var(w), product.b_batch = 30, product.b_row = 5, product.b_column = 1;
  product.c = Builder::buf(y), product.c_batch = 20, product.c_row = 5;
  product.bias = Builder::var(1);
  product.tile_batch = 1, product.tile_m = 4, product.tile_n = 5;
  test.add(std::move(product));
  ConvolutionT c;
  c.kind = ConvolutionKind::backward_weight;
  c.images = 4, c.channels = 2, c.height = c.width = 5, c.filters = 3;
  c.kernel_height = c.kernel_width = 3, c.stride_h = c.stride_w = 1, c.padding_h = c.padding_w = 1;
  c.input = Builder::buf(x), c.weight = Builder::var(w), c.output = Builder::buf(y);
  c.partials = Builder::var(w, 4096), c.tile_images = 3;
  test.add(std::move(c));
  RepeatT repeat;
  repeat.count = 4;
  repeat.ordinal = Builder::var(ordinal);
  repeat.body.push_back(
      Builder::action(Builder::copy(Builder::buf(x, 0, 1024), Builder::buf(y, 0, 1024), 1024)));
  test.add(std::move(repeat));
  test.add(Builder::fill(Builder::buf(y, 96), 4000, 1));
  return test;
}

static std::string messageOf(const std::vector<std::byte> &file) {
  // At its exact end, so that a sanitizer sees a read past it.
  std::vector<std::byte> copy(file);
  copy.shrink_to_fit();
  try {
    verify(copy);
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
    return failure.what();
  }
  return "";
}

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
  test.step().actions[0]->work.AsLaunch()->lines = {0, 65535};
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

TEST(Reader, TellsDamageApart) {
  const std::vector<std::byte> file = whole().file();
  auto changed = [&](size_t at) {
    std::vector<std::byte> copy = file;
    copy[at] ^= std::byte(4);
    return messageOf(copy);
  };
  EXPECT_NE(changed(0).find("not a Weir artifact"), std::string::npos);
  EXPECT_NE(changed(8).find("format version 6, this Weir reads version 2"), std::string::npos);
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

struct Fault {
  const char *message;
  std::function<void(TestProgram &)> make;
};

static ProductT &product(Builder &t) { return *t.step().actions[1]->work.AsProduct(); }
static ConvolutionT &convolution(Builder &t) { return *t.step().actions[2]->work.AsConvolution(); }
static RepeatT &repeat(Builder &t) { return *t.step().actions[3]->work.AsRepeat(); }
static CopyT &copy(Builder &t) { return *repeat(t).body[0]->work.AsCopy(); }
static FillT &fill(Builder &t) { return *t.step().actions[4]->work.AsFill(); }
static VariableT &variable(Builder &t, int i) { return *t.program.variables[i]; }
static BufferT &buffer(Builder &t, int i) { return *t.step().buffers[i]; }
static LaunchT &launch(Builder &t) { return *t.step().actions[0]->work.AsLaunch(); }

static void addConfig(Builder &t, const char *name) {
  t.program.configs.push_back(std::make_unique<ConfigT>());
  t.program.configs.back()->name = name;
}

/// A second launch of the kernel, in order as it is.
static KernelT &addPart(Builder &t) {
  t.program.kernels.push_back(std::make_unique<KernelT>(*t.program.kernels[0]));
  t.program.kernels.back()->part = 1;
  return *t.program.kernels.back();
}

static const Fault faults[] = {
    {"more than 1 TiB", [](Builder &t) { t.program.arena = uint64_t(1) << 41; }},
    {"larger than the arena", [](Builder &t) { t.program.persistent = t.program.arena + 1; }},
    {"more than 16 GiB per thread", [](Builder &t) { t.program.thread_scratch = ~0ull; }},
    {"batch: it is out of range", [](Builder &t) { t.program.batch = 0; }},
    {"accumulate: it is out of range", [](Builder &t) { t.program.accumulate = 0; }},
    {"exactly one of steps and epochs", [](Builder &t) { t.program.steps = 0; }},
    {"exactly one of steps and epochs", [](Builder &t) { t.program.epochs = 1; }},
    {"'step' is missing", [](Builder &t) { t.program.entries[1]->name = "stop"; }},
    {"entry 'step': there are two", [](Builder &t) { t.program.entries[0]->name = "step"; }},

    {"steps or epochs are out of range", [](Builder &t) { t.program.steps = 1ull << 31; }},
    {"steps or epochs are out of range",
     [](Builder &t) { t.program.epochs = ~0ull, t.program.steps = 0; }},

    {"the model: its name, 'a\\x1b[2J', is no", [](Builder &t) { t.program.model = "a\x1b[2J"; }},
    {"a variable: it has no name", [](Builder &t) { variable(t, 1).name = ""; }},
    {"a variable: its name, '\\xff', is no", [](Builder &t) { variable(t, 1).name = "\xff"; }},
    {"a variable: its name, 'a\\nb', is no", [](Builder &t) { variable(t, 1).name = "a\nb"; }},
    {"a config: its name, '\\u202e', is no", [](Builder &t) { addConfig(t, "\u202e"); }},
    {"output of 'step': its name", [](Builder &t) { t.step().outputs[0]->name = "\x7f"; }},
    {"an entry: it has no name", [](Builder &t) { t.addEntry(""); }},
    {"what limits 'x': its name", [](Builder &t) { t.step().inputs[0]->limit_config = "\x01"; }},
    {"variable '__metadata__': the name is reserved",
     [](Builder &t) { variable(t, 1).name = "__metadata__"; }},
    {"variable 'run/w': the name is reserved", [](Builder &t) { variable(t, 1).name = "run/w"; }},
    {"kernel 'k': there are two", [](Builder &t) { addPart(t).part = 0; }},

    {"variable 'w': there are two", [](Builder &t) { variable(t, 1).name = "w"; }},
    {"variable 'v': its type is unknown", [](Builder &t) { variable(t, 1).dtype = DType(9); }},
    {"variable 'v': its role is unknown", [](Builder &t) { variable(t, 1).role = Role(9); }},
    {"its shape is not positive", [](Builder &t) { variable(t, 1).shape = {-64}; }},
    {"its shape is not positive", [](Builder &t) { variable(t, 1).shape = {1ll << 62, 1ll << 62}; }},
    {"its shape needs 252 bytes", [](Builder &t) { variable(t, 1).shape = {63}; }},
    {"its offset is not a multiple of 64", [](Builder &t) { variable(t, 1).offset += 4; }},
    {"lies outside the persistent", [](Builder &t) { variable(t, 1).offset = ~0ull - 63; }},
    {"lies outside the persistent", [](Builder &t) { variable(t, 1).offset = t.program.persistent; }},
    {"variable 'v': it overlaps 'w'", [](Builder &t) { variable(t, 1).offset = 64; }},
    {"a scalar of the run is one i32", [](Builder &t) { variable(t, 1).role = Role::run; }},
    {"its source file is unknown",
     [](Builder &t) { variable(t, 1).location = std::make_unique<Location>(1, 1, 1); }},

    {"a kernel: it has no name", [](Builder &t) { t.program.kernels[0]->symbol = ""; }},
    {"number of tasks is out of range", [](Builder &t) { t.program.kernels[0]->tasks = 0; }},
    {"more scratch than the program", [](Builder &t) { t.program.kernels[0]->thread_scratch = 1; }},
    {"config 'a': there are two", [](Builder &t) { addConfig(t, "a"), addConfig(t, "a"); }},
    {"a config: it has no name", [](Builder &t) { addConfig(t, ""); }},
    {"does not end with its suffix", [](Builder &t) { t.program.kernels[0]->suffix = "_1"; }},
    {"does not end with its suffix", [](Builder &t) { t.program.kernels[0]->suffix = "k"; }},
    {"the launch before it is missing", [](Builder &t) { t.program.kernels[0]->part = 1; }},
    {"the launch before it is missing", [](Builder &t) { addPart(t).part = 2; }},
    {"unlike the launch before it", [](Builder &t) { addPart(t).shape = "row"; }},
    {"unlike the launch before it", [](Builder &t) { addPart(t).operands[1]->written = true; }},
    {"unlike the launch before it", [](Builder &t) { addPart(t).operands.pop_back(); }},
    {"only the first launch has a meaning", [](Builder &t) { addPart(t).meaning = "?"; }},
    {"the line of an op of a launch", [](Builder &t) { launch(t).lines = {65535, 0}; }},
    {"entry 'step': its source file is unknown",
     [](Builder &t) { t.step().outputs[0]->location = std::make_unique<Location>(1, 1, 1); }},
    {"entry 'step': its source file is unknown",
     [](Builder &t) { repeat(t).body[0]->locations = {Location(1, 1, 1)}; }},
    {"there are kernels, but no code", [](Builder &t) { t.program.code.clear(); }},

    {"buffer 0 is empty", [](Builder &t) { buffer(t, 0).size = 0; }},
    {"buffer 0's offset is not", [](Builder &t) { buffer(t, 0).offset += 1; }},
    {"buffer 0 lies in the persistent", [](Builder &t) { buffer(t, 0).offset = 0; }},
    {"buffer 1 lies outside the arena", [](Builder &t) { buffer(t, 1).size = ~0ull; }},
    {"buffer 1 lies outside the arena", [](Builder &t) { buffer(t, 1).offset = ~0ull - 63; }},
    {"buffer 0's lifetime is not", [](Builder &t) { buffer(t, 0).first = 6; }},
    {"buffer 0's lifetime is not", [](Builder &t) { buffer(t, 0).last = 6; }},
    {"alive together and overlap", [](Builder &t) { buffer(t, 1).offset = buffer(t, 0).offset; }},
    {"alive together and overlap", [](Builder &t) { buffer(t, 1).offset = buffer(t, 0).offset + 64; }},
    {"buffer 2 is alive before the repeat at action 3 and dies inside its body",
     [](Builder &t) {
       repeat(t).body.push_back(Builder::action(Builder::fill(Builder::var(1), 4, 0)));
       buffer(t, 0).last = buffer(t, 1).last = 6;
       t.buffer(t.step(), 4, 0, 4);
     }},

    {"input 'x': its kind is unknown", [](Builder &t) { t.step().inputs[0]->kind = PortKind(8); }},
    {"input 'x': its type is unknown", [](Builder &t) { t.step().inputs[0]->dtype = DType(8); }},
    {"input 'x': its shape", [](Builder &t) { t.step().inputs[0]->shape = {0}; }},
    {"outside buffer 0", [](Builder &t) { t.step().inputs[0]->shape = {1025}; }},
    {"input 'x': its limit is negative", [](Builder &t) { t.step().inputs[0]->limit = -1; }},
    {"no input of integers", [](Builder &t) { t.step().inputs[0]->dtype = DType::f32; }},
    {"output 'loss' is there twice",
     [](Builder &t) { t.step().outputs[1]->kind = PortKind::sum; }},
    {"output 'loss' is there twice",
     [](Builder &t) {
       t.step().outputs[1]->kind = PortKind::scalar;
       t.step().outputs[1]->term = 1;
     }},
    {"input 'x' is there twice",
     [](Builder &t) {
       t.step().inputs.push_back(std::make_unique<PortT>(*t.step().inputs[0]));
       t.step().inputs.back()->term = 1;
     }},
    {"input 'x': its kind", [](Builder &t) { t.step().inputs[0]->kind = PortKind::scalar; }},
    {"output 'loss': its kind", [](Builder &t) { t.step().outputs[0]->kind = PortKind::input; }},
    {"output 'loss' must be one number", [](Builder &t) { t.step().outputs[0]->shape = {2}; }},
    {"output 'loss': its weight is not finite",
     [](Builder &t) { t.step().outputs[0]->weight = 1.0 / 0.0; }},
    {"input 'x' is in buffer 0, which is alive from action 1",
     [](Builder &t) { buffer(t, 0).first = 1; }},
    {"output 'loss' is in buffer 1, which is alive from action 0 to 4",
     [](Builder &t) { buffer(t, 1).last = 4; }},

    {"action 0 (launch): there is no kernel 1", [](Builder &t) { launch(t).kernel = 1; }},
    {"takes 2 operands, not 1", [](Builder &t) { launch(t).operands.pop_back(); }},
    {"operand 0 takes 4097 bytes", [](Builder &t) { t.program.kernels[0]->operands[0]->size = 4097; }},
    {"operand 1 is in an unknown variable", [](Builder &t) { launch(t).operands[1] = *Builder::var(3); }},
    {"operand 1 is in an unknown buffer", [](Builder &t) { launch(t).operands[1] = *Builder::buf(2); }},
    {"operand 1 is in an unknown space",
     [](Builder &t) { launch(t).operands[1] = Ref(Space(7), 0, 0, 0); }},
    {"operand 1 has a stride outside", [](Builder &t) { launch(t).operands[1] = *Builder::var(1, 0, 4); }},
    {"at offset 18446744073709551615", [](Builder &t) { launch(t).operands[1] = *Builder::var(1, ~0ull); }},

    {"action 1 (product): m is out of range", [](Builder &t) { product(t).m = 0; }},
    {"k is out of range", [](Builder &t) { product(t).k = 1ull << 31; }},
    {"the tile of n is out of range", [](Builder &t) { product(t).tile_n = 6; }},
    {"the tile of batch is out of range", [](Builder &t) { product(t).tile_batch = 0; }},
    {"accumulates behind a relu", [](Builder &t) { product(t).relu = product(t).accumulate = true; }},
    {"rows of c overlap", [](Builder &t) { product(t).c_row = 4; }},
    {"the batch of c overlaps", [](Builder &t) { product(t).c_batch = 4; }},
    {"a stride of a is 0", [](Builder &t) { product(t).a_row = 0; }},
    {"a stride of b is 0", [](Builder &t) { product(t).b_column = 0; }},
    {"(product): a takes", [](Builder &t) { product(t).a_batch = 5000; }},
    {"b is larger than any arena", [](Builder &t) { product(t).b_row = ~0ull; }},
    {"c takes", [](Builder &t) { product(t).c_row = 400; }},
    {"a is not aligned", [](Builder &t) { product(t).a = Builder::var(0, 2); }},
    {"bias takes 20 bytes at offset 252", [](Builder &t) { product(t).bias = Builder::var(1, 252); }},

    {"(convolution): its kind", [](Builder &t) { convolution(t).kind = ConvolutionKind(5); }},
    {"its layout is unknown", [](Builder &t) { convolution(t).layout = Layout(5); }},
    {"a dimension is out of range", [](Builder &t) { convolution(t).stride_h = 0; }},
    {"padding is not smaller", [](Builder &t) { convolution(t).padding_h = 3; }},
    {"kernel is larger than", [](Builder &t) { convolution(t).kernel_width = 8; }},
    {"its tile is out of range", [](Builder &t) { convolution(t).tile_images = 5; }},
    {"input takes", [](Builder &t) { convolution(t).channels = 20; }},
    {"input is too large",
     [](Builder &t) {
       convolution(t).images = convolution(t).channels = convolution(t).height = 1 << 30;
     }},
    {"no place for partial", [](Builder &t) { convolution(t).partials = nullptr; }},
    {"partials takes", [](Builder &t) { convolution(t).partials = Builder::var(1); }},

    {"action 3 (repeat): its count", [](Builder &t) { repeat(t).count = 0; }},
    {"action 3 (repeat): its count", [](Builder &t) { repeat(t).count = 65537; }},
    {"its body is empty", [](Builder &t) {
       repeat(t).body.clear();
       buffer(t, 0).last = buffer(t, 1).last = 4;
     }},
    {"a repeat stands inside", [](Builder &t) { repeat(t).body[0]->work.Set(RepeatT(repeat(t))); }},
    {"its ordinal has a stride", [](Builder &t) { repeat(t).ordinal = Builder::var(0, 0, 4); }},
    {"ordinal takes 4 bytes at offset 256", [](Builder &t) { repeat(t).ordinal = Builder::var(1, 256); }},
    {"action 4 (copy): from takes", [](Builder &t) { repeat(t).count = 5; }},
    {"to takes", [](Builder &t) { copy(t).to = Builder::buf(1, 4, 1024); }},
    {"to takes", [](Builder &t) { copy(t).to = Builder::buf(1, 0, ~0ull / 2); }},
    {"action 4 (copy): it is empty", [](Builder &t) { copy(t).size = 0; }},
    {"action 5 (fill): to takes", [](Builder &t) { fill(t).size = 4001; }},
    {"action 5 (fill): it is empty", [](Builder &t) { fill(t).size = 0; }},
};

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
  }
  test.program.entries[3]->inputs[0]->shape[0] = 1;
  return test;
}

TEST(Reader, ComparesEvaluationsWithSteps) {
  static auto input = [](Builder &t, int entry) -> PortT & {
    return *t.program.entries[entry]->inputs[0];
  };
  const Fault all[] = {
      {"", [](Builder &) {}},
      {"", [](Builder &t) { t.program.entries.pop_back(); }},
      {"entry 'eval': it is unlike 'step' in 'x'", [](Builder &t) { input(t, 2).shape[1] = 7; }},
      {"entry 'eval_one': it is unlike 'step' in 'x'",
       [](Builder &t) { input(t, 3).shape = {1, 8, 1}; }},
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
       }},
      {"entry 'eval_one': it is unlike 'eval' in 'loss'",
       [](Builder &t) { t.program.entries[3]->outputs[0]->weight = 2; }},
      {"entry 'eval_one': it is unlike 'eval' in 'loss'",
       [](Builder &t) { t.program.entries[3]->outputs.pop_back(); }},
      {"entry 'eval_one': it is unlike 'eval' in 'loss'",
       [](Builder &t) { t.program.entries[2]->outputs.pop_back(); }},
  };
  for (const Fault &fault : all) {
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

TEST(Reader, RefusesEachFault) {
  for (const Fault &fault : faults) {
    Builder test = whole();
    fault.make(test);
    std::string message = messageOf(test.file());
    EXPECT_NE(message.find(fault.message), std::string::npos)
        << "expected: " << fault.message << "\nfound:    " << message;
  }
}

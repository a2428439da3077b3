//===- FaultsTest.cpp - What the reader refuses -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/artifact/WholeProgram.h"
#include <cmath>

using namespace weir;
using namespace weir::artifact;
using Builder = TestProgram;
using Fault = ArtifactFault;

static ActionT &action(Builder &t, int i) { return *t.step().actions[i]; }
static void product(Builder &t, const std::function<void(spec::Product &)> &change) {
  spec::Product product = aProduct();
  change(product);
  action(t, 1).work.AsCall()->fields = spec::encode(product);
}
static void convolution(Builder &t, const std::function<void(spec::Convolution &)> &change) {
  spec::Convolution convolution = aConvolution();
  change(convolution);
  action(t, 2).work.AsCall()->fields = spec::encode(convolution);
}
static LoopT &loop(Builder &t) { return *action(t, 3).work.AsLoop(); }
static ActionT &inner(Builder &t) { return *loop(t).body[0]; }
static CopyT &copy(Builder &t) { return *action(t, 4).work.AsCopy(); }
static VariableT &variable(Builder &t, int i) { return *t.program.variables[i]; }
static BufferT &buffer(Builder &t, int i) { return *t.step().buffers[i]; }
static LaunchT &launch(Builder &t) { return *action(t, 0).work.AsLaunch(); }

static void addConfig(Builder &t, const char *name) {
  t.program.configs.push_back(std::make_unique<ConfigT>());
  t.program.configs.back()->name = name;
}

static void addChoice(Builder &t, DType computes, DType stores, uint32_t file) {
  auto choice = std::make_unique<ChoiceT>();
  choice->op = "matmul";
  choice->computes = computes;
  choice->stores = stores;
  choice->location = std::make_unique<Location>(file, 1, 1);
  t.program.choices.push_back(std::move(choice));
}

/// The kernel with FLOPs of its ops, two of them, and 100 in all.
static KernelT &counted(Builder &t, std::vector<OpFlops> ops) {
  KernelT &kernel = *t.program.kernels[0];
  kernel.ops = {"matmul", "tanh"};
  kernel.flops = 100;
  kernel.op_flops = std::move(ops);
  return kernel;
}

/// Model FLOPs of the step.
static void model(Builder &t, double flops, std::vector<LineFlops> lines) {
  t.step().model_flops = flops;
  t.step().model_lines = std::move(lines);
}

static KeptT &addKept(Builder &t) {
  t.program.keeping = std::make_unique<KeepingT>();
  t.program.keeping->tensors.push_back(std::make_unique<KeptT>());
  KeptT &kept = *t.program.keeping->tensors.back();
  kept.what = "matmul";
  kept.times = 1;
  return kept;
}

/// Says that the kernel's next operand is of that shape.
static TensorTypeT &addTensor(KernelT &kernel, std::vector<int64_t> shape) {
  kernel.tensors.push_back(std::make_unique<TensorTypeT>());
  kernel.tensors.back()->shape = std::move(shape);
  return *kernel.tensors.back();
}

/// A second launch of the kernel, in order as it is.
static KernelT &addPart(Builder &t) {
  t.program.kernels.push_back(std::make_unique<KernelT>(*t.program.kernels[0]));
  t.program.kernels.back()->part = 1;
  return *t.program.kernels.back();
}

static const Fault faults[] = {
    {"kernel 'k': it has not as many ops as FLOPs", [](Builder &t) { counted(t, {{100, 0}}); }},
    {"kernel 'k': an op's products take more", [](Builder &t) { counted(t, {{90, 91}, {10, 0}}); }},
    {"kernel 'k': its ops take more FLOPs", [](Builder &t) { counted(t, {{90, 0}, {11, 0}}); }},
    {"kernel 'k': its ops take more FLOPs", [](Builder &t) { counted(t, {{90, 0}, {~0ull, 0}}); }},
    {"kernel 'k': its ops take more FLOPs",
     [](Builder &t) { counted(t, {{90, 0}, {10, 0}}).recomputed_flops = 1; }},
    {"kernel 'k': it recomputes more FLOPs than it has",
     [](Builder &t) { counted(t, {}).recomputed_flops = 101; }},
    {"kernel 'k': its ops take fewer FLOPs", [](Builder &t) { counted(t, {{90, 0}, {9, 0}}); }},
    {"kernel 'k_1': it has not as many ops as FLOPs",
     [](Builder &t) {
       counted(t, {{90, 80}, {10, 0}});
       KernelT &part = addPart(t);
       part.symbol = "k_1", part.suffix = "_1";
     }},
    {"entry 'step': its actions compute or move more than can be counted",
     [](Builder &t) { t.program.kernels[0]->flops = ~0ull; }},
    {"entry 'step': its model FLOPs are 100, and those of its lines 99",
     [](Builder &t) { model(t, 100, {{Location(0, 7, 3), 99}}); }},
    {"entry 'step': its model FLOPs are 123456789, and those of its lines 123456788",
     [](Builder &t) { model(t, 123456789, {{Location(0, 7, 3), 123456788}}); }},
    {"entry 'step': its model FLOPs are 0, and those of its lines 9",
     [](Builder &t) {
       model(t, 9, {{Location(0, 7, 3), 9}});
       t.step().model_flops.reset();
     }},
    {"the model FLOPs of a line are negative or not a number",
     [](Builder &t) { model(t, -1, {{Location(0, 7, 3), -1}}); }},
    {"the model FLOPs of a line are negative or not a number",
     [](Builder &t) { model(t, std::nan(""), {{Location(0, 7, 3), std::nan("")}}); }},
    {"its model FLOPs are not finite",
     [](Builder &t) {
       model(t, HUGE_VAL, {{Location(0, 7, 3), 1e308}, {Location(0, 8, 3), 1e308}});
     }},
    {"the model FLOPs of a line are there twice",
     [](Builder &t) { model(t, 9, {{Location(0, 7, 3), 4}, {Location(0, 7, 5), 5}}); }},
    {"entry 'step': its source file is unknown",
     [](Builder &t) { model(t, 9, {{Location(9, 7, 3), 9}}); }},
    {"more than 1 TiB", [](Builder &t) { t.device().arena = uint64_t(1) << 41; }},
    {"larger than the arena", [](Builder &t) { t.device().persistent = t.device().arena + 1; }},
    {"more than 16 GiB per thread", [](Builder &t) { t.device().thread_scratch = ~0ull; }},
    {"batch: it is out of range", [](Builder &t) { t.program.batch = 0; }},
    {"master: it is not f32 or bf16", [](Builder &t) { t.program.master = DType::f16; }},
    {"loss scale: it is not one of none, dynamic",
     [](Builder &t) { t.program.loss_scale = "dynamic:1000"; }},
    {"precision: it is not one of f32, bf16, f16, f8, f8_block or tf32",
     [](Builder &t) { t.program.precision = artifact::Precision(7); }},
    {"accumulate: it is out of range", [](Builder &t) { t.program.accumulate = 0; }},
    {"exactly one of steps and epochs", [](Builder &t) { t.program.steps = 0; }},
    {"exactly one of steps and epochs", [](Builder &t) { t.program.epochs = 1; }},
    {"'step' is missing", [](Builder &t) { t.program.entries[1]->name = "stop"; }},
    {"entry 'step': there are two", [](Builder &t) { t.program.entries[0]->name = "step"; }},

    {"steps or epochs are out of range", [](Builder &t) { t.program.steps = 1ull << 31; }},
    {"steps or epochs are out of range",
     [](Builder &t) { t.program.epochs = ~0ull, t.program.steps = 0; }},
    {"its warm-up is out of range", [](Builder &t) { t.program.warmup = 1ull << 31; }},

    {"the model: its name, 'a\\x1b[2J', is no", [](Builder &t) { t.program.model = "a\x1b[2J"; }},
    {"a variable: it has no name", [](Builder &t) { variable(t, 1).name = ""; }},
    {"a variable: its name, '\\xff', is no", [](Builder &t) { variable(t, 1).name = "\xff"; }},
    {"a variable: its name, 'a\\nb', is no", [](Builder &t) { variable(t, 1).name = "a\nb"; }},
    {"a config: its name, '\\u202e', is no", [](Builder &t) { addConfig(t, "\u202e"); }},
    {"output of 'step': its name", [](Builder &t) { t.step().outputs[0]->name = "\x7f"; }},
    {"the choice for 'matmul': its element type is number 99",
     [](Builder &t) { addChoice(t, DType(99), DType::f32, 0); }},
    {"the choice for 'matmul': its element type is number 98",
     [](Builder &t) { addChoice(t, DType::f32, DType(98), 0); }},
    {"what is kept of 'matmul': its time is no time", [](Builder &t) { addKept(t).seconds = -1; }},
    {"what is kept of 'matmul': its time is no time", [](Builder &t) { addKept(t).seconds = NAN; }},
    {"what a step keeps: its time is no time",
     [](Builder &t) {
       addKept(t);
       t.program.keeping->seconds = INFINITY;
     }},
    {"what is kept of 'matmul': it is more than an arena",
     [](Builder &t) {
       addKept(t).times = uint64_t(1) << 40;
       t.program.keeping->tensors[0]->bytes = uint64_t(1) << 40;
     }},
    {"what is kept of 'matmul': it is more than an arena", [](Builder &t) { addKept(t).times = 0; }},
    {"what a step keeps: it is more than an arena",
     [](Builder &t) {
       addKept(t);
       t.program.keeping->scratch = ~0ull;
     }},
    {"what a step keeps: it is more than an arena",
     [](Builder &t) {
       addKept(t);
       t.program.keeping->least = ~0ull;
     }},
    {"what is kept of 'matmul': what becomes of it is unknown",
     [](Builder &t) { addKept(t).fate = Fate(3); }},
    {"what is kept of 'matmul': its reason is no plain text",
     [](Builder &t) { addKept(t).why = "\x1b[31m"; }},
    {"strategy: it is no plain text", [](Builder &t) { t.program.strategy = "mesh=\xff"; }},
    {"what is kept: its name is no plain text", [](Builder &t) { addKept(t).what = "\xff"; }},
    {"what is kept of 'matmul'",
     [](Builder &t) { addKept(t).location = std::make_unique<Location>(1 << 20, 1, 1); }},
    {"the choice for 'matmul'", [](Builder &t) { addChoice(t, DType::f32, DType::f32, 1 << 20); }},
    {"an entry: it has no name", [](Builder &t) { t.addEntry(""); }},
    {"what limits 'x': its name", [](Builder &t) { t.step().inputs[0]->limit_config = "\x01"; }},
    {"variable '__metadata__': the name is reserved",
     [](Builder &t) { variable(t, 1).name = "__metadata__"; }},
    {"variable 'run/w': the name is reserved", [](Builder &t) { variable(t, 1).name = "run/w"; }},
    {"kernel 'k': there are two", [](Builder &t) { addPart(t).part = 0; }},

    {"variable 'w': there are two", [](Builder &t) { variable(t, 1).name = "w"; }},
    {"variable 'v': its element type is number 9, expected one of f32, i32, u8, bool, "
     "bf16, f16, f8e4m3, f8e5m2",
     [](Builder &t) { variable(t, 1).dtype = DType(9); }},
    {"variable 'v': its role is unknown", [](Builder &t) { variable(t, 1).role = Role(9); }},
    {"its shape is not positive", [](Builder &t) { variable(t, 1).shape = {-64}; }},
    {"its shape is not positive", [](Builder &t) { variable(t, 1).shape = {1ll << 62, 1ll << 62}; }},
    {"its shape needs 252 bytes", [](Builder &t) { variable(t, 1).shape = {63}; }},
    {"its offset is not a multiple of 64", [](Builder &t) { variable(t, 1).offset += 4; }},
    {"lies outside the persistent", [](Builder &t) { variable(t, 1).offset = ~0ull - 63; }},
    {"lies outside the persistent", [](Builder &t) { variable(t, 1).offset = t.device().persistent; }},
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
    {"unlike the launch before it",
     [](Builder &t) { addPart(t).operands[1].mutate_mode(Mode::read); }},
    {"unlike the launch before it", [](Builder &t) { addPart(t).operands.pop_back(); }},
    {"only the first launch has a meaning", [](Builder &t) { addPart(t).meaning = "?"; }},
    {"only the first launch says what its operands are",
     [](Builder &t) { addTensor(addPart(t), {1}); }},
    {"only the first launch says what its operands are",
     [](Builder &t) { addPart(t).counts = {0}; }},
    {"it has more tensors than operands",
     [](Builder &t) {
       KernelT &kernel = *t.program.kernels[0];
       for (size_t i = 0; i <= kernel.operands.size(); ++i)
         addTensor(kernel, {1});
     }},
    {"its element type is number 77",
     [](Builder &t) { addTensor(*t.program.kernels[0], {1}).dtype = DType(77); }},
    {"a tensor's shape is negative",
     [](Builder &t) { addTensor(*t.program.kernels[0], {2, -1}); }},
    {"what it counts in is no operand",
     [](Builder &t) {
       addTensor(*t.program.kernels[0], {1});
       t.program.kernels[0]->counts = {1};
     }},
    {"the line of an op of a launch", [](Builder &t) { action(t, 0).lines = {65535, 0}; }},
    {"entry 'step': its source file is unknown",
     [](Builder &t) { t.step().outputs[0]->location = std::make_unique<Location>(1, 1, 1); }},
    {"entry 'step': its source file is unknown",
     [](Builder &t) { inner(t).locations = {Location(1, 1, 1)}; }},
    {"kernel 'k': its code is missing", [](Builder &t) { t.program.blobs.clear(); }},
    {"kernel 'k': its code is missing", [](Builder &t) { t.program.kernels[0]->blob = 1; }},
    {"code: it is in several pieces",
     [](Builder &t) { t.program.blobs.push_back(std::make_unique<BlobT>(*t.program.blobs[0])); }},
    {"code: it is of an unknown format",
     [](Builder &t) { t.program.blobs[0]->format = BlobFormat(7); }},
    {"it does something unknown with an operand",
     [](Builder &t) { t.program.kernels[0]->operands[0].mutate_mode(Mode(9)); }},
    {"devices: it is for 2 devices, where this Weir",
     [](Builder &t) { t.program.devices.push_back(std::make_unique<DeviceT>(t.device())); }},
    {"devices: it is for 0 devices", [](Builder &t) { t.program.devices.clear(); }},
    {"queues: they are out of range", [](Builder &t) { t.device().queues = 0; }},

    {"it has no bytes", [](Builder &t) { buffer(t, 0).size = 0; }},
    {"is no multiple of 64", [](Builder &t) { buffer(t, 0).offset += 1; }},
    {"buffer 0 lies in the persistent", [](Builder &t) { buffer(t, 0).offset = 0; }},
    {"buffer 0 lies in a memory", [](Builder &t) { buffer(t, 0).space = Space::constant; }},
    {"of a space of", [](Builder &t) { buffer(t, 0).space = Space::pinned; }},
    {"of a space of", [](Builder &t) { buffer(t, 1).size = ~0ull; }},
    {"of a space of", [](Builder &t) { buffer(t, 1).offset = ~0ull - 63; }},
    {"the entry's are 0 to 7", [](Builder &t) { buffer(t, 0).first = 8; }},
    {"the entry's are 0 to 7", [](Builder &t) { buffer(t, 0).last = 8; }},
    {"they overlap", [](Builder &t) { buffer(t, 1).offset = buffer(t, 0).offset; }},
    {"they overlap", [](Builder &t) { buffer(t, 1).offset = buffer(t, 0).offset + 64; }},
    {"is used in the loop of actions 3 to 5",
     [](Builder &t) {
       uint32_t dying = t.buffer(t.step(), 4, 0, 4);
       buffer(t, 0).last = buffer(t, 1).last = 8;
       inner(t).operands[0] = Builder::buf(dying).ref;
       inner(t).moves.erase(inner(t).moves.begin());
       inner(t).work.AsCopy()->size = 4;
       loop(t).body.push_back(Builder::copy(Builder::var(1), Builder::var(0), 4));
     }},

    {"input 'x': its kind is unknown", [](Builder &t) { t.step().inputs[0]->kind = PortKind(8); }},
    {"input 'x': its element type is number 8, expected one of f32, i32, u8, bool, "
     "bf16, f16, f8e4m3, f8e5m2",
     [](Builder &t) { t.step().inputs[0]->dtype = DType(8); }},
    {"input 'x': its shape", [](Builder &t) { t.step().inputs[0]->shape = {0}; }},
    {"it takes bytes [0, 4100) of 4096", [](Builder &t) { t.step().inputs[0]->shape = {1025}; }},
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
    {"output 'loss' must be one number",
     [](Builder &t) {
       t.step().outputs[0]->shape = {2, 2};
       t.step().outputs[0]->dtype = DType::u8;
     }},
    {"output 'loss': its weight is not finite",
     [](Builder &t) { t.step().outputs[0]->weight = 1.0 / 0.0; }},
    {"alive in actions 1 to 7, is used at 0", [](Builder &t) { buffer(t, 0).first = 1; }},
    {"alive in actions 0 to 6, is used at 7", [](Builder &t) { buffer(t, 1).last = 6; }},

    {"action 0 (Launch): there is no kernel 1", [](Builder &t) { launch(t).kernel = 1; }},
    {"it has 1 operands, not 2", [](Builder &t) { action(t, 0).operands.pop_back(); }},
    {"it is on an unknown queue", [](Builder &t) { action(t, 0).queue = 1; }},
    {"it takes bytes [0, 4097) of 4096",
     [](Builder &t) { t.program.kernels[0]->operands[0] = {Mode::read, 4097}; }},
    {"operand 1 is in an unknown variable",
     [](Builder &t) { action(t, 0).operands[1] = Builder::var(3).ref; }},
    {"operand 1 is in an unknown buffer",
     [](Builder &t) { action(t, 0).operands[1] = Builder::buf(2).ref; }},
    {"operand 1 is in an unknown memory",
     [](Builder &t) { action(t, 0).operands[1] = Ref(Memory(7), 0, 0); }},
    {"moves with a loop that is not around it",
     [](Builder &t) { action(t, 0).moves = {Move(1, 0, 0, 4)}; }},
    {"an operand that it has not moves",
     [](Builder &t) { inner(t).moves.push_back(Move(2, 0, 0, 4)); }},
    {"it takes bytes [-1, 4095) of 4096",
     [](Builder &t) { action(t, 0).operands[1] = Builder::buf(1, -1).ref; }},

    {"action 1 (Call): no library call is called 'sort'",
     [](Builder &t) { action(t, 1).work.AsCall()->kind = "sort"; }},
    {"its fields are not those of its kind",
     [](Builder &t) { action(t, 1).work.AsCall()->fields.resize(5); }},
    {"its fields are not those of its kind",
     [](Builder &t) { action(t, 2).work.AsCall()->fields[5] = -1; }},
    {"it has 3 operands, not 4", [](Builder &t) { action(t, 1).operands.pop_back(); }},
    {"operand 0 is not aligned", [](Builder &t) { action(t, 1).operands[0] = Builder::var(0, 2).ref; }},
    {"rows of c overlap", [](Builder &t) { product(t, [](auto &p) { p.cRow = 4; }); }},
    {"the batch of c overlaps",
     [](Builder &t) { product(t, [](auto &p) { p.cBatch = p.cRow; }); }},
    {"the batch of c overlaps", [](Builder &t) { product(t, [](auto &p) { p.cBatch = 19; }); }},
    {"rows of c overlap",
     [](Builder &t) { product(t, [](auto &p) { p.cBatch = 5, p.cRow = 6; }); }},
    {"its elements are no floats",
     [](Builder &t) { product(t, [](auto &p) { p.factors = Element::i32; }); }},
    {"its right factor has eight bits",
     [](Builder &t) { product(t, [](auto &p) { p.right = spec::RightElement::f8e5m2; }); }},
    {"its factors are scaled, and have no eight bits",
     [](Builder &t) { product(t, [](auto &p) { p.scales = spec::FactorScales::each; }); }},
    {"m is out of range", [](Builder &t) { product(t, [](auto &p) { p.m = 0; }); }},
    {"access 'a' to buffer 0 'w': it takes bytes",
     [](Builder &t) { product(t, [](auto &p) { p.aBatch = 5000; }); }},
    {"access 'bias' to buffer 1 'v': it takes bytes [252, 272) of 256",
     [](Builder &t) { action(t, 1).operands[3] = Builder::var(1, 252).ref; }},
    {"its fields are not those", [](Builder &t) { action(t, 2).work.AsCall()->fields[0] = 7; }},
    {"access 'input' to buffer 3",
     [](Builder &t) { convolution(t, [](auto &c) { c.channels = 20; }); }},
    {"access 'partials' to buffer 1 'v'",
     [](Builder &t) { action(t, 2).operands[3] = Builder::var(1).ref; }},

    {"action 3 (Loop): its count", [](Builder &t) { loop(t).count = 0; }},
    {"action 3 (Loop): its count", [](Builder &t) { loop(t).count = 65537; }},
    {"its body is empty",
     [](Builder &t) {
       loop(t).body.clear();
       buffer(t, 0).last = buffer(t, 1).last = 6;
     }},
    {"it stands in too many loops",
     [](Builder &t) {
       for (int i = 0; i < 5; ++i) {
         auto deeper = Builder::loop(2, Builder::var(2), std::move(loop(t).body[0]));
         loop(t).body[0] = std::move(deeper);
       }
     }},
    {"operand 0 is not aligned", [](Builder &t) { action(t, 3).operands[0] = Builder::var(1, 2).ref; }},
    {"access 'round' to buffer 1 'v'",
     [](Builder &t) { action(t, 3).operands[0] = Builder::var(1, 256).ref; }},
    {"access 'from' to buffer 3", [](Builder &t) { loop(t).count = 5; }},
    {"access 'to' to buffer 4", [](Builder &t) { inner(t).operands[1] = Builder::buf(1, 4).ref; }},
    {"action 4 (Copy): it is empty", [](Builder &t) { inner(t).work.AsCopy()->size = 0; }},
    {"access 'to' to buffer 4", [](Builder &t) { copy(t).size = 4001; }},
    {"action 6 (Record): its event is unknown",
     [](Builder &t) { action(t, 5).work.AsRecord()->event = 1; }},
    {"entry 'step': it has more events than actions", [](Builder &t) { t.step().events = ~0u; }},
    {"action 7 (Wait): its event is unknown",
     [](Builder &t) { action(t, 6).work.AsWait()->event = 1; }},
    {"which nothing has written",
     [](Builder &t) {
       t.program.kernels[0]->operands[1] = {Mode::write, 100};
     }},
};

TEST(Reader, RefusesEachFault) {
  for (const Fault &fault : faults) {
    Builder test = whole();
    fault.make(test);
    std::string message = messageOf(test.file());
    EXPECT_NE(message.find(fault.message), std::string::npos)
        << "expected: " << fault.message << "\nfound:    " << message;
  }
}

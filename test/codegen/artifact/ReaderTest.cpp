//===- ReaderTest.cpp -----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Reader.h"
#include "artifact/Header.h"
#include "artifact/Reader.h"
#include "codegen/artifact/Writer.h"
#include "codegen/targets/Targets.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/Digest.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "strategy/Fields.h"
#include "support/Error.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace weir;

static std::string printed(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false));
  return text;
}

/// Everything but machine code, which is not looked at. The module keeps its strategy, which is
/// recorded and not carried out.
static OwningOpRef<ModuleOp> planned(OwningOpRef<ModuleOp> module) {
  const Strategy strategy = strategyOf(*module);
  if (failed(runPassGroups(*module, {}, "plan")))
    return {};
  setStrategy(*module, strategy);
  if (!module->getOps<plan::KernelOp>().empty())
    plan::setCode(*module, plan::CodeFormat::elf, std::vector<char>(100, 'c'));
  return module;
}

static OwningOpRef<ModuleOp> elaborated(const char *model, std::map<std::string, std::string> sets,
                                        MLIRContext &context) {
  SourceManager sources;
  Diagnostics diagnostics;
  return elaborate(std::string(MODELS "/") + model, sets, sources, context, diagnostics).module;
}

static OwningOpRef<ModuleOp>
plannedModel(const char *model, std::map<std::string, std::string> sets, MLIRContext &context) {
  OwningOpRef<ModuleOp> module = elaborated(model, sets, context);
  if (!module)
    return {};
  setDigests(*module);
  return planned(std::move(module));
}

static OwningOpRef<ModuleOp> plannedText(const std::string &text, MLIRContext &context) {
  context.loadDialect<WeirDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context), "small.weir");
  return module ? planned(std::move(module)) : nullptr;
}

constexpr char attributes[] =
    R"(weir.model = "small", weir.batch = 1 : i64, weir.accumulate = 1 : i64, weir.steps = 3 : i64)"
    R"(, weir.strategy = #weir.strategy<"precision=bf16 param-dtype=bf16 grad-reduce-dtype=bf16">)"
    R"(, weir.tied = {eval = "small.weir:1:1: rows meet other rows"})"
    R"(, weir.choices = [[loc("small.weir":2:3), "matmul", 2, bf16, f32, "it is pinned"]])"
    R"(, weir.keeping = [1.5e-3, 4096, 2048, [[loc("small.weir":2:3), "matmul", 64, 2, 1.0e-6, "away", ""]]])";

// A layer of 3 heads over two ranks: one has two of them.
TEST(ArtifactWriter, RanksShareTheirCode) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = elaborated(
      "gpt-char.weir",
      {{"layers", "1"}, {"width", "24"}, {"heads", "3"}, {"context", "8"}, {"vocab", "16"}},
      context);
  ASSERT_TRUE(module);
  PipelineOptions options;
  options.target = makeTarget("cpu:x86-64-v3");
  options.strategy = strategy::parsed("mesh=tp=2 threads=3 overlap=on");
  auto bytes = compile(*module, options);
  ASSERT_TRUE(succeeded(bytes));
  const artifact::Program &program = artifact::verify(*bytes);
  ASSERT_TRUE(program.others());
  ASSERT_EQ(program.others()->size(), 1u);
  for (const artifact::Program *one : {&program, program.others()->Get(0)}) {
    ASSERT_TRUE(one->strategy());
    EXPECT_EQ(one->strategy()->str(), "mesh=tp=2");
  }
  const artifact::Program &other = *program.others()->Get(0);
  EXPECT_EQ(other.blobs(), program.blobs()) << "the same place in the file";
  std::set<std::string> names, otherNames;
  for (const artifact::Kernel *kernel : *program.kernels())
    names.insert(kernel->symbol()->str());
  size_t common = 0;
  for (const artifact::Kernel *kernel : *other.kernels()) {
    otherNames.insert(kernel->symbol()->str());
    common += names.count(kernel->symbol()->str());
  }
  EXPECT_GT(common, names.size() / 2);
  EXPECT_NE(names, otherNames) << "one computes two heads";
}

TEST(ArtifactReader, ReadsTheModelsBack) {
  for (auto [model, sets] : {std::pair("gpt-char.weir",
                                       std::map<std::string, std::string>{
                                           {"layers", "2"}, {"width", "32"}, {"context", "16"}}),
                             std::pair("mnist-mlp.weir", std::map<std::string, std::string>{}),
                             std::pair("mnist-cnn.weir", std::map<std::string, std::string>{})}) {
    MLIRContext context;
    OwningOpRef<ModuleOp> made = plannedModel(model, sets, context);
    ASSERT_TRUE(made) << model;
    std::vector<std::byte> bytes = writeArtifact(*made);
    OwningOpRef<ModuleOp> plan = readPlan(bytes, context);
    ASSERT_TRUE(plan) << model;
    EXPECT_TRUE(writeArtifact(*plan) == bytes) << model;

    // Its text is the whole of it, too.
    OwningOpRef<ModuleOp> again =
        parseSourceString<ModuleOp>(printed(*plan), ParserConfig(&context));
    ASSERT_TRUE(again);
    EXPECT_TRUE(writeArtifact(*again) == bytes) << model;

    // The ops of every kernel that the step launches point to the model.
    plan->walk([&](plan::LaunchOp launch) {
      if (launch->getParentOfType<plan::EntryOp>().getSymName() != "step")
        return;
      auto kernel =
          cast<plan::KernelOp>(SymbolTable::lookupSymbolIn(*plan, launch.getKernelAttr()));
      auto meaning = cast<KernelOp>(kernel.getBody().front().front());
      size_t ops = meaning.getBody().front().getOperations().size() - 1;
      // Constants that folding has made are nowhere in the model.
      if (llvm::all_of(meaning.getBody().front().without_terminator(),
                       [](Operation &op) { return isa<ConstantOp>(op); }))
        return;
      EXPECT_TRUE(llvm::any_of(locationsOfAll(launch.getLoc(), ops),
                               [](Location loc) {
                                 return modelLine(loc) &&
                                        modelLine(loc).getFilename().getValue().ends_with(".weir");
                               }))
          << model << ": " << printed(launch) << printed(kernel);
    });
  }
}

// The order of the plan's ops is the file's, so that reading once changes text, reading twice does
// not.
TEST(ArtifactReader, ReadsSmallProgramsBack) {
  const std::string head = std::string("module attributes {") + attributes + "} {\n";
  const char *programs[] = {
      // Library calls alone: no kernel, no code.
      R"(
  func.func @init() { return }
  func.func @step(%x: tensor<8x16xf32> {weir.input = "x"}, %w: tensor<16x4xf32> {weir.input = "w"})
      -> (tensor<8x4xf32> {weir.output = "y", weir.part = "tensor"}) {
    %y = weir.matmul %x, %w : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  })",
      // Microbatches over slices, a variable of each kind of element, a limit.
      R"(
  weir.variable parameter @w : tensor<4xf32>
  weir.variable run @"run/step" : tensor<i32>
  weir.variable state @seen : tensor<4xi1>
  weir.variable state @bytes : tensor<3xui8>
  func.func @init() {
    %one = weir.constant 1.0 : f32 -> tensor<4xf32>
    weir.write @w, %one : tensor<4xf32>
    return
  }
  func.func @step(%x: tensor<2x4xf32> {weir.input = "x"},
                  %i: tensor<2xi32> {weir.input = "i", weir.limit = 4 : i64, weir.limit_config = "vocab"})
      -> (tensor<4xf32> {weir.output = "y", weir.part = "tensor"},
          tensor<f32> {weir.output = "loss", weir.part = "sum", weir.term = 1 : i64, weir.weight = 0.1 : f64},
          tensor<f32> {weir.output = "loss", weir.part = "count", weir.term = 1 : i64}) {
    %w = weir.read @w : tensor<4xf32>
    %seen = weir.read @seen : tensor<4xi1>
    %bytes = weir.read @bytes : tensor<3xui8>
    weir.write @bytes, %bytes : tensor<3xui8>
    %zero = weir.constant 0.0 : f32 -> tensor<4xf32>
    %0 = weir.microbatches 2 sliced(%x) carried(%zero) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%round: tensor<i32>, %slice: tensor<1x4xf32>, %sum: tensor<4xf32>):
      %row = weir.merge_dims %slice {first = 0, count = 2} : tensor<1x4xf32> -> tensor<4xf32>
      %tilted = weir.mul %row, %w : tensor<4xf32>
      %next = weir.add %sum, %tilted : tensor<4xf32>
      weir.yield %next : tensor<4xf32>
    }
    %kept = weir.select %seen, %0, %w : tensor<4xi1>, tensor<4xf32>
    weir.write @w, %kept : tensor<4xf32>
    %total = weir.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
    %count = weir.constant 0.1 : f32 -> tensor<f32>
    return %0, %total, %count : tensor<4xf32>, tensor<f32>, tensor<f32>
  })"};
  for (const char *body : programs) {
    MLIRContext context;
    OwningOpRef<ModuleOp> plan = plannedText(head + body + "\n}", context);
    ASSERT_TRUE(plan) << body;
    std::vector<std::byte> bytes = writeArtifact(*plan);
    MLIRContext once, twice; // of their own: a context gives each module's code another name
    OwningOpRef<ModuleOp> read = readPlan(bytes, once);
    ASSERT_TRUE(read) << body;
    EXPECT_TRUE(writeArtifact(*read) == bytes) << printed(*plan) << printed(*read);
    EXPECT_EQ(printed(*readPlan(writeArtifact(*read), twice)), printed(*read));
  }
}

/// A step with one kernel.
static std::string stepOf(const std::string &type, const std::string &op) {
  return "func.func @step(%x: " + type + " {weir.input = \"x\"}) -> (" + type +
         " {weir.output = \"y\", weir.part = \"tensor\"}) {\n" + op + "\nreturn %y : " + type +
         "\n}";
}

/// The first message about a program with `step` if the meaning of its kernel is changed.
static std::string complaint(llvm::function_ref<std::string(std::string)> change,
                             const std::string &step = stepOf("tensor<8xf32>",
                                                              "%y = weir.exp %x : tensor<8xf32>")) {
  MLIRContext context;
  OwningOpRef<ModuleOp> plan = plannedText(std::string("module attributes {") + attributes +
                                               "} {\nfunc.func @init() { return }\n" + step + "\n}",
                                           context);
  std::vector<std::byte> bytes = writeArtifact(*plan);
  std::unique_ptr<artifact::ProgramT> program(artifact::verify(bytes).UnPack());
  program->kernels.front()->meaning = change(program->kernels.front()->meaning);
  flatbuffers::FlatBufferBuilder builder;
  artifact::FinishProgramBuffer(builder, artifact::CreateProgram(builder, program.get()));
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  std::vector<std::byte> changed = artifact::wrap({data, builder.GetSize()});

  std::string first;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (first.empty())
      first = diagnostic.str();
    return success();
  });
  bool read = bool(readPlan(changed, context));
  EXPECT_EQ(read, first.empty());
  return first;
}

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << text;
  while ((at = text.find(from)) != std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

TEST(ArtifactReader, SaysWhatIsWrongWithAMeaning) {
  auto expect = [](const char *part, llvm::function_ref<std::string(std::string)> change) {
    std::string message = complaint(change);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  EXPECT_EQ(complaint([](std::string meaning) { return meaning; }), "");
  EXPECT_EQ(
      complaint([](std::string meaning) { return replaced(meaning, "weir.exp", "weir.neg"); }), "");
  expect("no meaning in the artifact", [](std::string) { return ""; });
  expect("custom op 'weir.xep' is unknown",
         [](std::string m) { return replaced(m, "weir.exp", "weir.xep"); });
  expect("expected", [](std::string m) { return m.substr(0, m.size() / 2); });
  expect("more than 64 brackets", [](std::string) { return std::string(100000, '['); });
  expect("not one weir.kernel", [](std::string) { return "} plan.entry @e {"; });
  expect("not one weir.kernel",
         [](std::string) { return "plan.use @x : !plan.buffer<persistent>"; });
  expect("operand 0 of 32 bytes is a", [](std::string m) { return replaced(m, "8xf32", "9xf32"); });
  expect("with 1 to 2^56 elements",
         [](std::string m) { return replaced(m, "8xf32", "8x4611686018427387904x4xf32"); });
  expect("it is of shape nest",
         [](std::string m) { return replaced(m, "weir.kernel map", "weir.kernel nest"); });
  expect("", [](std::string m) { return replaced(m, "8xf32", "?xf32"); });
}

/// Those of a release that called attention `attend`.
TEST(ArtifactReader, ReadsFormerNamesOfOps) {
  std::string step =
      stepOf("tensor<1x2x3x4xf32>", R"(%y, %z = weir.attention %x, %x, %x {scale = 0.5}
      : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32> -> tensor<1x2x3xf32>)");
  EXPECT_EQ(
      complaint([](std::string m) { return replaced(m, "weir.attention ", "weir.attend "); }, step),
      "");
}

// The hash is right, so that everything behind it has to answer: with a Failure, a diagnostic, or a
// plan.
TEST(ArtifactReader, SurvivesFlippedBits) {
  MLIRContext context;
  OwningOpRef<ModuleOp> plan = plannedModel("mnist-mlp.weir", {}, context);
  ASSERT_TRUE(plan);
  std::vector<std::byte> file = writeArtifact(*plan);
  const std::vector<std::byte> payload(file.begin() + sizeof(artifact::Header), file.end());
  ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return success(); });
  std::mt19937 engine(7);
  int read = 0, refused = 0, rejected = 0;
  for (int i = 0; i < 600; ++i) {
    std::vector<std::byte> copy = payload;
    copy[engine() % copy.size()] ^= std::byte(1 << engine() % 8);
    try {
      (readPlan(artifact::wrap(copy), context) ? read : rejected) += 1;
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exit, Exit::model);
      ++refused;
    }
  }
  EXPECT_GT(read, 10);
  EXPECT_GT(refused, 10);
  EXPECT_GT(rejected, 10);
}

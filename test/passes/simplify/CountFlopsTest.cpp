//===- CountFlopsTest.cpp - Model FLOPs beside what is computed -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the ops say of their FLOPs is compared with the multiplications that the interpreter adds up
// while it runs a model's entries, and with formulas by hand.
//
//===----------------------------------------------------------------------===//

#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/weir/interfaces/Contracting.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/Pipeline.h"
#include "verify/RandomInputs.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace weir;

namespace {

using Sets = std::map<std::string, std::string>;

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const auto &file : std::filesystem::directory_iterator(WEIR_MODELS))
    if (file.path().extension() == ".weir")
      names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string pathOf(const std::string &model) {
  return std::string(WEIR_MODELS "/") + model + ".weir";
}

/// The sizes of the `// small:` lines at a model's head.
std::vector<Sets> smallSizes(const std::string &model) {
  std::vector<Sets> all;
  std::ifstream file(pathOf(model));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word >> word;
    if (word != "small:")
      continue;
    Sets &sets = all.emplace_back();
    while (words >> word)
      sets[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  return all;
}

/// A model behind the pass that counts.
struct Counted {
  explicit Counted(const std::string &model, const Sets &sets = {}, PipelineOptions options = {}) {
    mlir::DialectRegistry registry;
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<WeirDialect>();
    mlir::ScopedDiagnosticHandler quiet(&context,
                                        [](mlir::Diagnostic &) { return mlir::success(); });
    module = elaborate(pathOf(model), sets, sources, context, diagnostics).module;
    if (module)
      written = module->clone();
    counted = module && mlir::succeeded(runPassGroups(*module, options, "simplify"));
  }

  /// Of an entry.
  int64_t total(llvm::StringRef entry) {
    auto lines = modelFlops(*module, entry);
    if (!lines)
      return -1;
    double sum = 0;
    for (const LineFlops &line : *lines)
      sum += line.flops;
    return int64_t(sum);
  }

  std::string attribute() {
    std::string text;
    llvm::raw_string_ostream(text) << (*module)->getAttr(modelFlopsAttrName);
    return text;
  }

  mlir::MLIRContext context;
  SourceManager sources;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module, written; ///< and as the frontend makes it
  bool counted = false;
};

bool pads(mlir::Operation *op) {
  auto padding = op->getAttrOfType<mlir::DenseI64ArrayAttr>("padding");
  return padding && llvm::any_of(padding.asArrayRef(), [](int64_t by) { return by > 0; });
}

class OfModels : public testing::TestWithParam<std::string> {};

TEST_P(OfModels, AreWhatTheInterpreterMultiplies) {
  for (const Sets &sets : smallSizes(GetParam())) {
    Counted model(GetParam(), sets);
    ASSERT_TRUE(model.counted);
    auto feed = makeRandomInputs(*model.written, 1);
    ASSERT_TRUE(mlir::succeeded(feed));
    for (auto entry : model.module->getOps<mlir::func::FuncOp>()) {
      std::string name = entry.getSymName().str();
      Interpreter interpreter;
      interpreter.variables = feed->variablesFor(name);
      int64_t before = 0, performed = 0, executed = 0, mathematics = 0;
      interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<Tensor>) {
        int64_t here = 2 * (interpreter.multiplyAdds - before);
        before = interpreter.multiplyAdds;
        auto castable = mlir::dyn_cast<Castable>(op);
        auto contracting = mlir::dyn_cast<Contracting>(op);
        EXPECT_EQ(castable && castable.castRule().multiplies != Multiplies::nothing,
                  bool(contracting))
            << op->getName().getStringRef().str();
        if (!contracting) {
          EXPECT_EQ(here, 0) << op->getName().getStringRef().str();
          return;
        }
        // What meets the padding of a convolution is counted, and the interpreter leaves it out.
        if (pads(op))
          EXPECT_LT(here, contracting.executedFlops());
        else
          EXPECT_EQ(here, contracting.executedFlops()) << op->getName().getStringRef().str();
        EXPECT_LE(contracting.modelFlops(), contracting.executedFlops());
        performed += here;
        executed += contracting.executedFlops();
        mathematics += contracting.modelFlops();
      };
      ASSERT_TRUE(mlir::succeeded(interpreter.run(entry, feed->inputs[name])));
      EXPECT_EQ(model.total(name), mathematics) << name;
      EXPECT_LE(mathematics, executed);
      EXPECT_GT(performed, 0.4 * executed - 1) << "at small sizes much of an image is at its edge";
      if (name == "step")
        std::printf("%s: model %lld, executed %lld, multiplied %lld\n", GetParam().c_str(),
                    (long long)mathematics, (long long)executed, (long long)performed);
    }
  }
}

TEST_P(OfModels, DoNotDependOnPrecisionNorOnMicrobatches) {
  Counted plain(GetParam());
  ASSERT_TRUE(plain.counted);
  EXPECT_GT(plain.total("step"), 2 * plain.total("eval"));
  EXPECT_EQ(plain.total("init"), 0);
  for (Precision precision :
       {Precision::bf16, Precision::f16, Precision::f8, Precision::f8_block}) {
    Counted low(GetParam(), {}, {.strategy = {.precision = precision}});
    ASSERT_TRUE(low.counted) << nameOf(precision);
    EXPECT_EQ(low.attribute(), plain.attribute()) << nameOf(precision);
  }
  for (int64_t microbatches : {2, 4}) {
    Counted cut(GetParam(), {}, {.strategy = {.microbatches = microbatches}});
    if (!cut.counted) // rows that see each other are not cut
      continue;
    EXPECT_EQ(cut.total("step"), plain.total("step")) << microbatches;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OfModels, testing::ValuesIn(models()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// A transformer: 6 FLOPs for each weight that is multiplied, and token: one product forward and
/// two backward. Attention: 12 for each layer, feature and pair of a query with a key that it sees.
TEST(ModelFlops, OfATransformerByHand) {
  Counted model("gpt-char");
  ASSERT_TRUE(model.counted);
  constexpr int64_t vocab = 65, context = 64, layers = 4, width = 128, batch = 12;
  constexpr int64_t tokens = batch * context, weights = layers * 12 * width * width + vocab * width;
  constexpr int64_t pairs = batch * context * (context + 1) / 2;
  int64_t flops = model.total("step");
  EXPECT_EQ(flops, 6 * weights * tokens + 12 * layers * width * pairs);
  EXPECT_EQ(model.total("eval"), 2 * weights * tokens + 4 * layers * width * pairs);

  // The field's formula takes all parameters but those of positions, biases and the scales of
  // normalisations with them, and all pairs, also those that the mask hides.
  constexpr int64_t vectors = layers * (2 * 2 * width + (3 + 1 + 4 + 1) * width) + 2 * width;
  double field =
      double(6 * (weights + vectors) * tokens) + 12.0 * layers * width * context * double(tokens);
  std::printf("gpt-char: %lld model FLOPs, %.0f by 6 N + 12 L T d for each token: %.4f of it\n",
              (long long)flops, field, double(flops) / field);
  EXPECT_NEAR(double(flops) / field, 0.955, 0.005);
}

/// The first layer's input is data, which has no gradient: two products of it, three of the others.
TEST(ModelFlops, OfAPerceptronByHand) {
  Counted model("mnist-mlp", {{"hidden", "40"}, {"batch", "5"}});
  ASSERT_TRUE(model.counted);
  EXPECT_EQ(model.total("step"), 2 * 5 * (2 * 28 * 28 * 40 + 3 * 40 * 40 + 3 * 40 * 10));
  EXPECT_EQ(model.total("eval"), 2 * 5 * (28 * 28 * 40 + 40 * 40 + 40 * 10));
}

} // namespace

//===- DigestTest.cpp - Programs told apart, and not ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Digest.h"
#include "frontend/Parser.h"
#include "frontend/elaborate/Elaborate.h"
#include "mlir/Parser/Parser.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace weir {
namespace {

using Sets = std::map<std::string, std::string>;

struct Digests {
  uint64_t training = 0, predict = 0;
};

Digests digests(const std::string &text, const Sets &sets, bool gradients = false) {
  mlir::MLIRContext context;
  SourceManager sources;
  Diagnostics diagnostics;
  auto model = parse(sources.add("test.weir", text), diagnostics);
  ElaborateResult result = elaborate(*model, sets, sources, context, diagnostics, {gradients});
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  if (!result.module)
    return {};
  auto entry = [&](const char *name) {
    return result.module->lookupSymbol<mlir::func::FuncOp>(name);
  };
  return {digestOfWrites(entry("step")), digestOfResults(entry("predict"))};
}

class Digest : public testing::Test {
protected:
  Digest() {
    std::ostringstream out;
    out << std::ifstream(WEIR_SOURCE_DIR "/models/gpt-char.weir").rdbuf();
    text = out.str();
    before = gpt(text);
    EXPECT_NE(before.training, before.predict);
  }
  static Digests gpt(const std::string &text, Sets sets = {}, bool gradients = false) {
    sets.merge(
        Sets{{"layers", "1"}, {"width", "16"}, {"heads", "2"}, {"context", "8"}, {"batch", "4"}});
    return digests(text, sets, gradients);
  }
  std::string with(const std::string &what, const std::string &by) {
    size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return std::string(text).replace(at, what.size(), by);
  }
  std::string text;
  Digests before;
};

TEST_F(Digest, WhatChangesNothing) {
  auto same = [&](const Digests &now, const char *what) {
    EXPECT_EQ(now.training, before.training) << what;
    EXPECT_EQ(now.predict, before.predict) << what;
  };
  same(gpt(text), "again");
  same(gpt("// A comment.\n\n" + text), "other lines");
  same(gpt(with("steps  2000", "steps  7")), "how long to train");
  same(gpt(text, {}, true), "gradients as outputs");
  same(gpt("config unused = 3\n" + text), "a config that nothing reads");
  same(gpt(with("loss   cross_entropy(gpt(window[:, :-1]), window[:, 1:])",
                "logits = gpt(window[:, :-1])\n  metric hits = accuracy(logits, window[:, 1:])\n"
                "  loss cross_entropy(logits, window[:, 1:])")),
       "a metric");
}

TEST_F(Digest, WhatChangesTheTrainingOfEqualShapes) {
  auto other = [&](const Digests &now, const char *what) {
    EXPECT_NE(now.training, before.training) << what;
  };
  other(gpt(text, {{"heads", "4"}}), "heads");
  other(gpt(text, {{"batch", "8"}}), "batch");
  other(gpt(with("peak = 1e-3", "peak = 1.0001e-3")), "learning rate");
  other(gpt(with("beta2 = 0.99", "beta2 = 0.98")), "optimizer");
  other(gpt(with("global_norm(1.0)", "global_norm(2.0)")), "clip");
  other(gpt(with("gelu_tanh", "gelu")), "activation");
  EXPECT_NE(gpt(with("gelu_tanh", "gelu")).predict, before.predict);
  EXPECT_NE(gpt(text, {{"heads", "4"}}).predict, before.predict);
  EXPECT_EQ(gpt(text, {{"batch", "8"}}).predict, before.predict);
}

TEST_F(Digest, WhatIsPinned) {
  std::string pin = "plan { precision f32 where op == \"attention\" }\n";
  Digests pinned = gpt(text + pin);
  EXPECT_NE(pinned.training, before.training);
  EXPECT_NE(pinned.predict, before.predict);
  // The line that says so is none of it.
  Digests below = gpt("// A comment.\n" + text + pin);
  EXPECT_EQ(below.training, pinned.training);
  EXPECT_EQ(below.predict, pinned.predict);
}

/// A checkpoint of a release that called attention `attend` can be resumed.
TEST(DigestOfRenamedOps, IsThatOfTheFormerName) {
  auto digest = [](const std::string &op) {
    mlir::MLIRContext context;
    context.loadDialect<WeirDialect, mlir::func::FuncDialect>();
    std::string type = "tensor<1x2x3x4xf32>";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @predict(%q: " + type + ") -> " + type + " {\n  %o, %z = \"" + op +
            "\"(%q, %q, %q) {scale = 0.5 : f64} : (" + type + ", " + type + ", " + type + ") -> (" +
            type + ", tensor<1x2x3xf32>)\n  return %o : " + type + "\n}",
        mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
    EXPECT_TRUE(module) << op;
    return module ? digestOfResults(*module->getOps<mlir::func::FuncOp>().begin()) : 0;
  };
  EXPECT_EQ(digest("weir.attention"), digest("weir.attend"));
}

TEST(DigestOfMicrobatches, GradientsAsOutputsChangeNothing) {
  std::ostringstream out;
  out << std::ifstream(WEIR_SOURCE_DIR "/test/e2e/Inputs/accumulate.weir").rdbuf();
  Sets sets = {{"batch", "4"}, {"microbatches", "4"}};
  EXPECT_EQ(digests(out.str(), sets).training, digests(out.str(), sets, true).training);
  EXPECT_NE(digests(out.str(), sets).training,
            digests(out.str(), {{"batch", "8"}, {"microbatches", "2"}}).training);
}

} // namespace
} // namespace weir

//===- ScopeTest.cpp - Names, files and calls in progress ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/elaborate/Parts.h"

namespace weir::elab {
namespace {

using ScopeTest = Parts;

TEST_F(ScopeTest, InnerNamesHideOuterOnes) {
  Scope outer, inner;
  inner.outer = &outer;
  outer.names["x"] = Binding{int64_t(1), {}, {}, {}, false};
  outer.names["y"] = Binding{int64_t(2), {}, {}, {}, false};
  inner.names["x"] = Binding{int64_t(3), {}, {}, {}, false};
  outer.hidden["z"] = {{}, "is hidden"};
  EXPECT_EQ(*inner.find("x")->value.get<int64_t>(), 3);
  EXPECT_EQ(*inner.find("y")->value.get<int64_t>(), 2);
  EXPECT_EQ(inner.find("z"), nullptr);
  EXPECT_STREQ(inner.findHidden("z")->why, "is hidden");
  EXPECT_EQ(inner.findHidden("x"), nullptr);
}

TEST_F(ScopeTest, AModelsCallablesComeBeforeThePreludes) {
  read("fn f() {\n}\nfn g() {\n}\n", "fn f() {\n}\nfn h() {\n}\n");
  const FileScope &prelude = files->fileOf(callable("h"));
  EXPECT_TRUE(prelude.prelude);
  EXPECT_EQ(&files->fileOf(callable("f")), &files->model);
  EXPECT_EQ(&files->fileOf(*files->findCallable("f", prelude)), &prelude);
  EXPECT_EQ(files->findCallable("g", prelude), nullptr);
  EXPECT_EQ(files->findCallable("k", files->model), nullptr);
  EXPECT_EQ(files->callablesSeen(files->model).size(), 4u);
  EXPECT_EQ(files->callablesSeen(prelude).size(), 2u);
}

TEST_F(ScopeTest, AFrameSeesItsScopesAndItsFile) {
  read("fn f() {\n}\n");
  files->model.globals.names["width"] = Binding{int64_t(8), {}, "width", {}, false};
  Frame frame;
  Scope scope;
  enter(frame, scope, callable("f"));
  frame.dimensions = {"b"};
  frame.bind({"x", {}}, int64_t(1));
  EXPECT_TRUE(frame.isValue("x"));
  EXPECT_TRUE(frame.isValue("b"));
  EXPECT_FALSE(frame.isValue("c"));
  EXPECT_EQ(frame.find("width")->config, "width");
  {
    InnerScope inner(frame);
    frame.bind({"y", {}}, int64_t(2));
    EXPECT_TRUE(frame.isValue("y"));
  }
  EXPECT_EQ(frame.scope, &scope);
  EXPECT_FALSE(frame.isValue("y"));
}

TEST_F(ScopeTest, CallsThatLeadIntoThePreludeAreTheUsers) {
  read("fn f() {\n}\n", "fn g() {\n}\nfn h() {\n}\n");
  Frame f, g, h;
  Scope ofF, ofG, ofH;
  enter(f, ofF, callable("f"), rangeOf("fn"));
  enter(g, ofG, callable("g"), rangeOf("{"));
  enter(h, ofH, callable("h"), callable("g").range);
  EXPECT_EQ(calls.userPlace(callable("h").range), rangeOf("{"));
  EXPECT_EQ(calls.callsSince(callable("f")), (std::vector<const Frame *>{&h, &g}));
  EXPECT_TRUE(isInProgress(calls.get(), &callable("g")));
  EXPECT_FALSE(calls.repeatedCall().valid());
  f.again = true;
  EXPECT_EQ(calls.repeatedCall(), rangeOf("fn"));
  calls = &f;
  EXPECT_EQ(calls.userPlace(rangeOf("f()")), rangeOf("f()"));
  EXPECT_TRUE(calls.callsSince(callable("g")).empty());
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

using ReporterTest = Parts;

TEST_F(ReporterTest, ErrorsInThePreludeAreAtTheCall) {
  read("fn f() {\n}\n", "fn g() {\n}\n");
  Frame g;
  Scope scope;
  enter(g, scope, callable("g"), rangeOf("f()"));
  reporter->error(callable("g").range, "bad");
  const Diagnostic &report = *diagnostics.sorted().front();
  EXPECT_EQ(report.message, "in `g`: bad");
  EXPECT_EQ(report.range, rangeOf("f()"));
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.notes[0].message, "in the prelude here");
  EXPECT_EQ(report.notes[0].range, callable("g").range);
}

TEST_F(ReporterTest, AfterAStopNothingIsReported) {
  read("fn f() {\n}\n");
  reporter->stop(rangeOf("f()"), "endless");
  reporter->error(rangeOf("fn"), "a consequence");
  EXPECT_EQ(messages(), Messages{"endless"});
  EXPECT_TRUE(reporter->stopped);
}

TEST_F(ReporterTest, TheKindOfMistakeIsKept) {
  read("fn f() {\n}\n");
  EXPECT_EQ(reporter->wrong, ElaborateResult::Wrong::model);
  reporter->unknown(rangeOf("f()"), "unknown name");
  EXPECT_EQ(reporter->wrong, ElaborateResult::Wrong::names);
  reporter->requireReport(rangeOf("fn"), "poison"); // there is one
  EXPECT_FALSE(reporter->faulted);
  reporter->fault(rangeOf("fn"), "poison");
  EXPECT_TRUE(reporter->faulted);
}

TEST_F(ReporterTest, HeldOutEvaluationIsNoted) {
  read("fn f() {\n}\n");
  reporter->heldOut = rangeOf("fn");
  EXPECT_EQ(reporter->error(rangeOf("f()"), "bad").notes.size(), 1u);
}

} // namespace
} // namespace weir::elab

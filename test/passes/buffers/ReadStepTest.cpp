//===- ReadStepTest.cpp - Small entries, and their plans ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/passes/remat/ModelsTest.cpp compares the two for every model.
//
//===----------------------------------------------------------------------===//

#include "passes/buffers/ReadStep.h"
#include "codegen/targets/Targets.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

/// A program of kernels with the one entry @step, read by the rules and lowered to a plan.
class Program {
public:
  explicit Program(const std::string &text) {
    mlir::DialectRegistry registry;
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects(); // code generation makes ops of several
    context.loadDialect<WeirDialect, plan::PlanDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    target = makeTarget("cpu:x86-64-v4");
    buffers::KernelFacts facts(*target);
    auto read = buffers::readStep(entry(), facts);
    EXPECT_TRUE(mlir::succeeded(read));
    step = std::move(*read);
    memory = buffers::measure(step.step);
  }

  mlir::func::FuncOp entry() { return module->lookupSymbol<mlir::func::FuncOp>("step"); }
  int tensorOf(mlir::Value value) const { return step.tensorOf.at(memoryOf(value)); }
  /// The buffer of the only result of the i-th op of this kind; -1: it lies in a variable.
  template <typename Op> int bufferOf(int i) {
    std::vector<mlir::Operation *> ops;
    entry().walk([&](Op op) { ops.push_back(op); });
    return memory.buffers[tensorOf(ops.at(i)->getResult(0))];
  }
  int kernel(int i) { return bufferOf<KernelOp>(i); }

  /// Bytes of scratch of the plan's arena. The entry becomes a plan.
  int64_t arena() {
    mlir::PassManager passes(&context);
    passes.addPass(createLowerToPlan(target));
    passes.addPass(createAssignOffsets());
    EXPECT_TRUE(mlir::succeeded(passes.run(*module)));
    auto bytes = [&](llvm::StringRef name) {
      return (*module)->getAttrOfType<mlir::IntegerAttr>(name).getInt();
    };
    return bytes(plan::arenaAttrName) - bytes(plan::persistentAttrName);
  }

private:
  mlir::MLIRContext context;
  std::shared_ptr<Target> target; ///< keeps kernels in the context
  mlir::OwningOpRef<mlir::ModuleOp> module;

public:
  buffers::EntryStep step;
  buffers::Memory memory;
};

std::string input(const std::string &name, const std::string &type) {
  return "%" + name + ": " + type + " {weir.input = \"" + name + "\"}";
}

std::string output(const std::string &type) {
  return type + " {weir.output = \"y\", weir.part = \"tensor\"}";
}

/// `made` = exp(`from`), as a kernel.
std::string exp(const std::string &made, const std::string &from, const std::string &type) {
  return "%" + made + " = weir.kernel map(%" + from + ") : (" + type + ") -> " + type +
         " {\n^bb0(%a: " + type + "):\n%0 = weir.exp %a : " + type + "\nweir.yield %0 : " + type +
         "\n}\n";
}

std::string add(const std::string &made, const std::string &left, const std::string &right,
                const std::string &type) {
  return "%" + made + " = weir.kernel map(%" + left + ", %" + right + ") : (" + type + ", " + type +
         ") -> " + type + " {\n^bb0(%a: " + type + ", %b: " + type +
         "):\n%0 = weir.add %a, %b : " + type + "\nweir.yield %0 : " + type + "\n}\n";
}

const std::string row = "tensor<256xf32>";

TEST(ReadStep, AChainOfMapsHasOneBuffer) {
  Program program("func.func @step(" + input("x", row) + ") -> (" + output(row) + ") {\n" +
                  exp("p", "x", row) + exp("q", "p", row) + "return %q : " + row + "\n}");
  EXPECT_EQ(program.kernel(0), program.kernel(1));
  EXPECT_EQ(program.memory.bytes, 2 * 1024);
  EXPECT_EQ(program.arena(), program.memory.bytes);
}

TEST(ReadStep, AParameterIsUpdatedInPlaceUnlessItsOldValueIsReturned) {
  for (bool returned : {false, true}) {
    std::string body = "%w = weir.read @w : " + row + "\n" + add("next", "w", "g", row) +
                       "weir.write @w, %next : " + row + "\n";
    body += returned ? "return %w : " + row : "return %g : " + row;
    Program program("module {\nweir.variable parameter @w : " + row + "\nfunc.func @step(" +
                    input("g", row) + ") -> (" + output(row) + ") {\n" + body + "\n}\n}");
    EXPECT_EQ(program.kernel(0) < 0, !returned);
    // The input; with a returned old value, the next value beside the input, then beside the copy.
    EXPECT_EQ(program.memory.bytes, returned ? 2 * 1024 : 1024);
    EXPECT_EQ(program.arena(), program.memory.bytes);
  }
}

TEST(ReadStep, AGatheredParameterIsWrittenInPlace) {
  const std::string whole = "tensor<512xf32>";
  Program program(
      "module attributes {weir.mesh = #weir.mesh<dp = 2>} {\n"
      "weir.variable parameter @w : " +
      whole + "\nfunc.func @step(" + input("g", row) + ") -> (" + output(row) +
      ") {\n%w = weir.all_gather %g over \"dp\" rows [256, 256] {weir.number = 1} : " + row +
      " -> " + whole + "\nweir.write @w, %w : " + whole + "\nreturn %g : " + row + "\n}\n}");
  EXPECT_LT(program.bufferOf<AllGatherOp>(0), 0);
  EXPECT_EQ(program.memory.bytes, 1024); // the input
  EXPECT_EQ(program.arena(), program.memory.bytes);
}

/// A loop that adds up slices of x, followed by `after`.
std::string loop(const std::string &after) {
  const std::string rows = "tensor<2x256xf32>", slice = "tensor<1x256xf32>";
  return "func.func @step(" + input("x", rows) + ", " + input("zero", row) + ") -> (" +
         output(row) + ") {\n%sum = weir.microbatches 2 sliced(%x) carried(%zero) : (" + rows +
         ", " + row + ") -> " + row + " {\n^bb0(%round: tensor<i32>, %slice: " + slice +
         ", %old: " + row +
         "):\n%part = weir.merge_dims %slice {first = 0 : i64, count = 2 : i64} : " + slice +
         " -> " + row + "\n" + add("next", "old", "part", row) + "weir.yield %next : " + row +
         "\n}\n" + after + "}";
}

TEST(ReadStep, WhatALoopCarriesHasOneBuffer) {
  Program program(loop("return %sum : " + row + "\n"));
  EXPECT_LT(program.kernel(0), 0) << "it lies where the carried value does";
  EXPECT_GE(program.bufferOf<MicrobatchesOp>(0), 0);
  EXPECT_EQ(program.arena(), program.memory.bytes);
}

TEST(ReadStep, TheLastCarriedValueLendsItsBuffer) {
  Program program(loop(exp("y", "sum", row) + "return %y : " + row + "\n"));
  EXPECT_EQ(program.kernel(1), program.bufferOf<MicrobatchesOp>(0));
  EXPECT_EQ(program.arena(), program.memory.bytes);
}

/// The events come in the order of the plan: a section's rounds one after the other.
TEST(ReadStep, SectionsKeepTheirValuesForEachMicrobatch) {
  const std::string pair = "tensor<512xf32>",
                    order = "weir.order = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>, weir.section = ";
  Program program("func.func @step(" + input("x", pair) + ", " + input("zero", row) + ") -> (" +
                  output(row) + ") {\nweir.microbatches 2 sliced(%x) carried() {" + order +
                  "0 : i64} : (" + pair + ") -> () {\n^bb0(%round: tensor<i32>, %part: " + row +
                  "):\n" + exp("made", "part", row) + "weir.save %made number 1 : " + row +
                  "\nweir.yield\n}\n" + "%sum = weir.microbatches 2 sliced() carried(%zero) {" +
                  order + "1 : i64} : (" + row + ") -> " + row +
                  " {\n^bb0(%round: tensor<i32>, %old: " + row +
                  "):\n%kept = weir.saved number 1 : " + row + "\n" + exp("again", "kept", row) +
                  add("next", "old", "again", row) + "weir.yield %next : " + row +
                  "\n}\nreturn %sum : " + row + "\n}");
  std::vector<int> shown;
  int entered = 0;
  for (const buffers::Event &event : program.step.events) {
    entered += event.kind == buffers::Event::Kind::enter;
    if (event.kind == buffers::Event::Kind::show)
      shown.push_back(program.memory.buffers[event.tensor]);
  }
  EXPECT_EQ(entered, 4);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_NE(shown[0], shown[1]);
  // What is kept lends nothing to the kernel that reads it last.
  EXPECT_NE(program.kernel(1), shown[1]);
  EXPECT_EQ(program.arena(), program.memory.bytes);
}

} // namespace

//===- EveryOpTest.cpp - Every op of the dialect has a test ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op's test is the file of its name in this folder: it has the op in a function that expects
// something, and a RUN line of weir-check's.
//
//===----------------------------------------------------------------------===//

#include "ir/check/CheckDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

class EveryOp : public testing::Test {
protected:
  /// A situation has one device: what these do, test/passes/sharding says.
  const llvm::StringSet<> ofSeveralRanks = {
      "all_reduce", "reduce_scatter", "all_gather",     "all_to_all", "collective_permute",
      "pack",       "unpack",         "stage_transfer", "send",       "receive",
      "save",       "saved"};

  EveryOp() { context.loadDialect<WeirDialect, check::CheckDialect, mlir::func::FuncDialect>(); }

  llvm::SmallVector<std::string> ops() {
    llvm::SmallVector<std::string> names;
    // Not getRegisteredOperationsByDialect, which finds none: it searches in another order than
    // sorts.
    for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
      if (op.getDialectNamespace() == "weir" && !ofSeveralRanks.contains(op.stripDialect()))
        names.push_back(op.stripDialect().str());
    return names;
  }
  static std::string pathOf(llvm::StringRef op) {
    return (llvm::Twine(WEIR_TEST_OPS) + "/" + op + ".mlir").str();
  }

  mlir::MLIRContext context;
};

TEST_F(EveryOp, hasATestThatUsesIt) {
  EXPECT_GE(ops().size(), 61u);
  for (const std::string &op : ops()) {
    std::string path = pathOf(op);
    if (!llvm::sys::fs::exists(path)) {
      ADD_FAILURE() << "weir." << op << " has no test: write " << path
                    << "; docs/internals/testing.md";
      continue;
    }
    auto text = llvm::MemoryBuffer::getFile(path);
    EXPECT_TRUE((*text)->getBuffer().starts_with("// RUN: weir-check %s\n")) << path;
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
    ASSERT_TRUE(module) << path;
    unsigned uses = 0, expectations = 0;
    module->walk([&](mlir::Operation *inside) {
      uses += inside->getName().getStringRef() == "weir." + op;
      expectations +=
          llvm::isa<check::ExpectOp, check::ExpectCloseOp, check::ExpectVariableOp>(inside);
    });
    EXPECT_GT(uses, 0u) << path << " has no weir." << op;
    EXPECT_GT(expectations, 0u) << path << " expects nothing";
  }
}

TEST_F(EveryOp, isWhatTheFilesAreNamedFor) {
  llvm::StringSet<> known;
  for (const std::string &op : ops())
    known.insert(op);
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(WEIR_TEST_OPS, error), end; file != end && !error;
       file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".mlir") {
      EXPECT_TRUE(known.contains(llvm::sys::path::stem(file->path())))
          << file->path() << " is named for no op";
    }
  EXPECT_FALSE(error) << error.message();
}

} // namespace

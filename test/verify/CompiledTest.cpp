//===- CompiledTest.cpp - Compiles of one process do not meet -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Compiled.h"
#include "ir/weir/WeirDialect.h"
#include "mlir/Parser/Parser.h"
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace weir;

namespace {

const char *program = R"(module attributes {weir.model = "small", weir.batch = 1 : i64,
    weir.accumulate = 1 : i64, weir.steps = 3 : i64} {
  func.func @init() { return }
  func.func @step(%x: tensor<64x128xf32>, %w: tensor<128x96xf32>, %i: tensor<3x2x7x9xf32>,
                  %k: tensor<5x2x3x3xf32>) -> (tensor<64x96xf32>, tensor<3x5x7x9xf32>) {
    %p = weir.matmul %x, %w : tensor<64x128xf32>, tensor<128x96xf32> -> tensor<64x96xf32>
    %e = weir.exp %p : tensor<64x96xf32>
    %y = weir.convolution %i, %k {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
        : tensor<3x2x7x9xf32>, tensor<5x2x3x3xf32> -> tensor<3x5x7x9xf32>
    return %e, %y : tensor<64x96xf32>, tensor<3x5x7x9xf32>
  }
})";

std::vector<std::byte> compiled(const char *target) {
  MLIRContext context;
  context.loadDialect<WeirDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(program, ParserConfig(&context), "small.weir");
  auto bytes = compileModule(*module, target);
  return succeeded(bytes) ? *bytes : std::vector<std::byte>();
}

/// In a process of its own.
std::vector<std::byte> compiledApart(const char *target) {
  std::string path = testing::TempDir() + "/weir-apart-" + std::to_string(getpid());
  pid_t child = fork();
  if (child == 0) {
    std::vector<std::byte> bytes = compiled(target);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    file.close();
    _exit(file ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::remove(path.c_str());
  auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  return {bytes, bytes + text.size()};
}

TEST(Compiled, TargetsOfOneProcessDoNotMeet) {
  const char *targets[] = {"cpu:x86-64-v3", "cpu:x86-64-v4"};
  std::vector<std::byte> apart[] = {compiledApart(targets[0]), compiledApart(targets[1])};
  EXPECT_FALSE(apart[0].empty());
  EXPECT_NE(apart[0], apart[1]);
  for (int i : {0, 1, 0})
    EXPECT_EQ(compiled(targets[i]), apart[i]) << targets[i];
}

} // namespace

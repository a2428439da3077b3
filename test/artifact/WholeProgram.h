//===- WholeProgram.h - An artifact with one of everything --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_ARTIFACT_WHOLEPROGRAM_H
#define WEIR_TEST_ARTIFACT_WHOLEPROGRAM_H

#include "artifact/Reader.h"
#include "support/Error.h"
#include "test/runtime/core/TestProgram.h"
#include <functional>
#include <gtest/gtest.h>

namespace weir {

using namespace artifact;

inline spec::Product aProduct() {
  spec::Product product;
  product.batch = 2, product.m = 4, product.n = 5, product.k = 6;
  product.aBatch = 24, product.aRow = 6, product.aColumn = 1;
  product.bBatch = 30, product.bRow = 5, product.bColumn = 1;
  product.cBatch = 20, product.cRow = 5;
  product.bias = true;
  product.tileBatch = 1, product.tileM = 4, product.tileN = 5;
  return product;
}

inline spec::Convolution aConvolution() {
  spec::Convolution c;
  c.computes = spec::ConvolutionKind::backwardWeight;
  c.images = 4, c.channels = 2, c.filters = 3;
  c.size = {5, 5}, c.window = {3, 3};
  c.strides = c.padding = c.dilation = {1, 1};
  c.tileImages = 3;
  return c;
}

/// A program with one of everything. Actions of step: 0 launch, 1 product, 2 convolution, 3 loop
/// (4 copy), 5 copy, 6 record, 7 wait.
inline TestProgram whole() {
  TestProgram test;
  uint32_t w = test.variable("w", {64, 64});
  test.variable("v", {64});
  uint32_t round = test.variable("step", {}, DType::i32, Role::run);
  EntryT &entry = test.step();
  uint32_t x = test.buffer(entry, 4096, 0, 7), y = test.buffer(entry, 4096, 0, 7);
  auto input = TestProgram::port("x", PortKind::input, TestProgram::buf(x), {16, 64}, DType::i32);
  input->limit = 65;
  entry.inputs.push_back(std::move(input));
  entry.outputs.push_back(TestProgram::port("loss", PortKind::sum, TestProgram::buf(y), {}));
  entry.outputs.push_back(TestProgram::port("loss", PortKind::count, TestProgram::buf(y, 4), {}));
  test.code(std::vector<uint8_t>(64, 0));
  test.add(TestProgram::launch(test.kernel("k", 4, {4096, 4096}, {1}),
                               {TestProgram::buf(x), TestProgram::buf(y)}));
  test.add(TestProgram::call(aProduct(), {TestProgram::var(w), TestProgram::var(w),
                                          TestProgram::buf(y), TestProgram::var(1)}));
  test.add(TestProgram::call(aConvolution(), {TestProgram::buf(x), TestProgram::var(w),
                                              TestProgram::buf(y), TestProgram::var(w, 4096)}));
  test.add(TestProgram::loop(
      4, TestProgram::var(round),
      TestProgram::copy(TestProgram::buf(x, 0, 1024), TestProgram::buf(y, 0, 1024), 1024)));
  test.add(TestProgram::copy(TestProgram::var(w), TestProgram::buf(y, 96), 4000));
  entry.events = 1;
  test.add(TestProgram::action(RecordT(), {}));
  test.add(TestProgram::action(WaitT(), {}));
  return test;
}

/// Why the reader refuses a file; "" where it does not.
inline std::string messageOf(const std::vector<std::byte> &file) {
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

/// Part of the message, and what in a program it is about.
struct ArtifactFault {
  const char *message;
  std::function<void(TestProgram &)> make;
};

} // namespace weir

#endif

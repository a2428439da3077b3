//===- PreludeCases.h - What every prelude definition is tested on --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of the prelude's definitions at small sizes: 1, odd ones, more than a vector's, and with
// every option. An op's own cases are in test/passes/autodiff/GradientCases.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_FRONTEND_PRELUDE_PRELUDECASES_H
#define WEIR_TEST_FRONTEND_PRELUDE_PRELUDECASES_H

#include <string>
#include <vector>

namespace weir::test {

/// A layer, function or loss, whose gradients are checked.
struct GradientCase {
  std::string definition, name; ///< together unique
  std::string call;             ///< of the inputs: "linear(x, 3, bias = false)"
  std::string inputs;           ///< their declarations, a line each
  std::string weights;          ///< the result's sizes; empty for a loss
  bool linear = false;          ///< in every source, the others fixed
  double compiledTolerance = 1e-5;
};

/// An optimizer's call, with the names and values of what its formula takes.
struct OptimizerCase {
  std::string definition, call;
  double lr, momentum = 0, beta1 = 0, beta2 = 0, eps = 0, decay = 0;
  bool nesterov = false;
  double tolerance = 1e-9; ///< relative, of the interpreter; numbers that are none in f32 need more
};

struct ScheduleCase {
  std::string definition, call;
  double peak, floor;
  int warmup, steps;
};

std::vector<GradientCase> gradientCases();
std::vector<OptimizerCase> optimizerCases();
std::vector<ScheduleCase> scheduleCases();

} // namespace weir::test

#endif

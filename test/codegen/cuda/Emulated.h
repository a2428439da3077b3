//===- Emulated.h - Programs on the emulated GPU --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_CODEGEN_CUDA_EMULATED_H
#define WEIR_TEST_CODEGEN_CUDA_EMULATED_H

#include <gtest/gtest.h>
#include <string>

namespace weir {

/// All of `name` in the text are `value`.
std::string replaced(std::string text, const std::string &name, const std::string &value);

/// Compiles the text's function @f, runs it on the emulated GPU with every check, and expects of
/// each result what the interpreter gives: the norm of the difference is at most such a part of its
/// own, and no less than `least` in any result. Skips the test where that GPU is not built.
void expectAsInterpreted(const std::string &program, const std::string &target = "cuda",
                         double most = 1e-5, double least = 0);

} // namespace weir

#endif

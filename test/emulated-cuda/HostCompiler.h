//===- HostCompiler.h - Kernels compiled by the C++ compiler of the host --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_HOSTCOMPILER_H
#define WEIR_TEST_EMULATED_CUDA_HOSTCOMPILER_H

#include <string>
#include <utility>
#include <vector>

namespace weir::emulated {

struct Program {
  std::string name, text;
  std::vector<std::pair<std::string, std::string>> headers; ///< name and text
  bool flushesToZero = false;
  std::string standard = "c++17";
  std::vector<std::string> defines; ///< as -D options
};

struct Compiled {
  bool isRight = false;
  bool hasNoCompiler = false; ///< it could not be run, and `log` says what to do
  std::string log;
  std::string code; ///< an ELF shared object
};

/// Compiles, or takes what it compiled before: in this process, or in the folder that
/// WEIR_EMULATED_CACHE names. May be called by several threads at once.
Compiled compileForHost(const Program &program);

/// A number that differs where the same text would be compiled to other code.
unsigned compilerVersion();

} // namespace weir::emulated

#endif

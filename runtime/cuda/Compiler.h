//===- Compiler.h - CUDA C++ to machine code, with a cache ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_COMPILER_H
#define WEIR_RUNTIME_CUDA_COMPILER_H

#include "runtime/cuda/Libraries.h"
#include "support/Error.h"
#include "support/system/KernelCache.h"
#include <span>
#include <string>
#include <vector>

namespace weir::cuda {

/// Text that kernels include.
struct Header {
  std::string name, text;
};

/// Compiles units of CUDA C++ with NVRTC, several at once. What any process has compiled before is
/// taken from the user's KernelCache.
class Compiler {
public:
  /// Whose text it is: this process has made it, or it is in an artifact.
  enum class From { here, artifact };

  /// `architecture`: 90 of sm_90. `place`: which NVRTC it is; what another compiled is none of its.
  Compiler(const Nvrtc &nvrtc, int architecture, std::vector<Header> headers,
           const std::string &place, From from);

  using Cubin = std::vector<char>;

  /// Of each source. Throws Failure with the compiler's words for one that is no CUDA C++:
  /// Exit::internal where it was made here, Exit::model in an artifact, which may be damaged; and
  /// Exit::device for what the machine lacks.
  std::vector<Cubin> compile(std::span<const std::string> sources);

private:
  Cubin compileOne(const std::string &source);
  Cubin obtain(const std::string &source);
  /// All that the source's code depends on.
  std::string keyOf(const std::string &source) const;
  /// The headers that the source includes, and those that they include.
  std::vector<const Header *> includedBy(const std::string &source) const;

  const Nvrtc &nvrtc;
  const From from;
  std::vector<Header> headers;
  std::vector<std::string> options;
  KernelCache cache;
  std::string salt; ///< what every unit depends on
};

/// The same for who has no exceptions, with the system's NVRTC: `failure` is what a Failure would
/// say, "" for none.
struct CompileResult {
  std::vector<Compiler::Cubin> cubins;
  std::string failure;
  Exit exit = Exit::ok;
};
CompileResult compileUnits(int architecture, std::vector<Header> headers,
                           std::span<const std::string> sources);

} // namespace weir::cuda

#endif

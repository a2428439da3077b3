//===- Library.h - oneDNN as a maker of one-thread primitives -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to runtime/cpu. Primitives are made once, in user scratchpad mode; memory objects are
// made once per worker and only get their data's address before a call, so that a call costs a few
// tenths of a microsecond and allocates nothing of ours.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_LIBRARY_H
#define WEIR_RUNTIME_CPU_LIBRARY_H

#include "support/precision/Element.h"
#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace weir::cpu {

/// The thread's OpenMP team is one while it makes primitives: their blocking and scratch depend on
/// it.
class OneThread {
public:
  OneThread();
  ~OneThread();

private:
  int teamSize;
};

dnnl::engine &engine();

/// What the library calls an element. Throws Failure{Exit::model} for one that it does not multiply
/// on processors.
dnnl::memory::data_type dataType(Element element);

/// The library cannot do what a program asks for: one of the compiler's it can. Throws
/// Failure{Exit::model}, std::bad_alloc where memory was the reason.
[[noreturn]] void libraryFailure(const std::string &what, const dnnl::error &error);

/// Asks for what one primitive's machine code takes: each of its kernels 256 KiB at first, and the
/// library writes them to wherever that is. Throws std::bad_alloc.
void requireMemoryForPrimitive();

/// A memory object without data.
dnnl::memory unbound(const dnnl::memory::desc &desc);

inline void bind(dnnl::memory &memory, const void *data) {
  dnnl_memory_set_data_handle(memory.get(), const_cast<void *>(data));
}

/// A primitive with its arguments. The memory objects must outlive it.
class Call {
public:
  Call() = default;
  Call(const dnnl::primitive &primitive,
       std::initializer_list<std::pair<int, const dnnl::memory &>> arguments);

  void run(const dnnl::stream &stream) const;

private:
  dnnl::primitive primitive;
  std::vector<dnnl_exec_arg_t> arguments;
};

/// Parts of a worker's scratch, each at a multiple of 64 bytes.
class ScratchLayout {
public:
  size_t take(size_t bytes) {
    size_t offset = total;
    total += (bytes + 63) / 64 * 64;
    return offset;
  }
  size_t total = 0;
};

} // namespace weir::cpu

#endif

//===- Library.cpp - oneDNN as a maker of one-thread primitives -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Library.h"
#include "runtime/base/Memory.h"
#include "runtime/cpu/OneDnn.h"
#include "support/Error.h"
#include <cstdio>
#include <cstdlib>
#include <new>

namespace weir::cpu {

OneThread::OneThread() {
  requireMemoryForPrimitive(); // the first one takes something for OpenMP as well
  teamSize = openMPTeamSize();
  setOpenMPTeamSize(1);
}
OneThread::~OneThread() { setOpenMPTeamSize(teamSize); }

dnnl::engine &engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::data_type dataType(Element element) {
  if (element == Element::f32)
    return dnnl::memory::data_type::f32;
  if (element == Element::bf16)
    return dnnl::memory::data_type::bf16;
  throw Failure(Exit::model,
                std::string("oneDNN multiplies f32 and bf16, and the artifact asks for ") +
                    nameOf(element) + ": compile the model again");
}

void libraryFailure(const std::string &what, const dnnl::error &error) {
  if (error.status == dnnl_out_of_memory)
    throw std::bad_alloc();
  throw Failure(Exit::model, "oneDNN cannot make " + what + ": " + error.what());
}

void requireMemoryForPrimitive() { requireMemory(16 << 20); }

dnnl::memory unbound(const dnnl::memory::desc &desc) {
  return dnnl::memory(desc, engine(), DNNL_MEMORY_NONE);
}

Call::Call(const dnnl::primitive &primitive,
           std::initializer_list<std::pair<int, const dnnl::memory &>> arguments)
    : primitive(primitive) {
  for (auto &[index, memory] : arguments)
    this->arguments.push_back({index, memory.get()});
}

void Call::run(const dnnl::stream &stream) const {
  // Callers are threads of a parallel loop, where nothing may be thrown; a failure here is a fault
  // of ours.
  if (dnnl_primitive_execute(primitive.get(), stream.get(), arguments.size(), arguments.data()) !=
      dnnl_success) {
    std::fputs("weir: internal error: a oneDNN primitive failed\n", stderr);
    std::abort();
  }
}

} // namespace weir::cpu

//===- Values.h - What a program's variables hold -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_CORE_VALUES_H
#define WEIR_TEST_RUNTIME_CORE_VALUES_H

#include "runtime/core/Program.h"

namespace weir {

template <class Element> std::vector<Element> values(const Program &program, uint32_t variable) {
  const TensorView &view = program.variables()[variable];
  std::vector<Element> all(view.size / sizeof(Element));
  view.read(0, std::as_writable_bytes(std::span(all)));
  return all;
}

template <class Element>
void set(const Program &program, uint32_t variable, const std::vector<Element> &all) {
  program.variables()[variable].write(0, std::as_bytes(std::span(all)));
}

} // namespace weir

#endif

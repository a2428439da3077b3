//===- WholeTensors.h - Variables and ports of all ranks together ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only. Where a program is of a mesh, whoever runs it knows whole tensors, of which each
// rank has a part. They have numbers, variables first, then each entry's inputs and outputs, and
// addresses that are made of these.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_WHOLETENSORS_H
#define WEIR_RUNTIME_CORE_WHOLETENSORS_H

#include "artifact/Artifact_generated.h"
#include "runtime/core/Device.h"

namespace weir {

/// More than a tensor has bytes.
inline constexpr unsigned wholeTensorBits = 44;

/// Where byte 0 of the tensor of that number is.
inline Address wholeAddress(uint64_t number) { return number << wholeTensorBits; }

/// Calls `visit(tensor, entry)` for each variable, with null, and each port, in order of numbers.
template <class Visit> void forEachWholeTensor(const artifact::Program &program, Visit visit) {
  for (const artifact::Variable *variable : *program.variables())
    visit(*variable, static_cast<const artifact::Entry *>(nullptr));
  for (const artifact::Entry *entry : *program.entries())
    for (const auto *ports : {entry->inputs(), entry->outputs()})
      for (const artifact::Port *port : *ports)
        visit(*port, entry);
}

/// The number of a variable or port.
inline uint64_t wholeNumber(const artifact::Program &program, const void *tensor) {
  uint64_t number = 0, found = 0;
  forEachWholeTensor(program, [&](const auto &one, const artifact::Entry *) {
    if (static_cast<const void *>(&one) == tensor)
      found = number;
    ++number;
  });
  return found;
}

} // namespace weir

#endif

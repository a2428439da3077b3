//===- Snapshot.cpp - A copy of what is saved, while steps go on ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Snapshot.h"
#include "runtime/checkpoint/Tensors.h"
#include <algorithm>

namespace weir {

static uint64_t ownedBytes(const TensorView &variable) {
  uint64_t bytes = 0;
  variable.forEachOwned([&](uint64_t, uint64_t size) { bytes += size; });
  return bytes;
}

uint64_t Snapshot::bytesOf(const std::vector<TensorView> &variables) {
  uint64_t bytes = 0;
  for (const TensorView &variable : variables)
    bytes += ownedBytes(variable);
  return bytes;
}

Snapshot::Snapshot(const std::vector<TensorView> &variables)
    : variables(variables), copy(bytesOf(variables)) {}

void Snapshot::take() {
  auto to = copy.begin();
  for (const TensorView &variable : variables)
    variable.readOwned([&](uint64_t, std::span<const std::byte> bytes) {
      to = std::copy(bytes.begin(), bytes.end(), to);
    });
}

std::vector<StoredTensor> Snapshot::parameters() const {
  return ofCopy(storedParameters(variables), true);
}

std::vector<StoredTensor> Snapshot::state() const { return ofCopy(storedState(variables), false); }

/// `tensors` are in the order of the variables.
std::vector<StoredTensor> Snapshot::ofCopy(std::vector<StoredTensor> tensors,
                                           bool areParameters) const {
  auto tensor = tensors.begin();
  const std::byte *from = copy.data();
  for (const TensorView &variable : variables) {
    if ((variable.role == artifact::Role::parameter) == areParameters)
      (tensor++)->owned = [&variable, from](const StoredTensor::Visit &visit) {
        const std::byte *at = from;
        variable.forEachOwned([&](uint64_t first, uint64_t size) {
          visit(first, {at, size});
          at += size;
        });
      };
    from += ownedBytes(variable);
  }
  return tensors;
}

} // namespace weir

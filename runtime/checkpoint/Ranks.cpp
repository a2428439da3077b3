//===- Ranks.cpp - Whose bytes of a checkpoint are whose ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Ranks.h"
#include "runtime/checkpoint/Tensors.h"
#include "runtime/collectives/Consensus.h"
#include <algorithm>

namespace weir {

void Ranks::allOrNone(const std::string &what, const std::function<void()> &body) const {
  collectives::allOrNone(group, what, body);
}

std::string Ranks::ofFirst(const std::string &what, const std::string &text) const {
  if (!group)
    return text;
  auto *own = reinterpret_cast<const std::byte *>(text.data());
  std::vector<std::byte> bytes(own, own + text.size());
  collectives::fromFirst(*group, what, bytes);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

void Ranks::requireSame(const std::string &what, const std::string &named,
                        const std::string &text) const {
  if (group)
    collectives::requireSame(*group, what, named, hashOf(text.data(), text.size()));
}

uint64_t Ranks::added(const std::string &what, uint64_t sum) const {
  if (!group)
    return sum;
  FileSum all;
  for (int64_t one : collectives::fromAll(*group, what, int64_t(sum)))
    all.add(uint64_t(one));
  return all.value();
}

/// The variable that a stored tensor goes to; null where there is none.
static const TensorView *variableOf(const StoredTensor &tensor, bool isParameter,
                                    const Ranks &ranks) {
  if (ranks.variables)
    for (const TensorView &variable : *ranks.variables)
      if (variable.name == tensor.name &&
          (variable.role == artifact::Role::parameter) == isParameter)
        return mismatch(stored(variable), tensor).empty() ? &variable : nullptr;
  return nullptr;
}

uint64_t sumOfOwned(std::span<const std::byte> file,
                    const std::map<std::string, StoredTensor> &tensors, bool areParameters,
                    const Ranks &ranks) {
  FileSum sum;
  size_t data = file.size(); // where it begins
  for (const auto &[name, tensor] : tensors) {
    size_t begin = tensor.data - file.data();
    data = std::min(data, begin);
    auto add = [&](uint64_t from, uint64_t size) {
      sum.add(begin + from, file.subspan(begin + from, size));
    };
    if (const TensorView *variable = variableOf(tensor, areParameters, ranks)) {
      // They have as many elements, and may be of different types.
      size_t here = sizeOf(variable->element), there = findSafetensors(tensor.dtype)->bytes;
      variable->forEachOwned(
          [&](uint64_t from, uint64_t size) { add(from / here * there, size / here * there); });
    } else if (ranks.isFirst()) {
      add(0, tensor.size);
    }
  }
  if (ranks.isFirst())
    sum.add(0, file.first(data));
  return sum.value();
}

} // namespace weir

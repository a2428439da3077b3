//===- Footprint.cpp - Which bytes of an operand an action touches --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/spec/Footprint.h"
#include <algorithm>

namespace weir::spec {

uint64_t Footprint::extent() const {
  uint64_t end = bytes;
  for (const Dim &dim : dims)
    end += (dim.count - 1) * static_cast<uint64_t>(dim.stride);
  return end;
}

Footprint strided(std::string name, Mode mode, Element element,
                  std::initializer_list<Dim> dimensions) {
  uint64_t elementBytes = sizeOf(element);
  std::vector<Dim> dims;
  for (Dim dim : dimensions)
    if (dim.count > 1 && dim.stride != 0)
      dims.push_back({dim.count, dim.stride * static_cast<int64_t>(elementBytes)});
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dim &a, const Dim &b) { return a.stride < b.stride; });
  Footprint footprint{std::move(name), mode, elementBytes, {}, false, element};
  for (const Dim &dim : dims) {
    uint64_t stride = static_cast<uint64_t>(dim.stride);
    if (footprint.dims.empty() && stride == footprint.bytes)
      footprint.bytes *= dim.count;
    else if (!footprint.dims.empty() &&
             dim.stride == footprint.dims.back().stride * int64_t(footprint.dims.back().count))
      footprint.dims.back().count *= dim.count;
    else
      footprint.dims.push_back(dim);
  }
  return footprint;
}

} // namespace weir::spec

//===- Pooling.cpp - Max pooling as a library call ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/spec/Pooling.h"
#include "support/spec/Check.h"

namespace weir::spec {

std::string Pooling::check() const {
  for (const auto *list : {&size, &window, &strides})
    if (list->size() != 2)
      return "it has other than 2 spatial dimensions";
  if (!isDimension(planes))
    return "a dimension is out of range";
  for (size_t i = 0; i < 2; ++i) {
    for (int64_t dim : {size[i], window[i], strides[i]})
      if (!isDimension(dim))
        return "a dimension is out of range";
    if (window[i] > size[i])
      return "its window is larger than the input";
  }
  if (tilePlanes <= 0 || tilePlanes > planes)
    return "its tile is out of range";
  // The output is no larger.
  int64_t count = elements({{&planes, 1}, size});
  if (count < 0 || count > mostBytes / int64_t(floatBytes))
    return "a tensor is larger than any memory";
  return "";
}

std::vector<Footprint> Pooling::footprints() const {
  auto dense = [](const char *name, Mode mode, int64_t count) {
    return Footprint{name, mode, static_cast<uint64_t>(count) * floatBytes, {}, false};
  };
  return {dense("input", Mode::read, planes * inputElements()),
          dense("output", Mode::write, planes * outputElements())};
}

Cost Pooling::cost() const {
  auto inputs = static_cast<uint64_t>(planes * inputElements());
  auto outputs = static_cast<uint64_t>(planes * outputElements());
  return {outputs * static_cast<uint64_t>(window[0] * window[1]), floatBytes * (inputs + outputs)};
}

std::string Pooling::describe() const {
  auto text = [](const std::vector<int64_t> &dims) {
    return std::to_string(dims[0]) + "x" + std::to_string(dims[1]);
  };
  return "max pooling, " + std::to_string(planes) + " planes of " + text(size) + " by " +
         text(window) + ", strides " + text(strides);
}

} // namespace weir::spec

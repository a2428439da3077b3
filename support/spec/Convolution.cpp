//===- Convolution.cpp - A convolution as a library call ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/spec/Convolution.h"
#include "support/spec/Check.h"

namespace weir::spec {

std::vector<int64_t> Convolution::outSize() const {
  std::vector<int64_t> out;
  for (size_t i = 0; i < size.size(); ++i)
    out.push_back((size[i] + 2 * padding[i] - dilation[i] * (window[i] - 1) - 1) / strides[i] + 1);
  return out;
}

int64_t Convolution::imageElements() const { return elements({{&channels, 1}, size}); }

int64_t Convolution::weightElements() const {
  int64_t inputs = channels / groups;
  return elements({{&filters, 1}, {&inputs, 1}, window});
}

int64_t Convolution::outputElements() const {
  std::vector<int64_t> out = outSize();
  return elements({{&filters, 1}, out});
}

std::string Convolution::check() const {
  if (static_cast<size_t>(computes) >= kindNames.size())
    return "what it computes is unknown";
  if (size.empty() || size.size() > 3)
    return "it has other than 1 to 3 spatial dimensions";
  for (const auto *list : {&window, &strides, &padding, &dilation})
    if (list->size() != size.size())
      return "its spatial dimensions differ in number";
  for (int64_t dim : {images, channels, filters, groups})
    if (!isDimension(dim))
      return "a dimension is out of range";
  if (channels % groups != 0 || filters % groups != 0)
    return "its groups do not divide the channels and the filters";
  for (size_t i = 0; i < size.size(); ++i) {
    for (int64_t dim : {size[i], window[i], strides[i], dilation[i]})
      if (!isDimension(dim))
        return "a dimension is out of range";
    int64_t reach = dilation[i] * (window[i] - 1) + 1; // below 2^62
    if (padding[i] < 0 || padding[i] >= reach || padding[i] >= mostDimension)
      return "its padding is negative, or not smaller than the window";
    if (reach > size[i] + 2 * padding[i])
      return "its window is larger than the padded input";
  }
  if (tileImages <= 0 || tileImages > images)
    return "its tile is out of range";
  if (!isReal(factors) || !isReal(result))
    return "its elements are no floats";
  if (isPartial() && result != Element::f32)
    return "its partial sums are f32, and their sum is not";
  for (int64_t count : {imageElements(), outputElements(), weightElements()})
    if (count < 0 || count > mostBytes / int64_t(floatBytes) / std::max(images, tiles()))
      return "a tensor is larger than any memory";
  return "";
}

std::vector<Footprint> Convolution::footprints() const {
  using Kind = ConvolutionKind;
  auto mode = [&](Kind written) { return computes == written ? Mode::write : Mode::read; };
  auto dense = [&](const char *name, Kind kind, int64_t count) {
    return Footprint{name, mode(kind), static_cast<uint64_t>(count) * sizeOf(elementOf(kind)),
                     {},   false,      elementOf(kind)};
  };
  std::vector<Footprint> list = {dense("input", Kind::backwardInput, images * imageElements()),
                                 dense("weight", Kind::backwardWeight, weightElements()),
                                 dense("output", Kind::forward, images * outputElements())};
  if (isPartial())
    list.push_back({"partials",
                    Mode::write,
                    static_cast<uint64_t>(tiles() * weightElements()) * floatBytes,
                    {},
                    true});
  return list;
}

Cost Convolution::cost() const {
  uint64_t perOutput = 2 * static_cast<uint64_t>(weightElements() / filters);
  uint64_t outputs = static_cast<uint64_t>(images * outputElements());
  uint64_t bytes = 0;
  for (const Footprint &operand : footprints())
    if (!operand.workspace)
      bytes += operand.bytes;
  return {outputs * perOutput, bytes};
}

std::string_view Convolution::op() const {
  using namespace std::literals;
  return std::array{"weir.convolution"sv, "weir.convolution_input_grad"sv,
                    "weir.convolution_weight_grad"sv}[static_cast<size_t>(computes)];
}

std::string Convolution::describe() const {
  auto text = [](std::initializer_list<int64_t> first, const std::vector<int64_t> &rest) {
    std::string joined;
    for (int64_t dim : first)
      joined += (joined.empty() ? "" : "x") + std::to_string(dim);
    for (int64_t dim : rest)
      joined += "x" + std::to_string(dim);
    return joined;
  };
  return "convolution, " + std::string(kindNames[static_cast<size_t>(computes)]) + ", " +
         text({images, channels}, size) + " by " + text({filters, channels / groups}, window) +
         ofElements(factors, factors, result);
}

} // namespace weir::spec

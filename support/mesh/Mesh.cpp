//===- Mesh.cpp - Many devices with names for their directions ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/Mesh.h"
#include "support/Text.h"
#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace weir {

/// "3:1" or "2" as numbers. Nothing where one is none.
static std::optional<std::vector<int64_t>> numbersOf(std::string_view text) {
  std::vector<int64_t> numbers;
  for (std::string_view rest = text;;) {
    std::string_view one = rest.substr(0, rest.find(':'));
    int64_t number = 0;
    auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    if (error != std::errc() || end != one.data() + one.size() || number < 1)
      return std::nullopt;
    numbers.push_back(number);
    if (one.size() == rest.size())
      return numbers;
    rest.remove_prefix(one.size() + 1);
  }
}

bool Mesh::Axis::setShares(std::vector<int64_t> shares) {
  int64_t divisor = 0;
  for (int64_t share : shares)
    divisor = std::gcd(divisor, share);
  std::vector<int64_t> all = {0};
  for (int64_t share : shares) {
    if (share / divisor > mostShares - all.back())
      return false;
    all.push_back(all.back() + share / divisor);
  }
  size = int64_t(shares.size());
  bounds = all.back() == size ? std::vector<int64_t>() : std::move(all);
  return true;
}

int64_t Mesh::Axis::fullest() const {
  int64_t fullest = 0;
  for (int64_t i = 1; i < size && hasShares(); ++i)
    fullest = share(i) > share(fullest) ? i : fullest;
  return fullest;
}

std::string Mesh::Axis::ranks() const {
  std::string text;
  for (int64_t i = 0; i < size && hasShares(); ++i)
    text += concat(text.empty() ? "" : ":", share(i));
  return text.empty() ? std::to_string(size) : text;
}

std::variant<Mesh, std::string> Mesh::parse(std::string_view text) {
  auto wrong = [](const std::string &what) {
    return concat(what, "; expected axes and their sizes, such as dp=2,tp=2");
  };
  Mesh mesh;
  for (std::string_view rest = text; !rest.empty();) {
    size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    if (comma != std::string_view::npos && rest.empty())
      return wrong("nothing follows the last comma");
    size_t equal = one.find('=');
    std::string name(one.substr(0, equal));
    if (name.empty() || equal == std::string_view::npos)
      return wrong(concat("'", one, "' is not an axis with a size"));
    std::string_view number = one.substr(equal + 1);
    if (size_t by = number.find('x'); by != std::string_view::npos) {
      auto nodes = numbersOf(number.substr(0, by)), inEach = numbersOf(number.substr(by + 1));
      if (!nodes || !inEach || nodes->size() > 1 || inEach->size() > 1)
        return wrong(concat("'", number, "' is not a valid size of the axis ", name,
                            ": for 2 nodes of 4 ranks, write 2x4"));
      if (name != dataAxis)
        return wrong(concat("the axis ", name, " cannot be split into nodes, such as ", number,
                            ": only dp can"));
      mesh.axes.push_back({std::string(nodesAxis), nodes->front()});
      mesh.axes.push_back({name, inEach->front()});
      continue;
    }
    std::optional<std::vector<int64_t>> numbers = numbersOf(number);
    if (!numbers)
      return wrong(concat("'", number, "' is not a valid size of the axis ", name));
    Axis axis{name};
    if (numbers->size() == 1)
      axis.size = numbers->front();
    else if (!axis.setShares(std::move(*numbers)))
      return wrong(concat("the shares of ", name, " add up to more than ", Axis::mostShares));
    if (axis.hasShares() && !mayHaveShares(name))
      return wrong(concat("the axis ", name, " does not support unequal shares, such as ", number,
                          ": only dp and pp do"));
    mesh.axes.push_back(std::move(axis));
  }
  if (std::string problem = mesh.wrong(); !problem.empty())
    return wrong(problem);
  return mesh;
}

std::string Mesh::wrong() const {
  constexpr int64_t mostRanks = 65536;
  int64_t all = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (find(axes[i].name) != int(i))
      return concat("the axis ", axes[i].name, " is given twice");
    if (axes[i].name == nodesAxis && (i + 1 == axes.size() || axes[i + 1].name != dataAxis))
      return concat("the axis ", nodesAxis, " does not stand right before dp");
    if (axes[i].size < 1)
      return concat("the axis ", axes[i].name, " has no ranks");
    if (axes[i].size > mostRanks / all)
      return concat("there are more than ", mostRanks, " ranks");
    all *= axes[i].size;
  }
  return "";
}

std::string Mesh::text() const {
  std::string all;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool isSplit = axes[i].name == nodesAxis;
    all += concat(all.empty() ? "" : ",", axes[i + isSplit].name, "=", axes[i].ranks());
    if (isSplit)
      all += concat("x", axes[++i].ranks());
  }
  return all;
}

Mesh Mesh::withoutNodes() const {
  Mesh mesh;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name != nodesAxis) {
      mesh.axes.push_back(axes[i]);
    } else {
      ++i;
      mesh.axes.push_back({axes[i].name, axes[i - 1].size * axes[i].size});
    }
  return mesh;
}

int64_t Mesh::ranks() const {
  int64_t all = 1;
  for (const Axis &axis : axes)
    all *= axis.size;
  return all;
}

int64_t Mesh::fullestRank() const {
  int64_t rank = 0;
  for (const Axis &axis : axes)
    rank = rank * axis.size + (axis.name == stageAxis ? 0 : axis.fullest());
  return rank;
}

int Mesh::find(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name)
      return int(i);
  return -1;
}

/// How far apart neighbours along an axis are.
static int64_t strideOf(const Mesh &mesh, unsigned axis) {
  int64_t stride = 1;
  for (size_t i = mesh.axes.size() - 1; i > axis; --i)
    stride *= mesh.axes[i].size;
  return stride;
}

int64_t Mesh::coordinate(int64_t rank, unsigned axis) const {
  return rank / strideOf(*this, axis) % axes[axis].size;
}

Mesh Mesh::onNodes(int64_t ranksOfNode) const {
  const int data = find(dataAxis);
  if (data < 0 || find(nodesAxis) >= 0 || axes[size_t(data)].hasShares())
    return *this;
  const int64_t stride = strideOf(*this, unsigned(data)), inside = ranksOfNode / stride,
                nodes = inside ? axes[size_t(data)].size / inside : 0;
  if (inside < 2 || nodes < 2 || inside * stride != ranksOfNode ||
      nodes * inside != axes[size_t(data)].size)
    return *this;
  Mesh mesh = *this;
  mesh.axes[size_t(data)].size = inside;
  mesh.axes.insert(mesh.axes.begin() + data, {std::string(nodesAxis), nodes});
  return mesh;
}

std::vector<int64_t> Mesh::along(int64_t rank, unsigned axis) const {
  int64_t stride = strideOf(*this, axis), first = rank - coordinate(rank, axis) * stride;
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < axes[axis].size; ++i)
    ranks.push_back(first + i * stride);
  return ranks;
}

} // namespace weir

//===- Mesh.cpp - Many devices with names for their directions ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Mesh.h"
#include "runtime/base/Text.h"
#include <charconv>

namespace weir {

std::variant<Mesh, std::string> Mesh::parse(std::string_view text) {
  constexpr int64_t mostRanks = 65536;
  auto wrong = [](const std::string &what) {
    return concat(what, "; expected axes and their sizes, such as dp=2,tp=2");
  };
  Mesh mesh;
  for (std::string_view rest = text; !rest.empty();) {
    size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    if (comma != std::string_view::npos && rest.empty())
      return wrong("there is nothing behind the last comma");
    size_t equal = one.find('=');
    std::string name(one.substr(0, equal));
    if (name.empty() || equal == std::string_view::npos)
      return wrong(concat("'", one, "' is no axis with its size"));
    if (mesh.find(name) >= 0)
      return wrong(concat("the axis ", name, " is there twice"));
    std::string_view number = one.substr(equal + 1);
    int64_t size = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), size);
    if (error != std::errc() || end != number.data() + number.size() || size < 1)
      return wrong(concat("'", number, "' is no size of the axis ", name));
    if (size > mostRanks / mesh.ranks())
      return wrong(concat("there are more than ", mostRanks, " ranks"));
    mesh.axes.push_back({std::move(name), size});
  }
  return mesh;
}

std::string Mesh::text() const {
  std::string all;
  for (const Axis &axis : axes)
    all += concat(all.empty() ? "" : ",", axis.name, "=", axis.size);
  return all;
}

int64_t Mesh::ranks() const {
  int64_t all = 1;
  for (const Axis &axis : axes)
    all *= axis.size;
  return all;
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

std::vector<int64_t> Mesh::along(int64_t rank, unsigned axis) const {
  int64_t stride = strideOf(*this, axis), first = rank - coordinate(rank, axis) * stride;
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < axes[axis].size; ++i)
    ranks.push_back(first + i * stride);
  return ranks;
}

} // namespace weir

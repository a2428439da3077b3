//===- Shares.cpp - Shares of unequal devices -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Shares.h"
#include "support/mesh/Stages.h"
#include <algorithm>
#include <cmath>

namespace weir::planner {

/// The axis with its ranks' shares in proportion to their devices' speeds.
static Mesh::Axis balanced(const Mesh &mesh, unsigned axis, const Cluster &cluster,
                           std::string_view multiplied) {
  std::vector<double> speeds(size_t(mesh.axes[axis].size), HUGE_VAL);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    double &speed = speeds[size_t(mesh.coordinate(rank, axis))];
    speed = std::min(speed, cluster.deviceOf(rank).rateOf(std::string(multiplied)));
  }
  // In as few parts as are accurate enough: rows and layers are few.
  constexpr int64_t finest = 50;
  constexpr double near = 0.05;
  const double fastest = *std::ranges::max_element(speeds);
  Mesh::Axis cut = mesh.axes[axis];
  bool isNear = false;
  for (int64_t parts = 1; parts <= finest && !isNear; ++parts) {
    std::vector<int64_t> shares;
    isNear = true;
    for (double speed : speeds) {
      double wanted = double(parts) * speed / fastest;
      shares.push_back(std::max<int64_t>(1, std::llround(wanted)));
      isNear &= std::abs(double(shares.back()) - wanted) <= near * wanted;
    }
    if (!cut.setShares(std::move(shares)))
      break;
  }
  return cut;
}

std::vector<Mesh> meshesWithShares(const Mesh &mesh, const Cluster &cluster,
                                   std::string_view multiplied) {
  std::vector<Mesh> all = {mesh};
  if (cluster.groups.size() == 1)
    return all;
  std::vector<Mesh> some = {mesh};
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    // Ranks with one row or parameter more or less than others have programs of their own.
    constexpr int64_t mostOfRows = 64;
    const Mesh::Axis &of = mesh.axes[axis];
    if (mayHaveShares(of.name) && (of.name == stageAxis || mesh.ranks() <= mostOfRows))
      for (size_t i = some.size(); i-- > 0;) {
        Mesh shared = some[i];
        shared.axes[axis] = balanced(mesh, axis, cluster, multiplied);
        some.push_back(std::move(shared));
      }
  }
  for (const Mesh &one : some)
    if (std::ranges::find(all, one) == all.end())
      all.push_back(one);
  return all;
}

std::vector<double> slownessOfStages(const Mesh &mesh, const Cluster &cluster,
                                     std::string_view multiplied) {
  const int stage = mesh.find(stageAxis), data = mesh.find(dataAxis);
  const std::string what(multiplied);
  auto rateOf = [&](int64_t rank) { return cluster.deviceOf(rank).rateOf(what); };
  int64_t shared = mesh.ranks() / stagesOf(mesh);
  double most = 1; // of all rows, in units of the average
  if (data >= 0) {
    const Mesh::Axis &axis = mesh.axes[size_t(data)];
    shared /= axis.size;
    most = axis.shareAt(axis.fullest());
  }
  double first = rateOf(0);
  for (int64_t rank = 1; rank < shared; ++rank)
    first = std::min(first, rateOf(rank));
  std::vector<double> slowness(size_t(stagesOf(mesh)), 0);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    double rows =
        data < 0 ? 1 : mesh.axes[size_t(data)].shareAt(mesh.coordinate(rank, unsigned(data)));
    double &slowest = slowness[stage < 0 ? 0 : size_t(mesh.coordinate(rank, unsigned(stage)))];
    slowest = std::max(slowest, rows / most * first / rateOf(rank));
  }
  return slowness;
}

} // namespace weir::planner

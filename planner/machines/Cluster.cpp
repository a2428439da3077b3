//===- Cluster.cpp - Devices, and what joins them --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/Cluster.h"
#include <algorithm>
#include <cstdlib>

namespace weir::planner {

int64_t Cluster::devices() const {
  int64_t all = 0;
  for (const DeviceGroup &group : groups)
    all += group.count;
  return all;
}

const Device &Cluster::deviceOf(int64_t rank) const {
  for (const DeviceGroup &group : groups) {
    if (rank < group.count)
      return group.device;
    rank -= group.count;
  }
  return groups.back().device;
}

bool Cluster::hasRoom(int64_t ranks, int64_t bytes) const {
  int64_t first = 0;
  for (const DeviceGroup &group : groups) {
    if (first < ranks && bytes > group.device.memory)
      return false;
    first += group.count;
  }
  return true;
}

double Device::rateOf(const std::string &multiplied) const {
  auto found = products.rate.find(multiplied.starts_with("f8") ? "f8" : multiplied);
  return found == products.rate.end() ? products.rate.at("f32") : found->second;
}

namespace {

/// A level that members have to cross: how many are joined within each part of a domain, and within
/// the domain.
struct Crossing {
  const LinkLevel &level;
  int64_t inside, joined;
};

std::vector<Crossing> crossings(const Cluster &cluster, Members who) {
  std::vector<Crossing> all;
  int64_t inside = 1;
  for (const LinkLevel &level : cluster.levels) {
    int64_t joined = &level == &cluster.levels.back()
                         ? who.members
                         : std::clamp<int64_t>(level.devices / who.stride, 1, who.members);
    if (joined > inside)
      all.push_back({level, inside, joined});
    inside = std::max(inside, joined);
  }
  return all;
}

/// One step for each part that a domain's members lie in, level by level.
double latencyOf(const std::vector<Crossing> &crossings) {
  double latency = 0;
  for (const Crossing &one : crossings)
    latency += double((one.joined + one.inside - 1) / one.inside - 1) * one.level.latency;
  return latency;
}

} // namespace

Members membersOf(const Mesh &mesh, unsigned axis) {
  Members who{mesh.axes[axis].size, 1};
  for (size_t inner = axis + 1; inner < mesh.axes.size(); ++inner)
    who.stride *= mesh.axes[inner].size;
  return who;
}

bool overlaps(const Cluster &cluster, Members who) {
  return std::ranges::all_of(crossings(cluster, who),
                             [](const Crossing &one) { return one.level.overlaps; });
}

double secondsFor(const Cluster &cluster, Members who, const spec::Exchange &exchange) {
  const double bytes = double(std::max(exchange.sent(), exchange.received()));
  switch (exchange.kind) {
  case spec::CollectiveKind::all_gather:
    return secondsToGather(cluster, who, bytes);
  case spec::CollectiveKind::all_to_all:
    return secondsToExchange(cluster, who, bytes);
  case spec::CollectiveKind::shift:
    return secondsToShift(cluster, who, bytes);
  }
  std::abort(); // there is no such kind
}

double secondsToGather(const Cluster &cluster, Members who, double received) {
  std::vector<Crossing> all = crossings(cluster, who);
  double slowest = 0;
  for (const Crossing &one : all)
    slowest = std::max(slowest, received / (double(one.inside) * one.level.bandwidth));
  return latencyOf(all) + slowest;
}

double secondsToExchange(const Cluster &cluster, Members who, double received) {
  std::vector<Crossing> all = crossings(cluster, who);
  double slowest = 0, others = double(std::max<int64_t>(1, who.members - 1));
  for (const Crossing &one : all)
    slowest = std::max(slowest,
                       received * double(one.joined - one.inside) / others / one.level.bandwidth);
  return latencyOf(all) + slowest;
}

double secondsToShift(const Cluster &cluster, Members who, double bytes) {
  double slowest = 0;
  for (const Crossing &one : crossings(cluster, who))
    slowest = std::max(slowest, one.level.latency + bytes / one.level.bandwidth);
  return slowest;
}

double secondsToSend(const Cluster &cluster, int64_t from, int64_t to, double bytes) {
  for (const LinkLevel &level : cluster.levels)
    if (from / level.devices == to / level.devices)
      return level.latency + bytes / level.bandwidth;
  return 0;
}

} // namespace weir::planner

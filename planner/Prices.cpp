//===- Prices.cpp - Times of a plan's actions on a cluster ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Prices.h"
#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "planner/machines/DevicePrices.h"
#include "support/spec/Call.h"

using namespace mlir;

namespace weir::planner {

double ClusterPrices::secondsOf(plan::CollectiveOp collective) const {
  Members who = membersOf(mesh, unsigned(mesh.find(collective.getAxis().str())));
  return secondsFor(cluster, who, plan::exchangeOf(collective));
}

bool ClusterPrices::overlaps(plan::Action action) {
  auto on = [&](StringRef axis) {
    return planner::overlaps(cluster, membersOf(mesh, unsigned(mesh.find(axis.str()))));
  };
  if (!overlap)
    return false;
  if (auto collective = dyn_cast<plan::CollectiveOp>(*action))
    return on(collective.getAxis());
  return on(stageAxis);
}

ClusterPrices::ClusterPrices(const Cluster &cluster, const Mesh &mesh, int64_t rank,
                             std::string_view multiplied, bool overlap)
    : cluster(cluster), mesh(mesh), rank(rank), multiplied(multiplied), overlap(overlap) {
  auto isAsFar = [&](int64_t other, unsigned axis) {
    return mesh.coordinate(other, axis) == mesh.coordinate(rank, axis);
  };
  auto doesAsMuch = [&](int64_t other) {
    for (auto [number, axis] : llvm::enumerate(mesh.axes))
      if ((axis.name == stageAxis || axis.hasShares()) && !isAsFar(other, unsigned(number)))
        return false;
    return true;
  };
  for (int64_t other = 0; other < mesh.ranks(); ++other)
    if (doesAsMuch(other))
      if (const Device *device = &cluster.deviceOf(other); !llvm::is_contained(devices, device))
        devices.push_back(device);
}

double ClusterPrices::secondsOf(plan::Action action, SymbolTableCollection &symbols) {
  double slowest = 0;
  for (const Device *device : devices)
    slowest = std::max(slowest, secondsOn(*device, action, symbols));
  return slowest;
}

double ClusterPrices::secondsOn(const Device &device, plan::Action action,
                                SymbolTableCollection &symbols) const {
  if (auto collective = dyn_cast<plan::CollectiveOp>(*action))
    return device.launch + secondsOf(collective);
  if (auto send = dyn_cast<plan::SendOp>(*action)) {
    std::vector<int64_t> peers = mesh.along(rank, unsigned(mesh.find(send.getAxis().str())));
    return secondsToSend(cluster, rank, peers[size_t(send.getPeer())], double(send.getSize()));
  }
  spec::Cost cost = action.cost(symbols);
  if (isFromOrToHost(action))
    return double(cost.bytes) / 2 / device.hostBandwidth;
  KernelWork work{WorkKind::elementwise, double(cost.flops), double(cost.bytes)};
  if (auto call = dyn_cast<plan::CallOp>(*action)) {
    spec::Call spec = call.getCall();
    if (auto *product = std::get_if<spec::Product>(&spec))
      return device.launch + planner::secondsOf(device, *product);
    work.kind = WorkKind::convolution;
  }
  if (auto launch = dyn_cast<plan::LaunchOp>(*action)) {
    // The first part has the cost of all work, but each part is a launch.
    auto kernel = symbols.lookupNearestSymbolFrom<plan::KernelOp>(launch, launch.getKernelAttr());
    work.kind = workOf(stringifyKernelShape(kernel.getShape()));
  }
  return device.launch + planner::secondsOf(device, work, multiplied);
}

MeshRates ratesOn(const Cluster &cluster, const Mesh &mesh, std::string_view multiplied) {
  MeshRates rates{{HUGE_VAL, HUGE_VAL}};
  double launch = 0;
  int64_t begin = 0;
  for (const DeviceGroup &group : cluster.groups) {
    if (begin >= mesh.ranks())
      break;
    begin += group.count;
    const DeviceRates device = group.device.ratesFor(std::string(multiplied));
    rates.rank.flopsPerSecond = std::min(rates.rank.flopsPerSecond, device.kernels.flopsPerSecond);
    rates.rank.bytesPerSecond = std::min(rates.rank.bytesPerSecond, device.kernels.bytesPerSecond);
    launch = std::max(launch, device.launchSeconds);
  }
  for (auto [number, axis] : llvm::enumerate(mesh.axes)) {
    if (axis.size == 1)
      continue;
    if (axis.name == stageAxis) {
      // Between neighbours on the slowest link.
      double latency = 0, slowest = 0;
      constexpr double bytes = 1e9;
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        auto place = size_t(mesh.coordinate(rank, unsigned(number)));
        if (place + 1 == size_t(axis.size))
          continue;
        int64_t next = mesh.along(rank, unsigned(number))[place + 1];
        latency = std::max(latency, secondsToSend(cluster, rank, next, 0));
        slowest = std::max(slowest, secondsToSend(cluster, rank, next, bytes));
      }
      double rate = bytes / (slowest - latency);
      rates.axes[axis.name] = {rate, rate, launch + latency};
      continue;
    }
    // Both times grow only with bytes.
    Members who = membersOf(mesh, unsigned(number));
    double latency = secondsToGather(cluster, who, 0);
    constexpr double many = 1e9;
    rates.axes[axis.name] = {many / (secondsToGather(cluster, who, many) - latency),
                             many / (secondsToExchange(cluster, who, many) - latency),
                             launch + latency};
  }
  return rates;
}

MeshRates ratesToPlanFor(const Cluster &cluster, const Mesh &mesh, Precision multiplied) {
  const MeshRates rates = ratesOn(cluster, mesh, nameOf(multiplied));
  return MeshRates::parse(rates.text()).value_or(rates);
}

} // namespace weir::planner

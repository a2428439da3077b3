//===- Prices.cpp - What a plan's actions take on a cluster -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Prices.h"
#include "ir/plan/PlanTransfers.h"
#include "runtime/spec/Call.h"

using namespace mlir;

namespace weir::planner {

/// By what is multiplied; f32's, where the device says nothing of it.
static double rateOf(const ProductRates &products, const spec::Product &product) {
  std::string name = product.rounding == spec::FactorRounding::tf32 ? "tf32"
                     : elementRows[size_t(product.factors)].bytes == 1
                         ? "f8"
                         : elementRows[size_t(product.factors)].name;
  auto found = products.rate.find(name);
  return found == products.rate.end() ? products.rate.at("f32") : found->second;
}

static double ceilOf(double number, double parts) { return std::ceil(number / parts); }

double secondsOf(const Device &device, const spec::Product &product) {
  const ProductRates &rates = device.products;
  double batch = double(product.batch), m = double(product.m), n = double(product.n),
         k = double(product.k), rate = rateOf(rates, product);
  auto ofTiles = [&](double rows, double columns) {
    double tiles = batch * ceilOf(m, rows) * ceilOf(n, columns);
    double ofUnit = 2 * rows * columns * (k + rates.ramp) / (rate / double(rates.units));
    return ceilOf(tiles, double(rates.units)) * ofUnit;
  };
  double rows = double(rates.tileRows), columns = double(rates.tileColumns), best = HUGE_VAL;
  // Smaller tiles fill a device better, and reuse less of what they load.
  for (double part = 1, slower = 1; part <= 4 && rows * columns / part >= 1; part *= 2) {
    double shorter = part >= 2 ? rows / 2 : rows, narrower = part >= 4 ? columns / 2 : columns;
    best =
        std::min({best, slower * ofTiles(shorter, narrower), slower * ofTiles(narrower, shorter)});
    slower *= 1.1;
  }
  return std::max(best, double(product.cost().bytes) / device.bandwidth);
}

double ClusterPrices::secondsOf(plan::CollectiveOp collective) const {
  unsigned axis = unsigned(mesh.find(collective.getAxis().str()));
  Members who{mesh.axes[axis].size, 1};
  for (size_t inner = axis + 1; inner < mesh.axes.size(); ++inner)
    who.stride *= mesh.axes[inner].size;
  auto [sent, got] = bytesMoved(collective);
  double bytes = double(std::max(sent, got));
  switch (collective.getKind()) {
  case plan::CollectiveKind::all_gather:
    return secondsToGather(cluster, who, bytes);
  case plan::CollectiveKind::all_to_all:
    return secondsToExchange(cluster, who, bytes);
  case plan::CollectiveKind::shift:
    return secondsToShift(cluster, who, bytes);
  }
  llvm_unreachable("no such kind");
}

ClusterPrices::ClusterPrices(const Cluster &cluster, const Mesh &mesh, int64_t rank,
                             std::string_view multiplied)
    : cluster(cluster), mesh(mesh), rank(rank), multiplied(multiplied) {
  int axis = mesh.find(stageAxis);
  for (int64_t other = 0; other < mesh.ranks(); ++other)
    if (axis < 0 || mesh.coordinate(other, unsigned(axis)) == mesh.coordinate(rank, unsigned(axis)))
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
  auto rateOr = [&](double rate, double part) {
    return rate > 0 ? rate : part * device.rateOf(multiplied);
  };
  double flops = double(cost.flops), touching = double(cost.bytes) / device.bandwidth;
  if (auto call = dyn_cast<plan::CallOp>(*action)) {
    spec::Call spec = call.getCall();
    if (auto *product = std::get_if<spec::Product>(&spec))
      return device.launch + planner::secondsOf(device, *product);
    return device.launch + std::max(flops / rateOr(device.convolution, 1), touching);
  }
  double rate = device.elementwise > 0 ? device.elementwise : device.products.rate.at("f32") / 2;
  if (auto launch = dyn_cast<plan::LaunchOp>(*action)) {
    // The first part has all the work, but each is a launch.
    auto kernel = symbols.lookupNearestSymbolFrom<plan::KernelOp>(launch, launch.getKernelAttr());
    switch (kernel.getShape()) {
    case KernelShape::attention:
      rate = rateOr(device.attention, 0.5);
      break;
    case KernelShape::product:
      rate = rateOr(device.convolution, 1);
      break;
    default:
      break;
    }
  }
  return device.launch + std::max(flops / rate, touching);
}

} // namespace weir::planner

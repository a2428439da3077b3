//===- DevicePrices.cpp - What a device's work takes -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/DevicePrices.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace weir::planner {

std::string multipliedBy(const spec::Product &product) {
  if (product.rounding == spec::FactorRounding::tf32)
    return "tf32";
  const ElementRow &row = elementRows[size_t(product.factors)];
  return row.bytes == 1 ? "f8" : row.name;
}

static double ceilOf(double number, double parts) { return std::ceil(number / parts); }

double secondsOf(const Device &device, const spec::Product &product) {
  const ProductRates &rates = device.products;
  double batch = double(product.batch), m = double(product.m), n = double(product.n),
         k = double(product.k), rate = device.rateOf(multipliedBy(product));
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

WorkKind workOf(std::string_view shape) {
  return shape == "attention" ? WorkKind::attention
         : shape == "product" ? WorkKind::convolution
                              : WorkKind::elementwise;
}

double rateOf(const Device &device, WorkKind kind, const std::string &multiplied) {
  switch (kind) {
  case WorkKind::elementwise:
    return device.elementwise > 0
               ? device.elementwise
               : device.products.rate.at("f32") * machines::elementwiseOfProducts;
  case WorkKind::attention:
    return device.attention > 0 ? device.attention
                                : machines::attentionOfProducts * device.rateOf(multiplied);
  case WorkKind::convolution:
    return device.convolution > 0 ? device.convolution
                                  : machines::convolutionOfProducts * device.rateOf(multiplied);
  }
  std::abort(); // there is no such kind
}

double secondsOf(const Device &device, const KernelWork &work, const std::string &multiplied) {
  return Rates{rateOf(device, work.kind, multiplied), device.bandwidth}.secondsOf(work.flops,
                                                                                  work.bytes);
}

} // namespace weir::planner

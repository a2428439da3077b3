//===- FitDevice.cpp - A device's figures from what its work took ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/FitDevice.h"
#include <algorithm>
#include <cmath>
#include <functional>

namespace weir::planner {
namespace {

/// Changes figures by factors, each less than the last, as long as the error falls.
void lower(const std::function<double()> &error, std::initializer_list<double *> figures) {
  double least = error();
  for (double step = 2; step > 1.002; step = std::sqrt(step))
    for (bool changed = true; changed;) {
      changed = false;
      for (double *figure : figures)
        for (double factor : {step, 1 / step}) {
          double before = *figure;
          *figure *= factor;
          if (double now = error(); now < least) {
            least = now;
            changed = true;
          } else {
            *figure = before;
          }
        }
    }
}

/// How far a prediction is off, in parts, times the seconds that it is of.
double errorOf(double predicted, double seconds) {
  return seconds * std::abs(std::log(predicted / seconds));
}

class Fit {
public:
  Fit(Device &device, const std::vector<MeasuredWork> &measured) : device(device) {
    for (const MeasuredWork &one : measured)
      if (one.seconds > 0)
        all.push_back(one);
  }

  void run() {
    launch();
    if (std::vector<MeasuredWork> some = kernels(WorkKind::elementwise); !some.empty()) {
      device.elementwise = planner::rateOf(device, WorkKind::elementwise, "f32");
      lower([&] { return errorOfAll(some); }, {&device.elementwise, &device.bandwidth});
    }
    device.attention = rateOf(WorkKind::attention, device.attention);
    device.convolution = rateOf(WorkKind::convolution, device.convolution);
    products();
  }

private:
  std::vector<MeasuredWork> kernels(WorkKind kind) const {
    std::vector<MeasuredWork> some;
    for (const MeasuredWork &one : all)
      if (auto *work = std::get_if<KernelWork>(&one.work); work && work->kind == kind)
        some.push_back(one);
    return some;
  }

  double errorOfAll(const std::vector<MeasuredWork> &some) const {
    double error = 0;
    for (const MeasuredWork &one : some)
      error +=
          errorOf(device.launch + (std::holds_alternative<spec::Product>(one.work)
                                       ? secondsOf(device, std::get<spec::Product>(one.work))
                                       : secondsOf(device, std::get<KernelWork>(one.work), "f32")),
                  one.seconds);
    return error;
  }

  /// What kernels take that have next to nothing to do.
  void launch() {
    constexpr double nothing = 4096;
    std::vector<double> seconds;
    for (const MeasuredWork &one : kernels(WorkKind::elementwise))
      if (auto &work = std::get<KernelWork>(one.work); work.bytes + work.flops <= nothing)
        seconds.push_back(one.seconds);
    if (seconds.empty())
      return;
    std::ranges::nth_element(seconds, seconds.begin() + int64_t(seconds.size() / 2));
    device.launch = seconds[seconds.size() / 2];
  }

  /// All work by all time.
  double rateOf(WorkKind kind, double known) const {
    double flops = 0, seconds = 0;
    for (const MeasuredWork &one : kernels(kind)) {
      flops += std::get<KernelWork>(one.work).flops;
      seconds += one.seconds;
    }
    return flops > 0 ? flops / seconds : known;
  }

  /// The ramp is that of the first kind of products; others have their rate alone.
  void products() {
    std::map<std::string, std::vector<MeasuredWork>> kinds;
    for (const MeasuredWork &one : all)
      if (auto *product = std::get_if<spec::Product>(&one.work))
        kinds[multipliedBy(*product)].push_back(one);
    for (auto &[name, some] : kinds)
      device.products.rate.try_emplace(name, device.products.rate.at("f32"));
    if (kinds.contains("f32")) {
      if (device.products.ramp <= 0)
        device.products.ramp = 8;
      lower([&] { return errorOfAll(kinds["f32"]); },
            {&device.products.rate["f32"], &device.products.ramp});
      if (device.products.ramp < 0.5)
        device.products.ramp = 0;
    }
    for (auto &[name, some] : kinds)
      lower([&] { return errorOfAll(some); }, {&device.products.rate[name]});
  }

  Device &device;
  std::vector<MeasuredWork> all;
};

} // namespace

void fitDevice(Device &device, const std::vector<MeasuredWork> &measured) {
  Fit(device, measured).run();
}

void fitLinks(LinkLevel &level, int64_t members, const std::vector<MeasuredGather> &measured) {
  constexpr Link start{.bytesPerSecond = 1e9, .latency = 1e-5}; // of the fit
  level.bandwidth = level.bandwidth > 0 ? level.bandwidth : start.bytesPerSecond;
  level.latency = level.latency > 0 ? level.latency : start.latency;
  lower(
      [&] {
        double error = 0;
        for (const MeasuredGather &one : measured) {
          double predicted = double(members - 1) * level.latency + one.received / level.bandwidth;
          error += std::abs(std::log(predicted / one.seconds)); // each size as much as another
        }
        return error;
      },
      {&level.bandwidth, &level.latency});
}

} // namespace weir::planner

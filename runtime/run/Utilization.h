//===- Utilization.h - MFU and HFU ----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Model FLOPs of a step, and executed FLOPs (artifact/Flops.h), per second, divided by the
// peak of all devices. --peak-flops states the peak of one device, or measures it. Without the
// option, there are no such figures.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_UTILIZATION_H
#define WEIR_RUNTIME_RUN_UTILIZATION_H

#include "artifact/Artifact_generated.h"
#include "runtime/report/Record.h"
#include "runtime/run/RunOptions.h"
#include <optional>

namespace weir {

/// FLOPs per second: "1.5T", "900G", "2e12". Nothing for "measure"; throws std::invalid_argument,
/// with a message, for anything else.
std::optional<double> readPeak(const std::string &text);

class Utilization {
public:
  /// Measures the peak if requested, on the device that the options name. All processes of a group
  /// call this together, also those without the option. Throws Failure(Exit::usage) if that is not
  /// possible.
  Utilization(const artifact::Program &program, const artifact::Entry &step,
              const RunOptions &options);

  /// A line with the peak and its source; "" without the option.
  std::string notice() const;

  /// Adds mfu and hfu to the record of a step.
  void add(StepRecord &record);

  /// peak_flops, peak_measured (0 or 1), and mfu and hfu over all steps except the first, or of the
  /// first if there is no other.
  void addTo(Values &results) const;

private:
  void findPeak(const artifact::Program &program, const artifact::Entry &step,
                const RunOptions &options);
  void addOthers(const artifact::Program &program, const RunOptions &options);
  std::optional<double> of(std::optional<double> flops, double seconds) const;

  std::optional<double> model, executed; ///< FLOPs of a step
  std::optional<double> peak;            ///< FLOPs per second, of all devices
  int64_t devices = 1;                   ///< that run a step together
  bool measured = false;
  std::string multiplied; ///< the type in which the peak was measured
  double first = 0, later = 0;
  int64_t steps = 0;
};

} // namespace weir

#endif

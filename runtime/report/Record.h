//===- Record.h - What there is to report ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_RECORD_H
#define WEIR_RUNTIME_REPORT_RECORD_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir {

/// Named values in the order they are to be shown.
using Values = std::vector<std::pair<std::string, double>>;

struct StepRecord {
  int64_t step = 0;   ///< steps done, this one included
  Values values;      ///< loss, lr, grad_norm, each metric: what the model's step gives
  double seconds = 0; ///< of this step
  double units = 0;   ///< tokens or samples of this step
  double ran = 0;     ///< of the seconds, those of the step's actions
  double waited = 0;  ///< seconds before them, for the step's data
  std::optional<double> mfu = {}, hfu = {}; ///< where they are known (runtime/run/Utilization.h)
};

} // namespace weir

#endif

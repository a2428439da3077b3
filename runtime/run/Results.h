//===- Results.h - The results of a run -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESULTS_H
#define WEIR_RUNTIME_RUN_RESULTS_H

#include "runtime/report/Record.h"
#include "runtime/run/RunOptions.h"

namespace weir {

/// A figure as text: counts as integers, averages with `format`, "%.4f".
std::string shownFigure(const std::string &name, double value, const char *format);

/// Prints the results and, with --json, the seconds of the run and the profile, which is JSON or
/// "". Prints on standard output or, if its reader has closed it or --metrics - writes there, on
/// standard error.
void printResults(const Values &results, const RunOptions &options, double seconds,
                  const std::string &profile = "");

} // namespace weir

#endif

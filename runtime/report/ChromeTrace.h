//===- ChromeTrace.h - A run's actions on a time line ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_CHROMETRACE_H
#define WEIR_RUNTIME_REPORT_CHROMETRACE_H

#include "artifact/Artifact_generated.h"
#include "runtime/core/Trace.h"
#include <string>
#include <vector>

namespace weir {

/// The events in the JSON format that chrome://tracing and Perfetto open: a slice per action, named
/// by its kernel or product, with the model's lines and the ops it computes.
std::string chromeTrace(const artifact::Program &program, const std::vector<Trace::Event> &events);

/// Writes that to `path`. Throws Failure(Exit::storage).
void writeChromeTrace(const std::string &path, const artifact::Program &program,
                      const std::vector<Trace::Event> &events);

} // namespace weir

#endif

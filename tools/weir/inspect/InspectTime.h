//===- InspectTime.h - weir inspect --time --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTTIME_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTTIME_H

#include "runtime/artifact/Artifact_generated.h"
#include "runtime/base/MachineRates.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace weir {

/// What a prediction is of. What is not given is assumed, and said to be.
struct TimeOptions {
  std::string link;  ///< as Link::parse takes it; "": machines::defaultLink
  std::string rates; ///< as Rates::parse takes them; "": those of the target
};

/// How fast a target's device is taken to be.
using RatesOfTarget = Rates (*)(const std::string &target);

/// As JSON; the text form prints it and adds nothing. Times are seconds, of a step on the first
/// rank:
///
///   model, target, mesh
///   rates {flops_per_second, bytes_per_second, assumed}
///   link {bytes_per_second, latency, assumed}
///   seconds: of the step, with what goes on beside it
///   one_after_the_other: of the same actions, were there nothing beside
///   computing: of the step, did collectives take nothing
///   communicating: what these take, together
///   exposed: what the step takes for them
///   lines [{at, times, bytes, communicating, exposed, rest_communicating, rest_exposed}]: by line
///     of the model; `exposed`: what the step would take less if those of the line took nothing;
///     `rest_`: of all other lines, if they were alone
///
/// `program` has been verified (runtime/artifact/Reader.h).
nlohmann::ordered_json describeTime(const artifact::Program &program, const TimeOptions &options,
                                    RatesOfTarget ratesOf);

/// Prints an artifact's. Throws Failure(Exit::model).
void inspectTime(const std::string &path, const TimeOptions &options, RatesOfTarget ratesOf,
                 bool json);

} // namespace weir

#endif

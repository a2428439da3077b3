//===- InspectTime.h - weir inspect --time --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTTIME_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTTIME_H

#include "artifact/Artifact_generated.h"
#include "support/mesh/MachineRates.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace weir {

/// The rates of a prediction. A rate that is not given is a default, and the output says so.
struct TimeOptions {
  std::string link;  ///< as Link::parse reads it; "": machines::defaultLink
  std::string rates; ///< as Rates::parse reads them; "": those of the target
};

/// The assumed rates of a target's device.
using RatesOfTarget = Rates (*)(const std::string &target);

/// The prediction as JSON; the text form prints the same facts. Times are seconds, of a step on the
/// first rank:
///
///   model, target, mesh
///   rates {flops_per_second, bytes_per_second, assumed}
///   link {bytes_per_second, latency, assumed}
///   seconds: the step, with overlap
///   one_after_the_other: the same actions without overlap
///   computing: the step if collectives were free
///   communicating: the sum of the collectives' times
///   exposed: seconds - computing
///   lines [{at, times, bytes, communicating, exposed, rest_communicating, rest_exposed}]: by line
///     of the model; `exposed`: the time that the step would save if the line's collectives were
///     free; `rest_`: the same of all other lines, while this line's collectives are free
///
/// `program` has been verified (artifact/Reader.h).
nlohmann::ordered_json describeTime(const artifact::Program &program, const TimeOptions &options,
                                    RatesOfTarget ratesOf);

/// Prints the prediction for an artifact. Throws Failure(Exit::model).
void inspectTime(const std::string &path, const TimeOptions &options, RatesOfTarget ratesOf,
                 bool json);

} // namespace weir

#endif

//===- TargetRates.h - How fast devices are taken to be -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PLANNING_TARGETRATES_H
#define WEIR_TOOLS_WEIR_PLANNING_TARGETRATES_H

#include "support/mesh/MachineRates.h"
#include <string>

namespace weir {

/// What the compiler takes an artifact's target for, where it compares schedules. Throws
/// Failure(Exit::model) where it knows no such target.
Rates ratesOfTarget(const std::string &target);

} // namespace weir

#endif

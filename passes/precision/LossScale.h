//===- LossScale.h - Which loss scale a precision has ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_LOSSSCALE_H
#define WEIR_PASSES_PRECISION_LOSSSCALE_H

#include "runtime/base/Element.h"
#include "runtime/base/LossScale.h"

namespace weir {

/// What `--loss-scale` names, where the precision needs one; of "" the usual scale of the
/// precision. Otherwise nothing, and why in `problem`.
std::optional<LossScale> lossScaleFor(std::string_view name, Element precision,
                                      std::string &problem);

} // namespace weir

#endif

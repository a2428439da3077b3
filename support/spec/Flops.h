//===- Flops.h - What library calls multiply ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_FLOPS_H
#define WEIR_SUPPORT_SPEC_FLOPS_H

#include "support/spec/Call.h"

namespace weir::spec {

/// Numbers of that type, in so many FLOPs: two for each multiplication with its addition.
struct Multiplied {
  Element factors = Element::f32;
  uint64_t flops = 0;
};

inline Multiplied multiplied(const Product &call) { return {call.factors, call.cost().flops}; }
inline Multiplied multiplied(const Convolution &call) { return {call.factors, call.cost().flops}; }
inline Multiplied multiplied(const Pooling &) { return {}; }

inline Multiplied multiplied(const Call &call) {
  return std::visit([](const auto &one) { return multiplied(one); }, call);
}

} // namespace weir::spec

#endif

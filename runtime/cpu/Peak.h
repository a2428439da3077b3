//===- Peak.h - How fast a processor multiplies ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_PEAK_H
#define WEIR_RUNTIME_CPU_PEAK_H

#include "support/precision/Element.h"

namespace weir::cpu {

/// FLOPs per second of the fastest product of square matrices of that type that was found in 0.2 s
/// of the threads' time, and in 3 s by the clock: sizes grow fourfold in work, up to the largest
/// that a few runs of fit. As the library computes for the device that was made last, on so many
/// threads; 0: the cores this process may use. Throws Failure(Exit::device).
double measurePeak(Element factors, int threads);

} // namespace weir::cpu

#endif

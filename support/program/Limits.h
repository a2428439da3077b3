//===- Limits.h - What a plan may be at most ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same for who makes a plan, proves it, reads it from a file and executes it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PROGRAM_LIMITS_H
#define WEIR_SUPPORT_PROGRAM_LIMITS_H

#include <cstdint>

namespace weir::limits {

/// Variables, buffers, and every entry's scratch begin at multiples of this many bytes.
constexpr uint64_t alignment = 64;
constexpr uint32_t loops = 4;      ///< around one another
constexpr uint32_t rounds = 65536; ///< of a loop, and so microbatches of a step
constexpr uint32_t queues = 32;
constexpr uint32_t strategyText = 65536;              ///< bytes
constexpr uint64_t threadScratch = uint64_t(1) << 34; ///< bytes

} // namespace weir::limits

#endif

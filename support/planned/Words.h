//===- Words.h - Names of things in messages about faults -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_WORDS_H
#define WEIR_SUPPORT_PLANNED_WORDS_H

#include "support/planned/FlatPlan.h"

namespace weir::planned {

/// " 'norm'", or "" if there is no name.
std::string quoted(const std::string &name);
/// "action 7 'norm'"
std::string actionWords(const FlatPlan &plan, uint32_t action);
/// "buffer 3 'x'"
std::string bufferWords(const Entry &entry, uint32_t buffer);
/// "action 7 'norm' on queue 1, access 'in' to buffer 3 'x'"; "the host, ..."
std::string accessWords(const FlatPlan &plan, const Placed &placed);
/// "bytes [0, 64)", of the access's buffer; `begin` and `end` are from its space's start.
std::string bytesWords(const FlatPlan &plan, const Placed &placed, uint64_t begin, uint64_t end);

} // namespace weir::planned

#endif

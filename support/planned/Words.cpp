//===- Words.cpp - Names of things in messages about faults ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Words.h"
#include "support/Utf8.h"

namespace weir::planned {

std::string quoted(const std::string &name) {
  return name.empty() ? "" : " '" + shownName(name) + "'";
}

std::string actionWords(const FlatPlan &plan, uint32_t action) {
  return "action " + std::to_string(action) + quoted(plan.steps[action].action->name);
}

std::string bufferWords(const Entry &entry, uint32_t buffer) {
  return "buffer " + std::to_string(buffer) + quoted(entry.buffers[buffer].name);
}

std::string accessWords(const FlatPlan &plan, const Placed &placed) {
  std::string buffer = bufferWords(plan.entry, placed.buffer);
  if (!placed.access)
    return "the contents of " + buffer;
  std::string who = "the host";
  if (placed.action < plan.steps.size())
    who = actionWords(plan, placed.action) + " on queue " + std::to_string(placed.queue);
  return who + ", access" + quoted(placed.access->name) + " to " + buffer;
}

std::string bytesWords(const FlatPlan &plan, const Placed &placed, uint64_t begin, uint64_t end) {
  uint64_t start = plan.entry.buffers[placed.buffer].offset;
  return "bytes [" + std::to_string(begin - start) + ", " + std::to_string(end - start) + ")";
}

} // namespace weir::planned

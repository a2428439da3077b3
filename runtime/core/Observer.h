//===- Observer.h - Who looks on as actions run ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_OBSERVER_H
#define WEIR_RUNTIME_CORE_OBSERVER_H

#include <cstdint>

namespace weir {

/// Which run of which action.
struct ActionPlace {
  uint32_t entry;  ///< index into the artifact's entries
  uint32_t action; ///< numbered depth first, as in the artifact
  uint32_t round;  ///< of the loops around it, counted over all their rounds; else 0
};

/// Called on the thread that runs the entry, while no other thread works. What it throws ends the
/// run of the entry.
class Observer {
public:
  virtual ~Observer() = default;
  /// Around every action; a loop's calls enclose those of its body's actions.
  virtual void before(const ActionPlace &place) = 0;
  virtual void after(const ActionPlace &place) = 0;
};

} // namespace weir

#endif

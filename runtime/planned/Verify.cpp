//===- Verify.cpp - Proves that a planned entry is safe to run ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/planned/Verify.h"
#include "runtime/planned/Walk.h"

namespace weir::planned {

Verdict verify(const Entry &entry, const Limits &limits) {
  Outline outline(entry);
  if (Finding fault = outline.build())
    return {fault};
  if (Finding fault = checkBounds(outline))
    return {fault};
  if (Finding fault = checkLifetimes(outline))
    return {fault};
  Walk walk(outline, limits);
  Finding fault = walk.run();
  return {fault, walk.steps(), walk.roundsLeftOut()};
}

} // namespace weir::planned

//===- FormerNames.h - Ops by the names that they had before ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models, checkpoints and artifacts of earlier releases contain names that ops no longer have.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_FORMERNAMES_H
#define WEIR_IR_WEIR_FORMERNAMES_H

#include "llvm/ADT/StringRef.h"

namespace weir {

/// An op that was renamed. Names are without the dialect.
struct FormerName {
  llvm::StringLiteral before, now;
};

inline constexpr FormerName formerNames[] = {{"attend", "attention"},
                                             {"attend_grad", "attention_grad"}};

/// The name that the op `now` had before; "" if it was not renamed.
inline llvm::StringRef formerNameOf(llvm::StringRef now) {
  for (const FormerName &name : formerNames)
    if (now == name.now)
      return name.before;
  return {};
}

/// The present name of the op that was called `before`; "" if no op was.
inline llvm::StringRef presentNameOf(llvm::StringRef before) {
  for (const FormerName &name : formerNames)
    if (before == name.before)
      return name.now;
  return {};
}

} // namespace weir

#endif

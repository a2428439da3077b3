//===- Faults.h - What a faulty pass would do ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_VERIFY_FAULTS_H
#define WEIR_TEST_VERIFY_FAULTS_H

#include "test/verify/SmallModel.h"

namespace weir::test {

struct Fault {
  const char *name;
  const char *pass;
  const char *op;                            ///< part of what is to be blamed
  const char *line;                          ///< part of its line of the model
  std::function<bool(mlir::ModuleOp)> plant; ///< whether it found where to
  int microbatches = 1;
};

inline void PrintTo(const Fault &fault, std::ostream *stream) { *stream << fault.name; }

/// Faults of the small model's passes.
const std::vector<Fault> &faults();

} // namespace weir::test

#endif

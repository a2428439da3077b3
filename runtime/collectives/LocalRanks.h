//===- LocalRanks.h - Ranks that are threads of one process ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_LOCALRANKS_H
#define WEIR_RUNTIME_COLLECTIVES_LOCALRANKS_H

#include "runtime/base/Mesh.h"
#include "runtime/core/Transport.h"
#include <memory>

namespace weir::collectives {

/// Members meet and copy out of each other's memory.
class LocalRanks {
public:
  explicit LocalRanks(const Mesh &mesh);
  ~LocalRanks();

  /// The rank's end, as long as this lives. A thread of its own calls it.
  Transport &of(int64_t rank);

  /// The rank has failed: whoever waits for a member, or comes later, throws.
  void end();
  /// The rank is done: whoever waits for it throws.
  void finish(int64_t rank);
  /// All of them go on, none waits for another.
  void begin();

  struct Impl;

private:
  std::unique_ptr<Impl> impl;
};

} // namespace weir::collectives

#endif

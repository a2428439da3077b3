//===- LocalRanks.h - Ranks that are threads of one process ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_LOCALRANKS_H
#define WEIR_RUNTIME_COLLECTIVES_LOCALRANKS_H

#include "runtime/core/Group.h"
#include "runtime/core/Transport.h"
#include "support/mesh/Mesh.h"
#include <memory>

namespace weir::collectives {

/// Members meet and copy out of each other's memory.
class LocalRanks {
public:
  /// All ranks are here. `patience`: how long one waits elsewhere than in exchange().
  explicit LocalRanks(const Mesh &mesh, std::chrono::seconds patience = std::chrono::minutes(5));
  /// Those that this process has (RankPlacement.h), and others are with the processes of the group.
  /// All ranks have to come to the same exchanges in the same order: the processes have one in
  /// each, of what all of their ranks give each other. So have they to sends and receives, each of
  /// which waits for the ranks that are here: what they send is one message.
  LocalRanks(const Mesh &mesh, const Mesh &hosts, Group &group);
  ~LocalRanks();

  /// The end of a rank that is here, as long as this lives. A thread of its own calls it.
  Transport &of(int64_t rank);

  /// The rank has failed: whoever waits for a member, or comes later, throws.
  void end();
  /// The rank is done: whoever waits for it throws.
  void finish(int64_t rank);
  /// All of them go on, none waits for another.
  void begin();

  struct Impl;

private:
  void open();
  std::unique_ptr<Impl> impl;
};

} // namespace weir::collectives

#endif

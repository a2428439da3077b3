//===- Ranks.h - Whose bytes of a checkpoint are whose --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint's files are of whole tensors, whatever mesh they were saved on. Where ranks are
// several processes, each byte of a file is one's to save and to verify: of a tensor that the
// program has the owner's (Device::forEachOwned), of all else rank 0's.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_RANKS_H
#define WEIR_RUNTIME_CHECKPOINT_RANKS_H

#include "runtime/checkpoint/SafeTensors.h"
#include "runtime/core/Group.h"
#include "runtime/core/Program.h"

namespace weir {

/// The processes that save and load together; both have to outlive this.
struct Ranks {
  Group *group = nullptr;                             ///< null: this process is alone
  const std::vector<TensorView> *variables = nullptr; ///< of the program; null: all bytes are rank
                                                      ///< 0's

  bool isFirst() const { return !group || group->rank() == 0; }

  /// collectives::allOrNone of the group.
  void allOrNone(const std::string &what, const std::function<void()> &body) const;
  /// What the first has, for all.
  std::string ofFirst(const std::string &what, const std::string &text) const;
  /// Throws Failure(Exit::usage) where a process has another text than the first.
  void requireSame(const std::string &what, const std::string &named,
                   const std::string &text) const;
  /// The sum of all processes' values of a FileSum.
  uint64_t added(const std::string &what, uint64_t sum) const;
};

/// The sum (FileSum.h) of the bytes of a file that are this process's. It touches no others. The
/// file has `tensors`, which are parameters, or everything else.
uint64_t sumOfOwned(std::span<const std::byte> file,
                    const std::map<std::string, StoredTensor> &tensors, bool areParameters,
                    const Ranks &ranks);

} // namespace weir

#endif

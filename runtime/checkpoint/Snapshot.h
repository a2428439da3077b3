//===- Snapshot.h - A copy of what is saved, while steps go on ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_SNAPSHOT_H
#define WEIR_RUNTIME_CHECKPOINT_SNAPSHOT_H

#include "runtime/checkpoint/SafeTensors.h"
#include "runtime/core/Program.h"

namespace weir {

/// The bytes that this process saves of a program's variables, in the host's memory.
class Snapshot {
public:
  /// Takes the memory. The variables have to outlive this.
  explicit Snapshot(const std::vector<TensorView> &variables);

  /// What that is.
  static uint64_t bytesOf(const std::vector<TensorView> &variables);

  /// Copies them as they are now.
  void take();

  /// As storedParameters() and storedState(), with the bytes of the copy. This has to outlive them.
  std::vector<StoredTensor> parameters() const;
  std::vector<StoredTensor> state() const;

private:
  std::vector<StoredTensor> ofCopy(std::vector<StoredTensor> tensors, bool areParameters) const;

  const std::vector<TensorView> &variables;
  std::vector<std::byte> copy; ///< of each variable, one behind the other, in the order of visits
};

} // namespace weir

#endif

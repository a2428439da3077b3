//===- MachineMemory.h - How much memory a process may use ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_MACHINEMEMORY_H
#define WEIR_RUNTIME_BASE_MACHINEMEMORY_H

#include <cstdint>

namespace weir {

/// The bytes of memory, swap included, that this process may use: the machine's, bounded by its
/// control groups' limits (memory.max of version 2, memory.limit_in_bytes of version 1) and by
/// what ulimit -v says of this process. 0: not known.
uint64_t machineMemory();

} // namespace weir

#endif

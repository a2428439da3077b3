//===- CheckWritten.cpp - Whether the compiler's artifact can be run ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/CheckWritten.h"
#include "artifact/Actions.h"
#include "artifact/Header.h"
#include "artifact/Reader.h"
#include "runtime/devices/Devices.h"
#include "support/Error.h"
#include <string>

namespace weir {

void checkWritten(std::span<const std::byte> file) {
  uint64_t arena =
      artifact::deviceOf(*artifact::GetProgram(file.data() + sizeof(artifact::Header))).arena();
  if (arena > artifact::maxArena)
    throw Failure(Exit::device, "the model needs " + std::to_string(arena >> 30) +
                                    " GiB of memory, but an artifact can use at most " +
                                    std::to_string(artifact::maxArena >> 30) +
                                    " GiB: make the model or its batch smaller (--set)");
  try {
    checkProgram(file);
  } catch (const Failure &failure) {
    if (failure.exit != Exit::model)
      throw;
    throw Failure(
        Exit::internal,
        std::string("a fault of Weir's own, please report it with the model: the compiler "
                    "wrote an artifact that it would not run: ") +
            failure.what());
  }
}

} // namespace weir

//===- Inspect.cpp - weir inspect -----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/Inspect.h"
#include "artifact/Reader.h"
#include "tools/common/Files.h"
#include "tools/weir/inspect/Describe.h"
#include "tools/weir/inspect/PrintFacts.h"

namespace weir {

void inspect(const std::string &path, bool json) {
  std::vector<std::byte> bytes = readUndamagedArtifact(path);
  printFacts(describe(artifact::verify(bytes)), json, printDescription);
}

} // namespace weir

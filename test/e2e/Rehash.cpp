//===- Rehash.cpp - Makes a changed artifact's hash right again -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rehash IN OUT: for tests that change an artifact and want the checks behind the hash to answer.
//
//===----------------------------------------------------------------------===//

#include "artifact/Header.h"
#include "tools/common/Files.h"

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  std::vector<std::byte> file = weir::readArtifact(argv[1]);
  if (file.size() < sizeof(weir::artifact::Header))
    return 2;
  weir::writeFile(argv[2], weir::artifact::wrap(std::span<const std::byte>(file).subspan(32)));
}

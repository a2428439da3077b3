//===- Inspect.cpp - weir inspect -----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/Inspect.h"
#include "runtime/artifact/Reader.h"
#include "runtime/base/Utf8.h"
#include "tools/common/Files.h"
#include "tools/weir/Describe.h"
#include <iostream>
#include <sstream>

namespace weir {

void inspect(const std::string &path, bool json) {
  std::vector<std::byte> bytes = readArtifact(path);
  nlohmann::ordered_json facts = describe(artifact::verify(bytes));
  if (json) {
    std::cout << facts.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::ostringstream text;
    printDescription(facts, text);
    std::cout << printable(text.str());
  }
}

} // namespace weir

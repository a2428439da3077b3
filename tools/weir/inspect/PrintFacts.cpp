//===- PrintFacts.cpp - What weir inspect has found, in one of two forms ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/PrintFacts.h"
#include "support/Utf8.h"
#include <iostream>
#include <sstream>

namespace weir {

void printFacts(const nlohmann::ordered_json &facts, bool json,
                void (*print)(const nlohmann::ordered_json &, std::ostream &)) {
  if (json) {
    std::cout << facts.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  std::ostringstream text;
  print(facts, text);
  std::cout << printable(text.str());
}

} // namespace weir

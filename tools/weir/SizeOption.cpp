//===- SizeOption.cpp - Sizes on the command line -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/SizeOption.h"
#include "runtime/base/MachineMemory.h"
#include "tools/common/CommandLine.h"
#include <cstdlib>
#include <strings.h>

namespace weir {

std::string sizeInBytes(const std::string &text, bool &saysHere) {
  // A process has more than what its run is said to take: its code, its libraries.
  constexpr uint64_t ofProcess = uint64_t(64) << 20;
  if (text == "here") {
    uint64_t bytes = machineMemory();
    if (bytes <= ofProcess)
      throw CLI::ValidationError("this machine does not say how much memory it has: give a size");
    saysHere = true;
    return std::to_string(bytes - ofProcess);
  }
  constexpr std::pair<const char *, double> units[] = {
      {"", 1},      {"B", 1},         {"kB", 1e3},      {"MB", 1e6},      {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1ll << 40}};
  const char *end = text.c_str();
  double number = std::strtod(text.c_str(), const_cast<char **>(&end));
  while (*end == ' ')
    ++end;
  std::string unit(end);
  unit.erase(unit.find_last_not_of(' ') + 1);
  for (auto [name, bytes] : units)
    if (end != text.c_str() && strcasecmp(unit.c_str(), name) == 0 && number * bytes >= 1 &&
        number * bytes < 1e18)
      return std::to_string(int64_t(number * bytes));
  throw CLI::ValidationError(text + " is no size: expected one such as 6GiB, 500MB or 2000000000, "
                                    "or here, for what this machine has");
}

} // namespace weir

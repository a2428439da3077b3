//===- SizeOption.cpp - Sizes on the command line -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/options/SizeOption.h"
#include "runtime/base/MachineMemory.h"
#include "tools/common/CommandLine.h"
#include <charconv>
#include <strings.h>

namespace weir {

std::string sizeInBytes(const std::string &text, bool &saysHere) {
  if (text == "here") {
    uint64_t bytes = machineMemory();
    if (bytes <= bytesOfProcess)
      throw CLI::ValidationError("the memory of this machine is not known: give a size");
    saysHere = true;
    return std::to_string(bytes - bytesOfProcess);
  }
  constexpr std::pair<const char *, double> units[] = {
      {"", 1},      {"B", 1},         {"kB", 1e3},      {"MB", 1e6},      {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1ll << 40}};
  // In decimal digits, unlike strtod: it reads 0x10.
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit = text.substr(size_t(end - text.data()));
  unit.erase(0, unit.find_first_not_of(' '));
  unit.erase(unit.find_last_not_of(' ') + 1);
  for (auto [name, bytes] : units)
    if (error == std::errc() && strcasecmp(unit.c_str(), name) == 0 && number * bytes >= 1 &&
        number * bytes < 1e18)
      return std::to_string(int64_t(number * bytes));
  throw CLI::ValidationError(
      "expected a size such as 6GiB, 500MB or 2000000000, or `here` for this "
      "machine's memory, but found " +
      text);
}

} // namespace weir

//===- MachineMemory.cpp - How much memory a process may use --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/MachineMemory.h"
#include <algorithm>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/sysinfo.h>

namespace weir {
namespace {

/// A limit that a file states in bytes; UINT64_MAX where there is none, or "max".
uint64_t limitIn(const std::string &path) {
  std::ifstream file(path);
  uint64_t bytes;
  return file >> bytes ? bytes : UINT64_MAX;
}

/// A parent's limit bounds its children.
uint64_t limitOfGroup(const std::string &root, std::string group, const char *name) {
  uint64_t limit = limitIn(root + "/" + name);
  while (!group.empty()) {
    limit = std::min(limit, limitIn(root + group + "/" + name));
    group.erase(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
  return limit;
}

} // namespace

uint64_t machineMemory() {
  struct sysinfo machine;
  uint64_t bytes = UINT64_MAX;
  if (sysinfo(&machine) == 0)
    bytes = uint64_t(machine.totalram + machine.totalswap) * machine.mem_unit;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::/"))
      bytes = std::min(bytes, limitOfGroup("/sys/fs/cgroup", line.substr(3), "memory.max"));
    else if (size_t first = line.find(':'), second = line.find(":/");
             second != std::string::npos && first < second &&
             ("," + line.substr(first + 1, second - first - 1) + ",").find(",memory,") !=
                 std::string::npos)
      bytes = std::min(bytes, limitOfGroup("/sys/fs/cgroup/memory", line.substr(second + 1),
                                           "memory.limit_in_bytes"));
  }
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min<uint64_t>(bytes, limit.rlim_cur);
  return bytes == UINT64_MAX ? 0 : bytes;
}

} // namespace weir

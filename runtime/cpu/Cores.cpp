//===- Cores.cpp - How many cores this process may use --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/ThreadPool.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sched.h>
#include <string>

namespace weir::cpu {

// `cpu.max` of a version-2 group is "QUOTA PERIOD" or "max PERIOD"; a parent's quota bounds its
// children.
static double quotaOfGroup(std::string group) {
  double quota = HUGE_VAL;
  for (;;) {
    std::ifstream file("/sys/fs/cgroup" + group + "/cpu.max");
    double time, period;
    if (file >> time >> period && time > 0 && period > 0)
      quota = std::min(quota, time / period);
    if (group.empty())
      return quota;
    group.erase(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

static double quota() {
  double bound = HUGE_VAL;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.rfind("0::/", 0) == 0)
      bound = quotaOfGroup(line.substr(3));
  std::ifstream quotaFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream periodFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double time, period;
  if (quotaFile >> time && periodFile >> period && time > 0 && period > 0)
    bound = std::min(bound, time / period);
  return bound;
}

int availableCores() {
  static const int cores = [] {
    cpu_set_t set;
    int allowed = 1;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
      allowed = std::max(1, CPU_COUNT(&set));
    double bound = quota();
    return bound < allowed ? std::max(1, static_cast<int>(std::ceil(bound))) : allowed;
  }();
  return cores;
}

} // namespace weir::cpu

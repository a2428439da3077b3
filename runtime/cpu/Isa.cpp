//===- Isa.cpp - CPU levels -----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Isa.h"
#include "runtime/cpu/CpuDevice.h"
#include "support/Error.h"
#include "support/system/CpuLevel.h"
#include <algorithm>
#include <dnnl.h>
#include <mutex>

namespace weir::cpu {

namespace {

struct Level {
  std::string_view name;  ///< of cpuLevels, in their order
  dnnl_cpu_isa_t library; ///< what oneDNN may use
};

constexpr Level levels[] = {
    {"x86-64-v3", dnnl_cpu_isa_avx2},
    {"x86-64-v4", dnnl_cpu_isa_avx512_core},
    {"x86-64-v4+bf16", dnnl_cpu_isa_avx512_core_bf16},
    {"x86-64-v4+bf16+amx", dnnl_cpu_isa_avx512_core_amx},
};
static_assert(std::ranges::equal(levels, cpuLevels, {}, &Level::name));

const Level &levelNamed(std::string_view name) {
  for (const Level &level : levels)
    if (level.name == name)
      return level;
  throw Failure(Exit::model, "the target '" + std::string(name) + "' is unknown: compile for " +
                                 std::string(targets));
}

} // namespace

void requireLevel(std::string_view level) {
  std::string_view needed = levelNamed(level).name, native = cpuLevel();
  if (native >= needed)
    return;
  std::string message = "the artifact needs a CPU of level " + std::string(level) +
                        ", this one has " + std::string(native);
  if (std::string_view own = processorLevel(); own != native)
    message += " (WEIR_MAX_CPU; without it the processor has " + std::string(own) + ")";
  if (native >= cpuLevels[0])
    message += ": compile the model again with `--target cpu:" + std::string(native) + "`";
  else
    message +=
        "; Weir compiles for " + std::string(cpuLevels[0]) + " and above: use another machine";
  throw Failure(Exit::model, message);
}

void boundLibrary(std::string_view level) {
  const Level &wanted = levelNamed(level);
  static std::mutex mutex;
  static std::string bound;
  std::lock_guard lock(mutex);
  if (bound == level)
    return;
  if (!bound.empty())
    throw Failure(Exit::usage, "this process already runs code for " + bound +
                                   ", and the library cannot change to " + std::string(level) +
                                   ": use a process for each");
  if (dnnl_set_max_cpu_isa(wanted.library) != dnnl_success)
    throw Failure(Exit::internal, "oneDNN was used before its CPU level was set");
  bound = level;
}

} // namespace weir::cpu

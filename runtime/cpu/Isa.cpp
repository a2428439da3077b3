//===- Isa.cpp - CPU levels -----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Isa.h"
#include "runtime/base/Error.h"
#include "runtime/cpu/CpuDevice.h"
#include <dnnl.h>
#include <mutex>

namespace weir::cpu {

std::string_view nativeLevel() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3"))
    return "x86-64-v3";
  return __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2" : "x86-64";
}

static void requireKnown(std::string_view level) {
  if (level != "x86-64-v3" && level != "x86-64-v4")
    throw Failure(Exit::model, "the target '" + std::string(level) + "' is unknown: compile for " +
                                   std::string(targets));
}

void requireLevel(std::string_view level) {
  requireKnown(level);
  std::string_view native = nativeLevel();
  // Levels are ordered, and their names with them.
  if (native >= level)
    return;
  std::string message = "the artifact needs a CPU of level " + std::string(level) +
                        ", this one has " + std::string(native);
  if (native == "x86-64-v3")
    message += ": compile the model again with `--target cpu:x86-64-v3`";
  else
    message += "; Weir compiles for x86-64-v3 and above: use another machine";
  throw Failure(Exit::model, message);
}

void boundLibrary(std::string_view level) {
  requireKnown(level);
  static std::mutex mutex;
  static std::string bound;
  std::lock_guard lock(mutex);
  if (bound == level)
    return;
  if (!bound.empty())
    throw Failure(Exit::usage, "this process already runs code for " + bound +
                                   ", and the library cannot change to " + std::string(level) +
                                   ": use a process for each");
  if (dnnl_set_max_cpu_isa(level == "x86-64-v4" ? dnnl_cpu_isa_avx512_core : dnnl_cpu_isa_avx2) !=
      dnnl_success)
    throw Failure(Exit::internal, "oneDNN was used before its CPU level was set");
  bound = level;
}

} // namespace weir::cpu

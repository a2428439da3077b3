//===- Launcher.cpp - Whether this is one process of several --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Launcher.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace weir {
namespace {

struct Launcher {
  const char *name, *size, *rank;
};

// SLURM_NTASKS is no launch: it also stands in the shell of an allocation, where a command runs
// once. srun alone sets the step's number of tasks. PET_NNODES is what Kubeflow gives every pod.
constexpr Launcher launchers[] = {
    {"torchrun", "WORLD_SIZE", "RANK"},
    {"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"MPICH's mpiexec", "PMI_SIZE", "PMI_RANK"},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"Kubeflow", "PET_NNODES", "PET_NODE_RANK"},
    {"Kubeflow", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"},
};

/// The number that a text begins with, as "4" and "2:4" do, or 0.
int64_t numberIn(const char *text) {
  int64_t value = 0;
  if (text)
    std::from_chars(text, text + std::strlen(text), value);
  return value;
}

} // namespace

void requireOneProcess() {
  for (const Launcher &launcher : launchers) {
    const char *size = std::getenv(launcher.size), *rank = std::getenv(launcher.rank);
    if (numberIn(size) <= 1)
      continue;
    std::string which = rank ? concat(" (", launcher.rank, "=", rank, ")") : "";
    throw Failure(Exit::usage,
                  concat(launcher.size, "=", size, ", as ", launcher.name,
                         " sets it: this would be one of several processes", which,
                         ", and each would train the whole model alone. A run is one process, on "
                         "all the cores it may use: start it once, or unset ",
                         launcher.size, " where no launcher has set it"));
  }
}

} // namespace weir

//===- Collectives.h - What a GPU's program has of other ranks ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A communicator for each axis of the mesh that the program's collectives are over. Beside each
// collective, on its queue and so in the step's graph, its number is copied to memory of the host
// when it begins and when it ends: that is how the host, which waits for all of a step, knows in
// which of them it is.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_COLLECTIVES_H
#define WEIR_RUNTIME_CUDA_COLLECTIVES_H

#include "runtime/cuda/Communicator.h"
#include "runtime/cuda/Works.h"
#include "support/mesh/Mesh.h"
#include <chrono>
#include <map>

namespace weir::cuda {

class Collectives {
public:
  /// Meets the other ranks, which do the same. Throws Failure.
  Collectives(const Session &session, const std::string &folder, const artifact::Program &program,
              const DeviceOptions &options);

  /// One of the program's, ready for its queue; each is made once.
  std::unique_ptr<Work> make(Machine &machine, uint32_t queue, std::string what,
                             const artifact::Collective &collective);

  /// Asked again and again by who waits for the GPU. Throws Failure, with what this rank waits in,
  /// once that is in vain; all kernels that wait for other ranks then end.
  void check();

  void abort();
  /// All is done, and no graph is left.
  void close();

private:
  using Clock = std::chrono::steady_clock;
  /// What the GPU writes.
  struct Progress {
    uint32_t begun, ended; ///< numbers of collectives; another until it has ended
  };
  /// What it writes from: at a collective's number.
  struct Numbers {
    Progress begin, end;
  };
  struct Axis {
    Axis(const Nccl &library, const Member &member) : communicator(library, member) {}
    Communicator communicator;
    Progress seen = {};
    Clock::time_point since = {};
  };
  friend class CollectiveWork;

  Transport &transport;
  const Mesh mesh;
  DeviceMemory numbers;                 ///< Numbers, from 1 on
  PinnedMemory progress;                ///< Progress, by axis of the mesh
  std::vector<std::string> made = {""}; ///< what they are, by number
  std::map<unsigned, Axis> axes;
  Clock::time_point asked = {}; ///< when the transport was last
};

} // namespace weir::cuda

#endif

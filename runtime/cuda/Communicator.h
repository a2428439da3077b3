//===- Communicator.h - A rank among those of an axis, over NCCL ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NCCL moves bytes between GPUs and adds nothing up: sums are made by the ranks' programs. Who
// meets whom is told over what ranks have already (runtime/core/Transport.h).
//
// The library is asked not to block (unless NCCL_COMM_BLOCKING=1 is set), so what it does not do at
// once is waited for here, where a lost member ends the wait.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_COMMUNICATOR_H
#define WEIR_RUNTIME_CUDA_COMMUNICATOR_H

#include "runtime/core/Transport.h"
#include "runtime/cuda/Libraries.h"
#include "support/spec/Exchange.h"
#include <cstdint>
#include <vector>

namespace weir::cuda {

/// Of the members along an axis of the mesh, one's.
struct Member {
  Transport &transport; ///< of the rank, outlives the communicator
  unsigned axis;
  std::string axisName;        ///< "dp"
  int64_t rank, number, count; ///< among all ranks; among the members; how many they are
};

/// Used by one thread at a time. Every failure is a Failure, after which the communicator is
/// aborted: what it has enqueued ends, with nothing that means anything in its place.
class Communicator {
public:
  /// All members make theirs at once, on threads or processes of their own, each with its GPU's
  /// context current.
  Communicator(const Nccl &library, const Member &member);
  /// Aborts it, unless it was closed.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// Enqueues it on the stream, or captures it. All members enqueue the same in the same order.
  /// `what`, in words, is for messages.
  void enqueue(const spec::Exchange &exchange, CUdeviceptr from, CUdeviceptr to,
               const std::string &what, CUstream stream);

  /// Throws where the library has found out since that it cannot go on.
  void check(const std::string &what);

  void abort();
  /// Ends it in order: all that was enqueued is done, and no graph has it any more.
  void close();

private:
  void await(ncclResult_t result, const std::string &what);
  [[noreturn]] void fail(ncclResult_t result, const std::string &what);
  ncclResult_t move(const spec::Exchange &exchange, CUdeviceptr from, CUdeviceptr to,
                    CUstream stream);

  const Nccl &library;
  const Member member;
  ncclComm_t handle = nullptr;
};

} // namespace weir::cuda

#endif

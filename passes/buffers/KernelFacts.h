//===- KernelFacts.h - What the rules of buffers ask about a kernel -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_BUFFERS_KERNELFACTS_H
#define WEIR_PASSES_BUFFERS_KERNELFACTS_H

#include "codegen/Target.h"
#include "ir/weir/kernel/KernelStructure.h"

namespace weir::buffers {

/// What of a kernel the model asks the target, once for all kernels of one structure.
class KernelFacts {
public:
  explicit KernelFacts(Target &target) : target(target) {}

  struct Facts {
    llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace; ///< (result, input)
    int64_t workspace = 0;                                    ///< bytes
    int64_t threadScratch = 0;                                ///< bytes of each thread's own
    bool isCall = false;
    double seconds = 0;
  };
  mlir::FailureOr<const Facts *> of(KernelOp kernel);
  /// The most that a thread has to itself, of the kernels that were asked about.
  int64_t threadScratch() const { return mostScratch; }
  /// Whether a library is called, by any of them.
  bool hasCalls() const { return calls; }
  bool stagesPorts() const { return target.stagesPorts(); }
  double transferSeconds(double bytes) const { return target.transferSeconds(bytes); }

private:
  mlir::FailureOr<Facts> ask(KernelOp kernel);

  Target &target;
  int64_t mostScratch = 0;
  bool calls = false;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Facts>, KernelStructure> known;
};

} // namespace weir::buffers

#endif

//===- Gradients.h - The gradients of a run's last step -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The step of an artifact that was compiled with --gradients has a tensor output `gradient/PATH`
// for each trained parameter. It is the gradient of the loss, summed over the microbatches, before
// clipping. The next entry that runs reuses the memory of outputs, so this class copies them after
// each step.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_GRADIENTS_H
#define WEIR_RUNTIME_RUN_GRADIENTS_H

#include "runtime/checkpoint/SafeTensors.h"
#include "runtime/core/Program.h"
#include <string>
#include <vector>

namespace weir {

class Gradients {
public:
  /// For the outputs of `step`, to write to `path` (--gradients). Throws Failure(Exit::usage) if
  /// the artifact outputs no gradients. `program` must outlive it.
  Gradients(Program &program, const artifact::Entry &step, std::string path);

  /// Creates an empty file, so that an unwritable path fails before the run. Throws
  /// Failure(Exit::storage).
  void create() const;

  /// Copies the gradients; call right after the step.
  void keep();

  /// Writes the last copy as a safetensors file, under the parameters' paths. Returns false if no
  /// step ran: it then removes the file, because an empty file is not a safetensors file. Throws
  /// Failure(Exit::storage).
  bool write() const;

private:
  struct Kept {
    const artifact::Port *port;
    StoredTensor tensor;
    std::vector<std::byte> bytes;
  };
  Program &program;
  const artifact::Entry &step;
  std::string path;
  std::vector<Kept> all;
  bool any = false;
};

} // namespace weir

#endif

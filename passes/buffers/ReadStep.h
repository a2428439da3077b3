//===- ReadStep.h - An entry of kernels as a model of its memory ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_BUFFERS_READSTEP_H
#define WEIR_PASSES_BUFFERS_READSTEP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/buffers/BufferRules.h"
#include "passes/buffers/KernelFacts.h"
#include "llvm/ADT/StringSet.h"

namespace weir::buffers {

/// One step of the way from an entry to its plan: passes/lower emits the events in their order.
struct Event {
  enum class Kind {
    read,  ///< `op`, a weir.read, shows the memory of a variable
    run,   ///< `op` computes or moves: a kernel, a collective, a transfer, pack, unpack, reload,
           ///< offload
    round, ///< the counter of a loop's rounds gets its memory
    carry, ///< `value`, with which the carried value `number` begins, is copied to the buffer of
           ///< that
    enter, ///< a loop begins, or the round of a section for `microbatch`
    keep,  ///< `value` is copied for a later reader, if the rules say so
    show,  ///< `op`, a weir.saved, shows the memory of `tensor`
    next,  ///< `value` is copied to the buffer of the carried value `number`
    store, ///< `value` is copied to the variable of `op`, a weir.write
    leave, ///< a loop ends
  };

  Kind kind;
  mlir::Operation *op = nullptr; ///< null: of an output
  int action = -1;               ///< of Step::actions; -1: it is none
  mlir::Value value = {};
  unsigned number = 0;
  int tensor = -1;
  int64_t microbatch = 0;
  llvm::StringRef label = {}; ///< of the buffer of a kept value
};

/// Memory that outlives an action and gets new values: a variable's, or what a loop carries.
struct Variable {
  llvm::StringRef name; ///< empty: it is carried
  int carried = -1;     ///< the tensor whose buffer has the carried value
};

struct EntryStep {
  Step step;
  std::vector<Event> events;
  std::vector<Variable> variables;           ///< by number of Tensor::variable
  std::vector<int> outputs;                  ///< the kept tensors of the entry's results
  std::vector<mlir::Operation *> makers;     ///< by action: the kernel, reload or write; null: none
  std::vector<mlir::Value> values;           ///< by tensor
  llvm::DenseMap<mlir::Value, int> tensorOf; ///< by memoryOf()
  /// The block whose kernels are the stretch, and of each of its ops the first action, or the next
  /// op's where it is none.
  mlir::Block *block = nullptr;
  llvm::DenseMap<mlir::Operation *, int> actionOf;
};

/// Reads an entry in which everything that computes is in a kernel. `onHost` names the variables in
/// the host's memory. `offloads`: what kernels make may lie with the host. Fails, with an error, as
/// the target does, and for microbatches that cannot be planned.
mlir::FailureOr<EntryStep> readStep(mlir::func::FuncOp entry, const llvm::StringSet<> &onHost,
                                    KernelFacts &facts, bool offloads = false);
/// The same, of an entry in a module with its weir.variable ops.
mlir::FailureOr<EntryStep> readStep(mlir::func::FuncOp entry, KernelFacts &facts,
                                    bool offloads = false);

} // namespace weir::buffers

#endif

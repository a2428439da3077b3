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

/// What passes/lower emits, one event after the other.
struct Event {
  enum class Kind {
    update, ///< `op`, a kernel, makes the next value of a variable, or of a carried value, from the
            ///< old one, and is the last to read that
    read,   ///< `op`, a weir.read, shows the memory of a variable
    run,    ///< `op` computes or moves values: a kernel, a collective, a transfer, a packing, a
            ///< weir.reload or a weir.offload
    copy,   ///< `value` is copied to the buffer of a carried value
    keep,   ///< `value` is copied for a later reader; see Action::keepsVariable
    store,  ///< `value` is copied to the variable of `op`, a weir.write
    show,   ///< `op`, a weir.saved, shows the memory of `tensor`
    round,  ///< the counter of the rounds of `op`, a loop, gets its memory
    enter,  ///< the rounds of `op`, a loop, begin, or a section's only one for `microbatch`
    leave,  ///< the rounds of a loop end
  };

  Kind kind;
  mlir::Operation *op = nullptr; ///< null: a copy for the host
  int action = -1;               ///< of Step::actions; -1: it is none
  mlir::Value value = {};
  mlir::Value made = {};      ///< the loop's result that has the buffer of a carried value, or null
  llvm::StringRef label = {}; ///< of the buffer of a copy
  int tensor = -1;
  int64_t microbatch = 0;
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

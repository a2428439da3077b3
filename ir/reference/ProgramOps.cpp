//===- ProgramOps.cpp - Variables and regions, reference semantics --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A read sees what a variable was when the entry began, whatever was written since.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"

namespace weir::reference {
namespace {

mlir::FailureOr<Tensors> read(ReadOp op, Inputs, Interpreter &interpreter) {
  auto found = interpreter.variables.find(op.getVariable().str());
  if (found == interpreter.variables.end()) {
    op.emitOpError("reads a variable that has no value yet");
    return mlir::failure();
  }
  return Tensors{found->second};
}

mlir::FailureOr<Tensors> reload(ReloadOp, Inputs in, Interpreter &) { return Tensors{in[0]}; }

mlir::FailureOr<Tensors> offload(OffloadOp, Inputs in, Interpreter &) { return Tensors{in[0]}; }

mlir::FailureOr<Tensors> write(WriteOp op, Inputs in, Interpreter &interpreter) {
  if (!op.getCondition() || in[1].values[0] != 0)
    interpreter.next[op.getVariable().str()] = in[0];
  return Tensors{};
}

mlir::FailureOr<Tensors> kernel(KernelOp op, Inputs in, Interpreter &interpreter) {
  return interpreter.run(op.getBody().front(), in);
}

mlir::FailureOr<Tensors> microbatches(MicrobatchesOp op, Inputs in, Interpreter &interpreter) {
  int64_t count = op.getCount();
  Inputs sliced = in.take_front(op.getSliced().size());
  Tensors carried(in.drop_front(sliced.size())), sums;
  for (mlir::Value result : op.getResults().take_front(op.numSums()))
    sums.emplace_back(shapeOf(result));
  for (int64_t round = 0; round < count; ++round) {
    interpreter.microbatch = round;
    Tensors arguments{Tensor({}, static_cast<double>(round))};
    for (const Tensor &whole : sliced)
      arguments.push_back(whole.part(round, count));
    arguments.append(carried);
    mlir::FailureOr<Tensors> yielded = interpreter.run(op.getBody().front(), arguments);
    if (mlir::failed(yielded))
      return mlir::failure();
    for (size_t i = 0; i < sums.size(); ++i)
      for (size_t j = 0; j < sums[i].values.size(); ++j)
        sums[i].values[j] += (*yielded)[i].values[j];
    carried.assign(yielded->begin() + sums.size(), yielded->end());
  }
  interpreter.microbatch = 0;
  sums.append(carried);
  return sums;
}

} // namespace

void attachProgram(mlir::MLIRContext &context) {
  attach<ReadOp, read>(context);
  attach<ReloadOp, reload>(context);
  attach<OffloadOp, offload>(context);
  attach<WriteOp, write>(context);
  attach<KernelOp, kernel>(context);
  attach<MicrobatchesOp, microbatches>(context);
}

} // namespace weir::reference

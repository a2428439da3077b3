//===- PlanOps.cpp - The actions of a plan, reference semantics -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Library calls are written out from the formulas in runtime/artifact/Artifact.fbs, not from the
// ops that planning made them of.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Loops.h"
#include "ir/reference/PlanInterpreter.h"

namespace weir {
namespace {

mlir::LogicalResult execute(plan::LaunchOp op, PlanInterpreter &machine) {
  plan::KernelOp kernel = machine.kernelOf(op);
  if (!kernel)
    return op.emitOpError("launches a kernel that the plan does not have: @") << op.getKernel();
  KernelOp meaning = meaningOf(kernel);
  size_t inputs = meaning.getInputs().size(), results = meaning.getNumResults();
  auto operands = op.getOperands();
  // What launches hand on to each other is not part of the meaning.
  if (op.getPart() == 0)
    for (size_t i = inputs + results; i < operands.size(); ++i)
      machine.memory.forget(operands[i], kernel.getSizes()[i]);
  if (!completes(op, kernel))
    return mlir::success();
  Tensors arguments;
  for (size_t i = 0; i < inputs; ++i)
    arguments.push_back(machine.memory.load(operands[i], meaning.getInputs()[i].getType()));
  mlir::FailureOr<Tensors> computed = machine.interpreter.run(meaning.getBody().front(), arguments);
  if (mlir::failed(computed))
    return mlir::failure();
  for (size_t i = 0; i < results; ++i)
    machine.memory.store(operands[inputs + i], meaning.getResult(i).getType(), (*computed)[i]);
  return mlir::success();
}

/// The elements of a buffer up to the last that sizes and strides reach.
std::vector<double> loadRange(PlanInterpreter &machine, mlir::Value buffer,
                              llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides) {
  int64_t count = 1;
  for (auto [size, stride] : llvm::zip(sizes, strides))
    count += (size - 1) * stride;
  mlir::Type f32 = mlir::Float32Type::get(buffer.getContext());
  std::vector<double> values(count);
  machine.memory.load(buffer, f32, 0, values);
  return values;
}

mlir::LogicalResult execute(plan::ProductOp op, PlanInterpreter &machine) {
  int64_t batch = op.getSizes()[0], m = op.getSizes()[1], n = op.getSizes()[2],
          k = op.getSizes()[3];
  llvm::ArrayRef<int64_t> as = op.getAStrides(), bs = op.getBStrides(), cs = op.getCStrides();
  std::vector<double> a = loadRange(machine, op.getA(), {batch, m, k}, as);
  std::vector<double> b = loadRange(machine, op.getB(), {batch, k, n}, bs);
  std::vector<double> bias(n, 0.0);
  if (op.getBias())
    bias = loadRange(machine, op.getBias(), {n}, {1});
  mlir::Type f32 = mlir::Float32Type::get(op.getContext());
  std::vector<double> row(n), lhs(k), rhs(k * n);
  for (int64_t i = 0; i < batch; ++i) {
    for (int64_t j = 0; j < k; ++j)
      for (int64_t column = 0; column < n; ++column)
        rhs[j * n + column] = b[i * bs[0] + j * bs[1] + column * bs[2]];
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t j = 0; j < k; ++j)
        lhs[j] = a[i * as[0] + r * as[1] + j * as[2]];
      row = bias;
      reference::addProduct(1, n, k, lhs.data(), rhs.data(), row.data());
      int64_t at = i * cs[0] + r * cs[1];
      if (op.getAccumulate()) {
        std::vector<double> before(n);
        machine.memory.load(op.getC(), f32, at, before);
        for (int64_t column = 0; column < n; ++column)
          row[column] += before[column];
      }
      // A comparison would lose a NaN.
      if (op.getRelu())
        for (double &sum : row)
          if (sum < 0)
            sum = 0;
      machine.memory.store(op.getC(), f32, at, row);
    }
  }
  return mlir::success();
}

mlir::LogicalResult execute(plan::ConvolutionOp op, PlanInterpreter &machine) {
  llvm::ArrayRef<int64_t> s = op.getSizes();
  reference::ConvolutionSizes of{
      s[0], s[1], s[2], s[3], s[4], s[5], s[6], op.getStrides(), op.getPadding()};
  if (op.getLayout() != "nchw")
    return op.emitOpError("has a layout the reference does not know: ") << op.getLayout();
  mlir::Type f32 = mlir::Float32Type::get(op.getContext());
  auto tensor = [&](llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, f32);
  };
  mlir::RankedTensorType inputType = tensor({of.images, of.channels, of.height, of.width}),
                         weightType =
                             tensor({of.filters, of.channels, of.windowHeight, of.windowWidth}),
                         outputType =
                             tensor({of.images, of.filters, of.outHeight(), of.outWidth()});
  bool forward = op.getKind() == "forward", backwardInput = op.getKind() == "backward_input";
  auto given = [&](mlir::Value buffer, mlir::RankedTensorType type, bool written) {
    return written ? Tensor(type.getShape()) : machine.memory.load(buffer, type);
  };
  Tensor input = given(op.getInput(), inputType, backwardInput);
  Tensor weight = given(op.getWeight(), weightType, !forward && !backwardInput);
  Tensor output = given(op.getOutput(), outputType, forward);
  double *in = input.values.data(), *w = weight.values.data(), *out = output.values.data();
  if (forward)
    reference::addConvolution(of, in, w, out);
  else if (backwardInput)
    reference::addInputGradient(of, in, w, out);
  else
    reference::addWeightGradient(of, in, w, out);
  if (op.getPartials())
    machine.memory.forget(op.getPartials(), llvm::divideCeil(of.images, op.getTileImages()) *
                                                storageBytes(weightType));
  if (forward)
    machine.memory.store(op.getOutput(), outputType, output);
  else if (backwardInput)
    machine.memory.store(op.getInput(), inputType, input);
  else
    machine.memory.store(op.getWeight(), weightType, weight);
  return mlir::success();
}

mlir::LogicalResult execute(plan::RepeatOp op, PlanInterpreter &machine) {
  mlir::Type i32 = mlir::IntegerType::get(op.getContext(), 32);
  for (int64_t round = 0; round < static_cast<int64_t>(op.getCount()); ++round) {
    machine.memory.store(op.getOrdinal(), i32, 0, {static_cast<double>(round)});
    machine.memory.round = round;
    mlir::LogicalResult result = machine.run(op.getBody().front());
    machine.memory.round = 0;
    if (mlir::failed(result))
      return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult execute(plan::CopyOp op, PlanInterpreter &machine) {
  machine.memory.copy(op.getFrom(), op.getTo(), op.getSize());
  return mlir::success();
}

mlir::LogicalResult execute(plan::FillOp op, PlanInterpreter &machine) {
  machine.memory.fill(op.getTo(), op.getSize(), op.getValue());
  return mlir::success();
}

template <class Op> struct Model : Executable::ExternalModel<Model<Op>, Op> {
  mlir::LogicalResult execute(mlir::Operation *op, PlanInterpreter &machine) const {
    return weir::execute(llvm::cast<Op>(op), machine);
  }
};

template <class... Ops> void attach(mlir::MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

void registerPlanInterpreter(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, plan::PlanDialect *) {
    attach<plan::LaunchOp, plan::ProductOp, plan::ConvolutionOp, plan::RepeatOp, plan::CopyOp,
           plan::FillOp>(*context);
  });
}

} // namespace weir

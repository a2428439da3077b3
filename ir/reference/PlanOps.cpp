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
  for (int64_t i = 0; i < count; ++i)
    values[i] = machine.memory.load(buffer, f32, i);
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
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        int64_t at = i * cs[0] + row * cs[1] + column;
        double sum = bias[column];
        for (int64_t j = 0; j < k; ++j)
          sum += a[i * as[0] + row * as[1] + j * as[2]] * b[i * bs[0] + j * bs[1] + column * bs[2]];
        if (op.getAccumulate())
          sum += machine.memory.load(op.getC(), f32, at);
        // A comparison would lose a NaN.
        if (op.getRelu() && sum < 0)
          sum = 0;
        machine.memory.store(op.getC(), f32, at, sum);
      }
  return mlir::success();
}

mlir::LogicalResult execute(plan::ConvolutionOp op, PlanInterpreter &machine) {
  llvm::ArrayRef<int64_t> sizes = op.getSizes(), strides = op.getStrides(),
                          padding = op.getPadding();
  int64_t images = sizes[0], channels = sizes[1], height = sizes[2], width = sizes[3];
  int64_t filters = sizes[4], kh = sizes[5], kw = sizes[6];
  int64_t outHeight = (height + 2 * padding[0] - kh) / strides[0] + 1;
  int64_t outWidth = (width + 2 * padding[1] - kw) / strides[1] + 1;
  if (op.getLayout() != "nchw")
    return op.emitOpError("has a layout the reference does not know: ") << op.getLayout();
  mlir::Type f32 = mlir::Float32Type::get(op.getContext());
  auto tensor = [&](llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, f32);
  };
  mlir::RankedTensorType inputType = tensor({images, channels, height, width}),
                         weightType = tensor({filters, channels, kh, kw}),
                         outputType = tensor({images, filters, outHeight, outWidth});
  bool forward = op.getKind() == "forward", backwardInput = op.getKind() == "backward_input";
  auto given = [&](mlir::Value buffer, mlir::RankedTensorType type, bool written) {
    return written ? Tensor(type.getShape()) : machine.memory.load(buffer, type);
  };
  Tensor input = given(op.getInput(), inputType, backwardInput);
  Tensor weight = given(op.getWeight(), weightType, !forward && !backwardInput);
  Tensor output = given(op.getOutput(), outputType, forward);
  forEachIndex(outputType.getShape(), [&](llvm::ArrayRef<int64_t> o) {
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t y = 0; y < kh; ++y)
        for (int64_t x = 0; x < kw; ++x) {
          int64_t row = o[2] * strides[0] - padding[0] + y,
                  column = o[3] * strides[1] - padding[1] + x;
          if (row < 0 || row >= height || column < 0 || column >= width)
            continue;
          double &in = input.at({o[0], c, row, column});
          double &w = weight.at({o[1], c, y, x});
          double &out = output.at(o);
          if (forward)
            out += in * w;
          else if (backwardInput)
            in += out * w;
          else
            w += in * out;
        }
  });
  if (op.getPartials())
    machine.memory.forget(op.getPartials(),
                          llvm::divideCeil(images, op.getTileImages()) * storageBytes(weightType));
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
    machine.memory.store(op.getOrdinal(), i32, 0, static_cast<double>(round));
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

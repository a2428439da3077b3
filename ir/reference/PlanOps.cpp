//===- PlanOps.cpp - The actions of a plan, reference semantics -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Library calls are written out from the formulas in support/spec, not from the
// ops that planning made them of.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/reference/Loops.h"
#include "ir/reference/Models.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/kernel/Kernel.h"

namespace weir {
namespace {

mlir::LogicalResult execute(plan::LaunchOp op, PlanInterpreter &machine) {
  plan::KernelOp kernel = machine.kernelOf(op);
  KernelOp meaning = kernel.meaning();
  size_t inputs = meaning.getInputs().size(), results = meaning.getNumResults();
  auto operands = op.getOperands();
  // What launches hand on to each other is not part of the meaning.
  if (op.getPart() == 0)
    for (size_t i = inputs + results; i < operands.size(); ++i)
      machine.memory.forget(operands[i], kernel.getTaken(i).getBytes());
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
std::vector<double> loadRange(PlanInterpreter &machine, mlir::Value buffer, Element element,
                              llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides) {
  int64_t count = 1;
  for (auto [size, stride] : llvm::zip(sizes, strides))
    count += (size - 1) * stride;
  std::vector<double> values(count);
  machine.memory.load(buffer, typeOf(buffer.getContext(), element), 0, values);
  return values;
}

mlir::LogicalResult run(const spec::Product &s, plan::CallOp op, PlanInterpreter &machine) {
  auto operands = op.getOperands();
  std::vector<double> a = loadRange(machine, operands[0], s.factors, {s.batch, s.m, s.k},
                                    {s.aBatch, s.aRow, s.aColumn});
  std::vector<double> b = loadRange(machine, operands[1], s.rightElement(), {s.batch, s.k, s.n},
                                    {s.bBatch, s.bRow, s.bColumn});
  std::vector<double> bias(s.n, 0.0);
  if (s.bias)
    bias = loadRange(machine, operands[3], s.added, {s.n}, {1});
  double scale = 1;
  if (s.isScaled())
    for (size_t i : {s.scalesAt(), s.scalesAt() + 1})
      scale *= loadRange(machine, operands[i], Element::f32, {1}, {1})[0];
  mlir::Type result = typeOf(op.getContext(), s.result);
  std::vector<double> row(s.n), lhs(s.k), rhs(s.k * s.n);
  for (int64_t i = 0; i < s.batch; ++i) {
    for (int64_t j = 0; j < s.k; ++j)
      for (int64_t column = 0; column < s.n; ++column)
        rhs[j * s.n + column] = b[i * s.bBatch + j * s.bRow + column * s.bColumn];
    for (int64_t r = 0; r < s.m; ++r) {
      for (int64_t j = 0; j < s.k; ++j)
        lhs[j] = scale * a[i * s.aBatch + r * s.aRow + j * s.aColumn];
      row = bias;
      reference::addProduct(1, s.n, s.k, lhs.data(), rhs.data(), row.data());
      // A comparison would lose a NaN.
      if (s.relu)
        for (double &sum : row)
          if (sum < 0)
            sum = 0;
      machine.memory.store(operands[2], result, i * s.cBatch + r * s.cRow, row);
    }
  }
  return mlir::success();
}

mlir::LogicalResult run(const spec::Convolution &s, plan::CallOp op, PlanInterpreter &machine) {
  using Kind = spec::ConvolutionKind;
  if (s.size.size() != 2 || s.groups != 1 || s.dilation != std::vector<int64_t>{1, 1})
    return op.emitOpError("is of a kind the reference does not know: ") << spec::describe(s);
  reference::ConvolutionSizes of{s.images,    s.channels,  s.size[0], s.size[1], s.filters,
                                 s.window[0], s.window[1], s.strides, s.padding};
  const Kind written[] = {Kind::backwardInput, Kind::backwardWeight, Kind::forward};
  auto tensor = [&](llvm::ArrayRef<int64_t> shape, Kind writer) {
    return mlir::RankedTensorType::get(shape, typeOf(op.getContext(), s.elementOf(writer)));
  };
  const mlir::RankedTensorType types[] = {
      tensor({of.images, of.channels, of.height, of.width}, written[0]),
      tensor({of.filters, of.channels, of.windowHeight, of.windowWidth}, written[1]),
      tensor({of.images, of.filters, of.outHeight(), of.outWidth()}, written[2])};
  Tensors tensors;
  for (int i = 0; i < 3; ++i)
    tensors.push_back(s.computes == written[i]
                          ? Tensor(types[i].getShape())
                          : machine.memory.load(op.getOperands()[i], types[i]));
  double *in = tensors[0].values.data(), *w = tensors[1].values.data(),
         *out = tensors[2].values.data();
  if (s.computes == Kind::forward)
    reference::addConvolution(of, in, w, out);
  else if (s.computes == Kind::backwardInput)
    reference::addInputGradient(of, in, w, out);
  else
    reference::addWeightGradient(of, in, w, out);
  for (int i = 0; i < 3; ++i)
    if (s.computes == written[i])
      machine.memory.store(op.getOperands()[i], types[i], tensors[i]);
  return mlir::success();
}

mlir::LogicalResult run(const spec::Pooling &s, plan::CallOp op, PlanInterpreter &machine) {
  int64_t height = s.size[0], width = s.size[1];
  std::vector<double> in = loadRange(machine, op.getOperands()[0], Element::f32,
                                     {s.planes, s.inputElements()}, {s.inputElements(), 1});
  std::vector<double> out;
  for (int64_t plane = 0; plane < s.planes; ++plane)
    for (int64_t y = 0; y < s.outSize(0); ++y)
      for (int64_t x = 0; x < s.outSize(1); ++x) {
        int64_t corner = (plane * height + y * s.strides[0]) * width + x * s.strides[1];
        double largest = in[corner];
        for (int64_t i = 0; i < s.window[0]; ++i)
          for (int64_t j = 0; j < s.window[1]; ++j)
            if (double element = in[corner + i * width + j]; reference::isLarger(element, largest))
              largest = element;
        out.push_back(largest);
      }
  machine.memory.store(op.getOperands()[1], mlir::Float32Type::get(op.getContext()), 0, out);
  return mlir::success();
}

mlir::LogicalResult execute(plan::CallOp op, PlanInterpreter &machine) {
  for (auto [operand, footprint] :
       llvm::zip_equal(op.getOperands(), spec::footprints(op.getCall())))
    if (footprint.workspace)
      machine.memory.forget(operand, int64_t(footprint.extent()));
  return std::visit([&](const auto &spec) { return run(spec, op, machine); }, op.getCall());
}

mlir::LogicalResult execute(plan::LoopOp op, PlanInterpreter &machine) {
  mlir::Type i32 = mlir::IntegerType::get(op.getContext(), 32);
  for (int64_t round = 0; round < static_cast<int64_t>(op.getCount()); ++round) {
    machine.memory.rounds[op.index()] = round;
    machine.memory.store(op.getRound(), i32, 0, {static_cast<double>(round)});
    if (mlir::failed(machine.run(op.getBody().front())))
      return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult execute(plan::CopyOp op, PlanInterpreter &machine) {
  machine.memory.copy(op.getFrom(), op.getTo(), op.getSize());
  return mlir::success();
}

/// What is got for what is given.
mlir::FailureOr<Tensor> exchange(mlir::Operation *op, Tensor given, PlanInterpreter &machine) {
  if (machine.interpreter.exchange)
    return machine.interpreter.exchange(op, std::move(given));
  op->emitOpError("is one rank's, and the others are not executed");
  return mlir::failure();
}

mlir::LogicalResult execute(plan::CollectiveOp op, PlanInterpreter &machine) {
  auto count = int64_t(plan::exchangeOf(op).read());
  Tensor given(Shape{count / int64_t(sizeOf(*elementOf(op.getElement())))});
  machine.memory.load(op.getFrom(), op.getElement(), 0, given.values);
  mlir::FailureOr<Tensor> result = exchange(op, std::move(given), machine);
  if (mlir::failed(result))
    return mlir::failure();
  machine.memory.store(op.getTo(), op.getElement(), 0, result->values);
  return mlir::success();
}

mlir::LogicalResult execute(plan::SendOp op, PlanInterpreter &machine) {
  Tensor given(Shape{int64_t(op.getSize() / sizeOf(*elementOf(op.getElement())))});
  machine.memory.load(op.getBuffer(), op.getElement(), 0, given.values);
  return exchange(op, std::move(given), machine);
}

mlir::LogicalResult execute(plan::ReceiveOp op, PlanInterpreter &machine) {
  mlir::FailureOr<Tensor> got = exchange(op, Tensor(), machine);
  if (mlir::failed(got))
    return mlir::failure();
  machine.memory.store(op.getBuffer(), op.getElement(), 0, got->values);
  return mlir::success();
}

/// Actions are executed in their order, one after the other: there is nothing to wait for.
mlir::LogicalResult execute(plan::RecordOp, PlanInterpreter &) { return mlir::success(); }
mlir::LogicalResult execute(plan::WaitOp, PlanInterpreter &) { return mlir::success(); }

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
    attach<plan::LaunchOp, plan::CallOp, plan::LoopOp, plan::CopyOp, plan::CollectiveOp,
           plan::SendOp, plan::ReceiveOp, plan::RecordOp, plan::WaitOp>(*context);
  });
}

} // namespace weir

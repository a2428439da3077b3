//===- BuiltinsReduction.cpp - Sums, means, extremes ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

namespace weir::elab {

static Value reduction(BuiltinCall &call, Reduction kind) {
  const Tensor *tensor = call.tensor(0);
  if (!tensor)
    return {};
  if (!tensor->isFloat() && !tensor->isInt())
    return call.wrong(0, "a tensor of numbers");
  auto axes = call.axes(1, *tensor);
  return axes ? Value(call.elaborator.tensors.reduce(*tensor, kind, *axes, call.range)) : Value();
}

static Value sum(BuiltinCall &call) { return reduction(call, Reduction::sum); }
static Value maxOver(BuiltinCall &call) { return reduction(call, Reduction::max); }
static Value minOver(BuiltinCall &call) { return reduction(call, Reduction::min); }

static int64_t count(const Tensor &tensor, const std::vector<int64_t> &axes) {
  int64_t result = 1;
  for (int64_t axis : axes)
    result *= tensor.dims[axis].size;
  return result;
}

static Value average(BuiltinCall &call, const Tensor &tensor, const std::vector<int64_t> &axes) {
  Tensor total = call.elaborator.tensors.reduce(tensor, Reduction::sum, axes, call.range);
  return call.elaborator.tensors.binary(ast::BinaryOp::mul, total,
                                        1.0 / double(count(tensor, axes)), call.range);
}

static Value mean(BuiltinCall &call) {
  const Tensor *tensor = call.floats(0);
  auto axes = tensor ? call.axes(1, *tensor) : std::nullopt;
  return axes ? average(call, *tensor, *axes) : Value();
}

/// The average, and the average square of the distance to it (so the variance is divided by the
/// count, not by one less).
static Value moments(BuiltinCall &call) {
  const Tensor *tensor = call.floats(0);
  auto axes = tensor ? call.axes(1, *tensor) : std::nullopt;
  if (!axes)
    return {};
  Elaborator &e = call.elaborator;
  Value mean = average(call, *tensor, *axes);
  llvm::SmallVector<int64_t> kept;
  for (int64_t i = 0; i < tensor->rank(); ++i)
    if (!llvm::is_contained(*axes, i))
      kept.push_back(i);
  mlir::Value wide = mean.get<Tensor>()->value;
  if (!axes->empty())
    wide =
        BroadcastOp::create(call.builder(), call.location(), tensor->value.getType(), wide, kept);
  Value distance =
      e.tensors.binary(ast::BinaryOp::sub, *tensor, Tensor{wide, tensor->dims}, call.range);
  Value square = e.tensors.binary(ast::BinaryOp::mul, distance, distance, call.range);
  return Value::tuple({mean, average(call, *square.get<Tensor>(), *axes)});
}

static Value argmax(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  if (!tensor)
    return {};
  if (!tensor->isFloat() && !tensor->isInt())
    return call.wrong(0, "a tensor of numbers");
  auto axis = call.axis(1, *tensor, -1);
  if (!axis)
    return {};
  Dims dims = tensor->dims;
  dims.erase(dims.begin() + *axis);
  return Tensor{ArgMaxOp::create(call.builder(), call.location(), tensor->value, *axis), dims};
}

const std::vector<Builtin> reductionBuiltins = {
    {"sum", "x, axes?", sum},          {"mean", "x, axes?", mean},
    {"max_over", "x, axes?", maxOver}, {"min_over", "x, axes?", minOver},
    {"moments", "x, axes?", moments},  {"argmax", "x, axis?", argmax},
};

} // namespace weir::elab

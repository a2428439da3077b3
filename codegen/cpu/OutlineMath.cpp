//===- OutlineMath.cpp - Elementary functions that a kernel calls ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lower.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weir {
namespace {

/// A function is called where a kernel computes it more often than this. Each is 20 to 60
/// instructions in place, so a kernel of a hundred took LLVM half a minute; a call makes its caller
/// save what is in registers.
constexpr size_t mostInPlace = 12;

/// Those that approximateMath makes many instructions of.
bool isElementary(Operation *op) {
  return isa<math::CosOp, math::ErfOp, math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp,
             math::PowFOp, math::SinOp, math::TanhOp>(op);
}

/// "tanh.8" of vectors of 8.
std::string nameOf(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  if (auto vector = dyn_cast<VectorType>(op->getResult(0).getType()))
    for (int64_t size : vector.getShape())
      name += "." + std::to_string(size);
  return name;
}

/// A function behind the kernel that computes what `op` does.
func::FuncOp outline(func::FuncOp kernel, Operation *op) {
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(kernel);
  auto function =
      func::FuncOp::create(builder, op->getLoc(), (kernel.getSymName() + "." + nameOf(op)).str(),
                           builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Operation *made = builder.clone(*op);
  made->setOperands(body->getArguments());
  func::ReturnOp::create(builder, op->getLoc(), made->getResults());
  return function;
}

/// An operand that is a number decides how a power is computed.
bool isOutlined(Operation *op) {
  return isElementary(op) && llvm::none_of(op->getOperands(), [](Value operand) {
           Operation *by = operand.getDefiningOp();
           return by && by->hasTrait<OpTrait::ConstantLike>();
         });
}

} // namespace

void outlineMath(ModuleOp module) {
  for (func::FuncOp kernel : llvm::to_vector(module.getOps<func::FuncOp>())) {
    llvm::MapVector<std::pair<OperationName, Type>, SmallVector<Operation *>> equal;
    kernel.walk([&](Operation *op) {
      if (isOutlined(op))
        equal[{op->getName(), op->getResult(0).getType()}].push_back(op);
    });
    for (auto &[what, ops] : equal) {
      if (ops.size() <= mostInPlace)
        continue;
      func::FuncOp function = outline(kernel, ops.front());
      for (Operation *op : ops) {
        OpBuilder builder(op);
        op->replaceAllUsesWith(
            func::CallOp::create(builder, op->getLoc(), function, op->getOperands()));
        op->erase();
      }
    }
  }
}

} // namespace weir

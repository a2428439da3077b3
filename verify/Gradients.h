//===- Gradients.h - Gradients against central differences ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients that autodiff derives from a program's gradient ops, and the differences of the
// loss to compare them with.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_GRADIENTS_H
#define WEIR_VERIFY_GRADIENTS_H

#include "ir/weir/program/Gradient.h"
#include "verify/RandomInputs.h"

namespace weir {

/// A copy of the module whose gradient ops have become their backward computation. `afterwards` may
/// change the copy. Each gradient passes through a weir.stop_gradient with the attribute
/// `verify.gradient`, its number within the op.
mlir::OwningOpRef<mlir::ModuleOp>
differentiated(mlir::ModuleOp module, llvm::function_ref<void(mlir::ModuleOp)> afterwards);

/// Passes what weir.clip names through the same, where autodiff has run before.
void markGradients(mlir::ModuleOp differentiated);

/// The gradients of every gradient op that runs, in the order in which they run; an entry without
/// is not run. Where casts round (Interpreter::rounds), cotangents are rounded too, and the
/// gradients are not quite those of what was computed.
mlir::FailureOr<std::vector<Tensors>> gradientsOf(mlir::ModuleOp differentiated,
                                                  llvm::StringRef entry, const RandomInputs &feed,
                                                  bool rounds = true);

/// From now on an interpreter of a differentiated module changes each gradient as it is computed;
/// `change` gets its number within the op.
void moveGradients(Interpreter &interpreter,
                   std::function<void(unsigned number, Tensor &gradient)> change);

/// Ones with random signs.
Tensor randomDirection(llvm::ArrayRef<int64_t> shape, unsigned seed);

/// Random directions along which all gradients of an op are compared with differences together, or
/// each gradient by itself.
constexpr unsigned directionsOfAll = 4, directionsOfEach = 2;

/// What differences of the loss say of a gradient. `unknown`: rounding of the loss, or its
/// curvature, is larger than the gradient, so that differences at several lengths do not agree with
/// each other.
enum class Verdict { agrees, differs, unknown };

/// Compares the gradients of some sources with the difference of the loss along directions of these
/// sources, moved together and each by the less the larger its gradient is. A source's scale is
/// max(||g||, `largest` / 1000): all together are off by 1e-5 of it at most, as one alone may be.
/// Of one source alone, what rounding of the loss makes of a gradient of zero is forgiven too.
/// `gradients` has those of all sources of the op. `relative` gets what they are off by. For use in
/// Interpreter::gradients.
mlir::FailureOr<Verdict> compareWithDifferences(GradientOp op, llvm::ArrayRef<Along> along,
                                                llvm::ArrayRef<Tensor> gradients, double largest,
                                                Interpreter &interpreter, double &relative);

/// The gradients of one op in one of its runs, against differences.
class Differences {
public:
  /// For use in Interpreter::gradients; `gradients` has one tensor for every source, and outlives
  /// this.
  Differences(GradientOp op, llvm::ArrayRef<Tensor> gradients, Interpreter &running);

  /// Finds the sources from `first` on, `count` of them, whose gradients are wrong, and those of
  /// which differences say nothing. They are moved together; where they do not agree, each half by
  /// itself.
  mlir::LogicalResult check(unsigned first, unsigned count, unsigned directions);

  std::vector<std::pair<unsigned, double>> wrong; ///< sources, and what they are off by
  std::vector<unsigned> unknown;                  ///< sources
  double off = 0;                                 ///< the most of what agrees

private:
  GradientOp op;
  llvm::ArrayRef<Tensor> gradients;
  Interpreter &running;
  double largest = 0;
};

} // namespace weir

#endif

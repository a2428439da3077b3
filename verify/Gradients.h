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

/// A copy of the module with its gradient ops replaced by the backward pass. `afterwards` may
/// change the copy. Each gradient passes through a weir.stop_gradient with the attribute
/// `verify.gradient`, its number within the op.
mlir::OwningOpRef<mlir::ModuleOp>
differentiated(mlir::ModuleOp module, llvm::function_ref<void(mlir::ModuleOp)> afterwards);

/// Passes the operands of weir.clip through such ops, if autodiff has run before.
void markGradients(mlir::ModuleOp differentiated);

/// The gradients of every gradient op that runs, in the order in which they run. Does not run
/// entries without any. If casts round (Interpreter::rounds), cotangents are rounded too, and the
/// gradients are not exactly those of the computed values.
mlir::FailureOr<std::vector<Tensors>> gradientsOf(mlir::ModuleOp differentiated,
                                                  llvm::StringRef entry, const RandomInputs &feed,
                                                  bool rounds = true);

/// From now on, an interpreter of a differentiated module changes each gradient as it is computed;
/// `change` gets its number within the op.
void moveGradients(Interpreter &interpreter,
                   std::function<void(unsigned number, Tensor &gradient)> change);

/// Ones with random signs.
Tensor randomDirection(llvm::ArrayRef<int64_t> shape, unsigned seed);

/// Random directions, along which all gradients of an op together, or each gradient by itself, are
/// compared with differences.
constexpr unsigned directionsOfAll = 4, directionsOfEach = 2;

/// The result of comparing a gradient with differences of the loss. `unknown`: the rounding of the
/// loss, or its curvature, has more effect than the gradient, so that differences with several step
/// widths do not agree with each other.
enum class Verdict { agrees, differs, unknown };

/// Compares the gradients of some sources with the difference of the loss along directions of these
/// sources. The sources move together, each in inverse proportion to its scale, max(||g||,
/// `largest` / 1000): together they may be off by at most 1e-5 of it, as a single one may. For a
/// single source, also allows the effect of the loss's rounding on a zero gradient. `gradients`
/// contains those of all sources of the op. Writes the relative difference to `relative`. For use
/// in Interpreter::gradients.
mlir::FailureOr<Verdict> compareWithDifferences(GradientOp op, llvm::ArrayRef<Along> along,
                                                llvm::ArrayRef<Tensor> gradients, double largest,
                                                Interpreter &interpreter, double &relative);

/// Compares the gradients of one op in one of its runs with differences.
class Differences {
public:
  /// For use in Interpreter::gradients; `gradients` has one tensor for every source, and must
  /// outlive this.
  Differences(GradientOp op, llvm::ArrayRef<Tensor> gradients, Interpreter &running);

  /// Finds the sources with wrong gradients among `count` sources from `first` on, and those for
  /// which differences give no answer. Moves them together; if they do not agree, each half by
  /// itself.
  mlir::LogicalResult check(unsigned first, unsigned count, unsigned directions);

  std::vector<std::pair<unsigned, double>> wrong; ///< sources, and their relative differences
  std::vector<unsigned> unknown;                  ///< sources without an answer
  double off = 0;                                 ///< the largest difference of those that agree

private:
  GradientOp op;
  llvm::ArrayRef<Tensor> gradients;
  Interpreter &running;
  double largest = 0;
};

} // namespace weir

#endif

//===- Check.h - One program against itself -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's truth is the interpreter's run of it once it is differentiated. The gradients are
// compared with differences of the loss, then the truth with the program after every pass, without
// each optional pass, as a plan before and after offsets are given, and compiled. A program whose
// forward part is fit to be compared is refused only after its gradients have agreed.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_CHECK_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_CHECK_H

#include "ir/weir/WeirDialect.h"
#include "mlir/Pass/PassManager.h"

namespace weir::smith {

/// A module's `smith.room` says for what share of what a run takes, beside what no choice changes,
/// there is memory; with `smith.offload`, activations may lie with the host.
constexpr llvm::StringLiteral roomAttrName = "smith.room", offloadAttrName = "smith.offload";
/// A StrategyAttr with the mesh that the program is run on besides one device.
constexpr llvm::StringLiteral ranksAttrName = "smith.strategy";

struct Outcome {
  enum class Kind {
    agrees,
    refused, ///< cannot be compared in f32 (Trial.h)
    fails,
  };
  Kind kind = Kind::agrees;
  std::string stage;   ///< where
  std::string message; ///< what was expected and found, or why it was refused
  /// A hash of all that the compiled program computed, to the bit; 0 where it did not run.
  uint64_t bits = 0;
};

/// What runs programs last.
struct CompileFor {
  bool compile = true;        ///< the last stage, and the slowest
  std::string target = "cpu"; ///< for makeTarget
  std::string device;         ///< DeviceOptions::kind
};

struct CheckOptions {
  CompileFor code;
  std::string until; ///< the stage to end after; all if empty
  /// Told of each stage before it begins, and of whether a pass changed the program.
  std::function<void(llvm::StringRef stage)> onStage;
  std::function<void(llvm::StringRef pass, mlir::ModuleOp after)> onChange;
  /// Runs after the pass of that name: a test breaks the program there.
  std::string plantAfter;
  std::function<void(mlir::ModuleOp)> plant;
};

/// Leaves the module as it is. Its context has all dialects and interpreters (setUp).
Outcome check(mlir::ModuleOp module, const CheckOptions &options);

/// A registry for contexts of programs. Contexts are to be without threads: programs are run in
/// forked processes.
void setUp(mlir::DialectRegistry &registry);

/// Compares each gradient that a step returns as `gradient/NAME` with differences of the loss along
/// one direction. A message, or "". The constants in gradients are f32, which in programs that are
/// not refused moves a gradient by a part in 10^6 or so.
std::string checkGradients(mlir::ModuleOp program, mlir::func::FuncOp differentiated,
                           double tolerance = 3e-6, double absolute = 1e-10);

} // namespace weir::smith

#endif

//===- Target.h - What a kind of device can be compiled for ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract of a code generator; runtime/core/Device.h is that of what executes its code. A
// target is a description of a device: what it answers depends on that description and on what it
// is asked, never on the machine that compiles. A back end is a folder of codegen/ with a target in
// it, and a row in Targets.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_TARGET_H
#define WEIR_CODEGEN_TARGET_H

#include "codegen/Tuning.h"
#include "ir/plan/PlanDialect.h"
#include "ir/weir/WeirDialect.h"
#include "support/mesh/MachineRates.h"

#include "mlir/Support/Timing.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir {

/// One launch of a kernel's work: the function is the kernel's symbol followed by `suffix`.
struct LaunchPlan {
  std::string suffix;
  int64_t tasks = 1;
  int64_t threads = 1; ///< that work on a task together
  int64_t shared = 0;  ///< bytes of memory that they share
};

struct KernelPlan {
  llvm::SmallVector<LaunchPlan> launches; ///< to be run one after the other
  /// Bytes of a scratch operand behind the results, whose contents pass from launch to launch; 0:
  /// there is none.
  int64_t workspace = 0;
  int64_t threadScratch = 0; ///< bytes per thread
  /// FLOPs of what the code computes a second time or more, beside those of the kernel's ops.
  int64_t recomputedFlops = 0;
  /// (result, input): the result may be stored in the input's buffer: every element is read before
  /// it is written, by the same task.
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;
};

/// The buffers of a kernel that a library call serves: inputs by block argument, and its one
/// result.
struct CallBuffers {
  llvm::SmallVector<mlir::Value> inputs;
  mlir::Value result;
};

/// What a library call's kernel does with what the library computes, in this order.
struct Epilogue {
  bool scaled = false; ///< multiplies all by one number, and all by another
  mlir::Type bias;     ///< adds a vector of such elements to every row; null for none
  bool relu = false;   ///< takes what is above zero
  mlir::Type result;   ///< rounds to it; null for none
};

/// Sees the code of all kernels after a phase of compiling them; the names are the target's. It is
/// a module, which may be changed, or `text` where that is null: its phase is named with the
/// extension of such files ("emitted.cu").
using DumpKernels =
    std::function<void(llvm::StringRef phase, mlir::ModuleOp module, llvm::StringRef text)>;

struct NamedKernel;

/// Not to be used on two threads at once. It keeps what it emitted for kernels in their contexts,
/// and is destroyed before them.
class Target {
public:
  virtual ~Target() = default;

  /// What an artifact demands of the device that runs it.
  virtual llvm::StringRef requirement() const = 0;

  /// The most elements of a tensor that a kernel can index.
  virtual int64_t mostIndexed() const = 0;

  /// What compile() makes.
  virtual plan::CodeFormat codeFormat() const = 0;

  /// Why a kernel of this shape, which is the root's own (Fusible), cannot be run; empty if it can.
  /// Fusion asks before it outlines. What is declined is computed element by element, as a nest, or
  /// is taken apart where its elements are no formula: every target runs maps, rows and nests.
  virtual std::string declines(KernelShape shape, mlir::Operation *root) const = 0;

  /// What is multiplied where an op that multiplies (Castable) has operands of this type of low
  /// precision: the same, or a wider one that holds each of its numbers.
  virtual mlir::Type factorType(mlir::Type low) const = 0;

  /// Whether factors of these types of eight bits are multiplied as they are, and what is summed is
  /// scaled (Epilogue), in a product of this one's sizes where both have the dimension that is
  /// summed last.
  virtual bool multiplies(MatmulOp product, mlir::Type lhs, mlir::Type rhs) const = 0;

  /// Whether factors may be rounded on their way to being multiplied, as factorsOf
  /// (PrecisionOverrides.h) allows.
  virtual bool roundsFactors() const = 0;

  /// Whether what is reduced along its first and its last axes, and not along some between, is
  /// reduced along the last ones as rows, and what is left along the others: the steps have more
  /// threads than there are results.
  virtual bool reducesInSteps() const = 0;

  /// Whether the kernel of an op that is a library call may end so; else its parts are kernels of
  /// their own.
  virtual bool takes(mlir::Operation *root, Epilogue epilogue) const = 0;

  /// Whether a kernel is a library call: planned by planCall, no code of ours.
  virtual bool isCall(KernelOp kernel) const = 0;

  /// Whether what the host writes and reads is memory of its own (plan.Space pinned), from and to
  /// which the plan copies.
  virtual bool stagesPorts() const = 0;

  /// How many kernels of this structure one launch may compute (weir.kernel's copies): 1 where a
  /// launch costs next to nothing.
  virtual int64_t mostCopies(KernelOp kernel) const = 0;

  /// How fast the described device is: one of support/mesh/MachineRates.h. For comparing kernels
  /// and schedules.
  virtual const DeviceRates &rates() const = 0;

  /// The time of a kernel, in seconds, at these rates.
  double secondsOf(double flops, double bytes) const {
    return rates().kernels.secondsOf(flops, bytes);
  }

  /// The time of a copy to the host's memory or from it, in seconds, at these rates.
  double transferSeconds(double bytes) const { return rates().transferSeconds(bytes); }

  /// How a kernel is run. One that no schedule can serve gets an error at its location, and
  /// failure.
  virtual mlir::FailureOr<KernelPlan> planKernel(KernelOp kernel) = 0;

  /// What of a kernel's schedule may be chosen, in the order in which it is decided: what a later
  /// one offers may depend on those before. None where the target's rules decide everything. Fails
  /// as planKernel does.
  virtual mlir::FailureOr<llvm::SmallVector<Knob>> knobsOf(KernelOp kernel);

  /// A target like this one for kernels that are measured: with these settings of them, no library
  /// serves any, and machine code is left to whoever loads what compile() makes. Null where there
  /// are no knobs.
  virtual std::unique_ptr<Target> forMeasuring(Tuning tuning) const { return nullptr; }

  /// Chooses so from now on, before anything is planned; planKernel fails, with an error at the
  /// kernel, where a setting is no knob's option. False where there are no knobs.
  virtual bool tune(Tuning tuning) { return false; }

  /// Appends the actions that serve a kernel by library calls at the builder. Returns the scratch
  /// they need at most per thread, in bytes; fails with an error at the kernel.
  virtual mlir::FailureOr<int64_t> planCall(mlir::OpBuilder &builder, KernelOp kernel,
                                            const CallBuffers &buffers) = 0;

  /// The bytes of a blob that holds every launch of the kernels, as planKernel planned them; none
  /// at all where there are no kernels. What it takes is added to `time`, step by step. Fails with
  /// an error, of a kernel or of the machine that compiles.
  virtual mlir::FailureOr<std::vector<char>> compile(llvm::ArrayRef<NamedKernel> kernels,
                                                     DumpKernels dump = nullptr,
                                                     mlir::TimingScope time = {}) = 0;

  /// Whether it was a setting of tune() that no kernel takes when planKernel() failed.
  virtual bool tuningFailed() const { return false; }

  /// Whether it was the machine that lacked something when compile() failed.
  virtual bool machineFailed() const { return false; }
};

} // namespace weir

#endif

//===- Sections.h - Recomputation in pipeline sections --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline stage saves, for every microbatch in flight, the activations that its gradients read
// (passes/stages/Sections.h). A recomputed kernel runs in the section that reads its result, before
// the first reader.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_SECTIONS_H
#define WEIR_PASSES_REMAT_SECTIONS_H

#include "ir/weir/kernel/Kernel.h"
#include "passes/buffers/ReadStep.h"
#include "passes/remat/Rewrite.h"

namespace weir::remat {

/// The kernels that may be recomputed, in order: those of sections without gradients whose results
/// another section reads.
llvm::SmallVector<KernelOp> repeatable(mlir::func::FuncOp entry);

/// Recomputes kernels where gradients read their results, and no longer saves values without
/// readers. They read parameters that a section with gradients gathers again (Regather.h).
void repeat(mlir::func::FuncOp entry, const llvm::DenseSet<mlir::Operation *> &kernels);

/// The kernels that an entry with sections recomputes.
struct SectionChoice {
  llvm::SmallVector<unsigned> again; ///< numbers in repeatable(), in order
  double cost = 0;                   ///< their time
  int64_t bytes = 0;                 ///< of the arena's scratch
};

/// Choices for an entry; the memory of each is measured.
class SectionChooser {
public:
  /// `marked`: kernels that every choice recomputes.
  static mlir::FailureOr<SectionChooser> of(mlir::func::FuncOp entry, KernelFacts &facts,
                                            llvm::function_ref<bool(KernelOp)> marked);

  const SectionChoice &least() const { return plain; } ///< only the marked kernels
  double seconds() const { return total; }             ///< of the entry without recomputation
  size_t kernels() const { return count; } ///< the number of kernels that may be recomputed
  /// Recomputes every kernel that may be.
  mlir::FailureOr<SectionChoice> all();
  /// The cheapest choice found within the budget, or else the smallest. At first, alike kernels are
  /// taken together, by the memory that they save for their time.
  mlir::FailureOr<SectionChoice> within(int64_t budget);
  void apply(const SectionChoice &choice) { applyTo(entry, choice); }

private:
  SectionChooser(mlir::func::FuncOp entry, KernelFacts &facts) : entry(entry), facts(facts) {}

  using Numbers = llvm::ArrayRef<unsigned>;
  mlir::FailureOr<SectionChoice> measured(llvm::SmallVector<unsigned> again);
  mlir::FailureOr<SectionChoice> add(const SectionChoice &to, Numbers more);
  mlir::FailureOr<SectionChoice> remove(const SectionChoice &from, Numbers less);
  mlir::FailureOr<SectionChoice> growing(int64_t budget);
  mlir::FailureOr<SectionChoice> shrinking(int64_t budget);
  mlir::FailureOr<SectionChoice> trimmed(SectionChoice choice, int64_t budget);
  static void applyTo(mlir::func::FuncOp to, const SectionChoice &choice);

  mlir::func::FuncOp entry;
  KernelFacts &facts;
  SectionChoice plain;
  double total = 0;
  size_t count = 0;
  std::vector<llvm::SmallVector<unsigned>> groups; ///< of alike kernels that are not marked
};

} // namespace weir::remat

#endif

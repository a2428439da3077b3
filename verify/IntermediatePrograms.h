//===- IntermediatePrograms.h - A program after each of its passes --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_INTERMEDIATEPROGRAMS_H
#define WEIR_VERIFY_INTERMEDIATEPROGRAMS_H

#include "verify/Samples.h"

namespace weir {

/// The program after each pass that changes something, with gradients computed.
class IntermediatePrograms {
public:
  IntermediatePrograms(Verification &verification, Samples &samples)
      : verification(verification), samples(samples) {}

  /// Takes the frontend's program, differentiated, as the reference.
  mlir::LogicalResult begin();
  /// Runs all passes and keeps their results; with VerifyOptions::full, checks each.
  mlir::LogicalResult runPasses();

  /// Runs the forms after the first, in order, until one differs from the reference, and reports
  /// it.
  mlir::LogicalResult findFault();

  mlir::ModuleOp first() { return forms.front().module(); }
  /// The last weir IR before partitioning.
  mlir::ModuleOp lastWhole();
  /// The last weir IR; several modules if it is partitioned.
  llvm::SmallVector<mlir::ModuleOp> last() { return forms.back().programs(); }

private:
  /// Entries that a pass does not change are known to have the same meaning.
  struct IntermediateProgram {
    std::string pass;
    std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules; ///< several if partitioned
    bool isCut = false;
    std::map<std::string, std::string> text; ///< of each entry

    mlir::ModuleOp module() { return *modules.front(); }
    llvm::SmallVector<mlir::ModuleOp> programs();
  };
  /// The results of the program at this point, with or without gradient ops.
  mlir::LogicalResult addRunnable(IntermediateProgram &form);
  mlir::LogicalResult add(llvm::StringRef pass);
  /// Updates `marked` after a pass: marks gradients when their precision is fixed, and what the
  /// recipe makes of them.
  mlir::LogicalResult mark(llvm::StringRef group, const PipelinePass &pass);
  /// Takes the last form for what is true, behind a pass that changes numbers.
  mlir::LogicalResult beginAnew();
  /// Checks the form with that number, not the first; skips entries that it has not changed.
  mlir::LogicalResult check(size_t number);
  std::optional<Blame> findBlame(IntermediateProgram &before, IntermediateProgram &form,
                                 const Disagreement &what, const RandomInputs &feed);

  Verification &verification;
  Samples &samples;
  /// In the pass groups that change numbers, from mixed precision on: the program with its
  /// gradients marked, which the pipeline's own must not have.
  mlir::OwningOpRef<mlir::ModuleOp> marked;
  /// Each differs from the one before it; the first is the reference.
  std::vector<IntermediateProgram> forms;
};

} // namespace weir

#endif

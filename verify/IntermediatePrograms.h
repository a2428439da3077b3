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

/// The program after each pass that changes something, gradients computed.
class IntermediatePrograms {
public:
  IntermediatePrograms(Verification &verification, Samples &samples)
      : verification(verification), samples(samples) {}

  /// Takes the program as the frontend made it, differentiated: what is true.
  mlir::LogicalResult begin();
  /// Runs all passes and keeps what they make; where the options ask for all of it, checks each.
  mlir::LogicalResult runPasses();

  /// Runs the forms after the first, in their order, until one differs from what is true, which is
  /// reported.
  mlir::LogicalResult findFault();

  mlir::ModuleOp first() { return forms.front().module(); }
  /// The last of weir IR that is not cut over ranks.
  mlir::ModuleOp lastWhole();
  /// Of weir IR, several where it is cut.
  llvm::SmallVector<mlir::ModuleOp> last() { return forms.back().programs(); }

private:
  /// Entries that are as they were before the pass are known to mean the same.
  struct IntermediateProgram {
    std::string pass;
    std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules; ///< several where it is cut
    bool isCut = false;
    std::map<std::string, std::string> text; ///< of each entry

    mlir::ModuleOp module() { return *modules.front(); }
    llvm::SmallVector<mlir::ModuleOp> programs();
  };
  /// What the program computes at this point, gradient ops or not.
  mlir::LogicalResult addRunnable(IntermediateProgram &form);
  mlir::LogicalResult add(llvm::StringRef pass);
  /// Keeps `marked` up with a pass: as gradients are when their precision is settled, and what the
  /// recipe makes of them.
  mlir::LogicalResult mark(llvm::StringRef group, const PipelinePass &pass);
  /// Takes the last form for what is true, behind a pass that changes numbers.
  mlir::LogicalResult beginAnew();
  /// Of the form of that number, not the first; what it has not changed is not run.
  mlir::LogicalResult check(size_t number);
  std::optional<Blame> findBlame(IntermediateProgram &before, IntermediateProgram &form,
                                 const Disagreement &what, const RandomInputs &feed);

  Verification &verification;
  Samples &samples;
  /// In the pass groups that change numbers, from mixed precision on: the program with its
  /// gradients marked, which the pipeline's own must not have.
  mlir::OwningOpRef<mlir::ModuleOp> marked;
  /// Each unlike the one before it; the first is what is true.
  std::vector<IntermediateProgram> forms;
};

} // namespace weir

#endif

//===- Names.h - Names of scalars and outputs of programs -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PROGRAM_NAMES_H
#define WEIR_SUPPORT_PROGRAM_NAMES_H

namespace weir {

/// The compiler's name of a scalar of the run; the artifact's, and its role's, is what follows.
inline constexpr char runPrefix[] = "run/";
inline constexpr char runSeedName[] = "run/seed";
inline constexpr char runStepName[] = "run/step";
inline constexpr char runTotalStepsName[] = "run/total_steps";
/// Where the loss scale is dynamic: what it is, and the steps without an overflow since it was made
/// so.
inline constexpr char runLossScaleName[] = "run/loss_scale";
inline constexpr char runGoodStepsName[] = "run/good_steps";
/// On a mesh: where a rank's share of a piece begins, which is written behind it as in a layout
/// (support/mesh/Layout.h).
inline constexpr char runBeginPrefix[] = "run/begin/";

/// How large the tensors that a step rounds to f8 have been in its last steps: the step's own.
inline constexpr char amaxName[] = "f8/amax";

/// The output of `step` that is what its backward computation was multiplied by.
inline constexpr char lossScaleOutput[] = "loss_scale";

/// The output of `step` that is the gradient of the parameter whose name follows.
inline constexpr char gradientPrefix[] = "gradient/";

} // namespace weir

#endif

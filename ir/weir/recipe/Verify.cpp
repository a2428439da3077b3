//===- Verify.cpp - Verifiers of what a recipe asks ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/WeirDialect.h"
#include "ir/weir/recipe/Recipe.h"

using namespace mlir;

namespace weir {

LogicalResult LossOp::verify() {
  // C1
  size_t terms = getSums().size();
  if (terms == 0 || getWeights().size() != terms || getCounts().size() != terms)
    return emitOpError() << "needs a weight and a count for each sum, but has "
                         << getWeights().size() << " weights, " << terms << " sums and "
                         << getCounts().size() << " counts";
  return success();
}

LogicalResult ClipOp::verify() {
  // C1
  if (!getLimit() && !getClipped().empty())
    return emitOpError("clips nothing without a limit");
  if (getLimit() && getClipped().getTypes() != getGradients().getTypes())
    return emitOpError("needs one result of equal type for each gradient");
  return success();
}

} // namespace weir

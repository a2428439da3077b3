//===- Situation.h - A function of an op test -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes the check dialect out of a test: what remains is a program with an entry per function,
// which any back end can compile, and what to give each entry and to expect of it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_CHECK_SITUATION_H
#define WEIR_IR_CHECK_SITUATION_H

#include "ir/check/CheckDialect.h"
#include "ir/reference/Tensor.h"
#include <map>
#include <optional>
#include <string>

namespace weir::check {

/// Where a test's value comes from: a result of the entry, a variable after it, or the test itself.
struct Origin {
  enum class Kind { result, variable, literal } kind;
  unsigned result = 0;
  std::string variable;
  Tensor literal;
};

struct Expectation {
  mlir::Location location;
  mlir::RankedTensorType type;
  Origin actual, expected;
  double within = 1e-5;
  bool each = false, exactly = false; ///< as in CheckOps.td
};

/// Whether a back end is meant: "cpu" means cpu, cpu:x86-64-v3 and so on.
bool isNamedBy(llvm::StringRef backend, llvm::StringRef name);

struct Situation {
  std::string name; ///< of the function
  mlir::Location location;
  Tensors inputs; ///< the entry's arguments
  std::map<std::string, Tensor> variables;
  std::vector<Expectation> expectations;
  mlir::DictionaryAttr unsupported; ///< may be null

  /// Why the back end does not run it; empty where it does.
  llvm::StringRef unsupportedBy(llvm::StringRef backend) const;
};

/// What came of running an entry.
struct Outcome {
  Tensors results;
  std::map<std::string, Tensor> variables;
};

/// Makes every function an entry without check ops: its inputs are arguments, what is compared its
/// results. Fails with a diagnostic on a function that has arguments or results of its own, or that
/// expects nothing.
mlir::FailureOr<std::vector<Situation>> extractSituations(mlir::ModuleOp module);

/// The first element that is not as expected.
struct Disagreement {
  Shape index;
  double expected, actual;
  int64_t count; ///< of all that disagree
};
std::optional<Disagreement> disagreement(const Expectation &expectation, const Outcome &outcome);

} // namespace weir::check

#endif

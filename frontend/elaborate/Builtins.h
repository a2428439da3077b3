//===- Builtins.h - The operators that are called by name -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A builtin is a row of a table: its name, its arguments and one small function. What owns
// parameters or state is never one: that is the prelude's.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_BUILTINS_H
#define WEIR_FRONTEND_ELABORATE_BUILTINS_H

#include "frontend/elaborate/Arguments.h"
#include "frontend/elaborate/Elaborator.h"

namespace weir::elab {

/// The evaluated arguments of one call. The accessors report what does not fit and return nothing;
/// a poison is silent.
class BuiltinCall {
public:
  BuiltinCall(Elaborator &elaborator, const Builtin &builtin,
              const std::vector<const CallArgument *> &slots, Range range);

  bool has(unsigned i) const { return given[i]; }
  const Value &value(unsigned i) const { return values[i]; }
  Range rangeOf(unsigned i) const { return ranges[i]; }

  const Tensor *tensor(unsigned i);
  const Tensor *floats(unsigned i);  ///< a tensor of f32
  const Tensor *factors(unsigned i); ///< one of f32, or of floats of low precision
  std::optional<int64_t> integer(unsigned i, std::optional<int64_t> otherwise = std::nullopt);
  std::optional<double> number(unsigned i, std::optional<double> otherwise = std::nullopt);
  std::optional<bool> truth(unsigned i, bool otherwise);
  /// One int per element of a list; an int alone is a list of one.
  std::optional<std::vector<int64_t>> integers(unsigned i);
  /// An int, or a list of two: the same for both spatial dimensions, or each its own.
  std::optional<std::vector<int64_t>> pair(unsigned i, int64_t otherwise);
  /// A dimension of a tensor; -1 is the last.
  std::optional<int64_t> axis(unsigned i, const Tensor &tensor,
                              std::optional<int64_t> otherwise = std::nullopt);
  /// Distinct dimensions of a tensor, increasing; all where none are given.
  std::optional<std::vector<int64_t>> axes(unsigned i, const Tensor &tensor);
  /// "argument `x` of `exp`"
  std::string what(unsigned i) const;
  /// Reports that argument i is not `wanted`, and returns a poison.
  Value wrong(unsigned i, const std::string &wanted);
  Diagnostic &error(std::string message) {
    return elaborator.reporter.error(range, std::move(message));
  }

  mlir::OpBuilder &builder() { return elaborator.builder(); }
  mlir::Location location() { return elaborator.location(range); }

  Elaborator &elaborator;
  const Builtin &builtin;
  Range range;
  std::vector<Value> values;
  std::vector<Range> ranges; ///< the call's where an argument is not given
  std::vector<bool> given;
};

struct Builtin {
  const char *name;
  /// "x, axes?, eps=": what may be left out has a question mark, or `=` where it is given by name.
  const char *arguments;
  Value (*apply)(BuiltinCall &call);

  Signature signature() const;
};

const Builtin *findBuiltin(const std::string &name);
std::vector<std::string> builtinNames();

/// The table's parts, one per file.
extern const std::vector<Builtin> mathBuiltins, reductionBuiltins, layoutBuiltins, networkBuiltins,
    programBuiltins;

} // namespace weir::elab

#endif

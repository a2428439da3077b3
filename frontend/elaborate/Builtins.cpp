//===- Builtins.cpp - Calls of builtins -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"

#include <algorithm>

namespace weir::elab {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename Visit> static void visitBuiltins(Visit visit) {
  for (const auto *part :
       {&mathBuiltins, &reductionBuiltins, &layoutBuiltins, &networkBuiltins, &programBuiltins})
    for (const Builtin &builtin : *part)
      visit(builtin);
}

const Builtin *findBuiltin(const std::string &name) {
  const Builtin *found = nullptr;
  visitBuiltins([&](const Builtin &builtin) {
    if (name == builtin.name)
      found = &builtin;
  });
  return found;
}

std::vector<std::string> builtinNames() {
  std::vector<std::string> names;
  visitBuiltins([&](const Builtin &builtin) { names.push_back(builtin.name); });
  return names;
}

Signature Builtin::signature() const {
  Signature signature{name, {}, {}};
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(arguments).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    Formal formal;
    part = part.trim();
    formal.byName = part.consume_back("=");
    formal.optional = part.consume_back("?") || formal.byName;
    formal.name = part.str();
    signature.formals.push_back(std::move(formal));
  }
  return signature;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

BuiltinCall::BuiltinCall(Elaborator &elaborator, const Builtin &builtin,
                         const std::vector<const CallArgument *> &slots, Range range)
    : elaborator(elaborator), builtin(builtin), range(range) {
  for (const CallArgument *argument : slots) {
    values.push_back(argument ? argument->value : Value());
    ranges.push_back(argument ? argument->range : range);
    given.push_back(argument != nullptr);
  }
}

std::string BuiltinCall::what(unsigned i) const {
  return "argument `" + builtin.signature().formals[i].name + "` of `" + builtin.name + "`";
}

Value BuiltinCall::wrong(unsigned i, const std::string &wanted) {
  if (given[i] && values[i].isPoison())
    return {};
  auto &&said = elaborator.reporter.error(rangeOf(i), what(i) + " must be " + wanted + ", but is " +
                                                          values[i].describe());
  if (const auto *tensor = values[i].get<Tensor>(); tensor && tensor->isLow())
    said.help("low precision is stored, moved and multiplied; `f32(x)` computes with it");
  return {};
}

const Tensor *BuiltinCall::tensor(unsigned i) {
  const auto *result = values[i].get<Tensor>();
  if (!result)
    wrong(i, "a tensor");
  return result;
}

const Tensor *BuiltinCall::floats(unsigned i) {
  const auto *result = values[i].get<Tensor>();
  if (result && result->isFloat())
    return result;
  wrong(i, "a tensor of floats");
  return nullptr;
}

const Tensor *BuiltinCall::factors(unsigned i) {
  const auto *result = values[i].get<Tensor>();
  return result && result->isLow() ? result : floats(i);
}

std::optional<int64_t> BuiltinCall::integer(unsigned i, std::optional<int64_t> otherwise) {
  if (!given[i])
    return otherwise;
  if (const auto *number = values[i].get<int64_t>())
    return *number;
  wrong(i, "an int that is known when compiling");
  return std::nullopt;
}

std::optional<double> BuiltinCall::number(unsigned i, std::optional<double> otherwise) {
  if (!given[i])
    return otherwise;
  if (values[i].isNumber())
    return values[i].number();
  wrong(i, "a number that is known when compiling");
  return std::nullopt;
}

std::optional<bool> BuiltinCall::truth(unsigned i, bool otherwise) {
  if (!given[i])
    return otherwise;
  if (const auto *truth = values[i].get<bool>())
    return *truth;
  wrong(i, "a truth value that is known when compiling");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> BuiltinCall::integers(unsigned i) {
  if (const auto *number = values[i].get<int64_t>())
    return std::vector<int64_t>{*number};
  std::vector<int64_t> result;
  const std::vector<Value> *elements = values[i].elements();
  for (const Value &element : elements ? *elements : std::vector<Value>{Value()}) {
    if (!element.get<int64_t>()) {
      if (!elements || !element.isPoison())
        wrong(i, "a list of ints that are known when compiling");
      return std::nullopt;
    }
    result.push_back(*element.get<int64_t>());
  }
  return result;
}

std::optional<std::vector<int64_t>> BuiltinCall::pair(unsigned i, int64_t otherwise) {
  if (!given[i])
    return std::vector<int64_t>{otherwise, otherwise};
  auto result = integers(i);
  if (!result)
    return std::nullopt;
  if (result->size() == 1)
    result->push_back(result->front());
  if (result->size() != 2) {
    wrong(i, "an int or a list of two");
    return std::nullopt;
  }
  return result;
}

static bool normalizeAxis(int64_t &axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  return axis >= 0 && axis < rank;
}

std::optional<int64_t> BuiltinCall::axis(unsigned i, const Tensor &tensor,
                                         std::optional<int64_t> otherwise) {
  auto given = integer(i, otherwise);
  if (!given)
    return std::nullopt;
  int64_t axis = *given;
  if (normalizeAxis(axis, tensor.rank()))
    return axis;
  elaborator.reporter.error(rangeOf(i), what(i) + " is " + std::to_string(*given) + ", but " +
                                            describe(tensor) + " has " +
                                            std::to_string(tensor.rank()) + " dimensions");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> BuiltinCall::axes(unsigned i, const Tensor &tensor) {
  std::vector<int64_t> result;
  if (!given[i]) {
    for (int64_t axis = 0; axis < tensor.rank(); ++axis)
      result.push_back(axis);
    return result;
  }
  auto list = integers(i);
  if (!list)
    return std::nullopt;
  for (int64_t axis : *list) {
    int64_t at = axis;
    if (!normalizeAxis(at, tensor.rank()) || llvm::is_contained(result, at)) {
      bool twice = at >= 0 && at < tensor.rank();
      elaborator.reporter.error(rangeOf(i),
                                what(i) + " has " + std::to_string(axis) +
                                    (twice ? std::string(" twice")
                                           : ", but " + describe(tensor) + " has " +
                                                 std::to_string(tensor.rank()) + " dimensions"));
      return std::nullopt;
    }
    result.push_back(at);
  }
  llvm::sort(result);
  return result;
}

Value Elaborator::callBuiltin(const Builtin &builtin, const ast::CallExpr &expr) {
  std::vector<CallArgument> arguments = evaluateArguments(expr.arguments);
  std::vector<const CallArgument *> slots;
  if (!assignArguments(reporter, builtin.signature(), arguments, expr.range, slots))
    return {};
  for (const CallArgument *argument : slots)
    if (argument && argument->value.isPoison())
      return {};
  BuiltinCall call(*this, builtin, slots, expr.range);
  return builtin.apply(call);
}

} // namespace weir::elab

//===- Builtins.cpp - Calls of builtins -------------------------------------===//
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

static std::vector<std::string> splitArguments(llvm::StringRef text) {
  std::vector<std::string> names;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    names.push_back(part.trim().str());
  return names;
}

std::vector<std::string> Builtin::argumentNames() const {
  std::vector<std::string> names = splitArguments(arguments);
  for (std::string &name : names)
    if (name.back() == '?')
      name.pop_back();
  return names;
}

bool Builtin::isOptional(unsigned i) const { return splitArguments(arguments)[i].back() == '?'; }

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

BuiltinCall::BuiltinCall(Elaborator &elaborator, const Builtin &builtin, Range range)
    : elaborator(elaborator), builtin(builtin), range(range) {
  size_t count = builtin.argumentNames().size();
  values.resize(count);
  ranges.resize(count);
  given.resize(count);
}

std::string BuiltinCall::what(unsigned i) const {
  return "argument `" + builtin.argumentNames()[i] + "` of `" + builtin.name + "`";
}

Value BuiltinCall::wrong(unsigned i, const std::string &wanted) {
  if (!values[i].isPoison())
    elaborator.error(rangeOf(i),
                     what(i) + " must be " + wanted + ", but is " + values[i].describe());
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
  elaborator.error(rangeOf(i), what(i) + " is " + std::to_string(*given) + ", but " +
                                   describe(tensor) + " has " + std::to_string(tensor.rank()) +
                                   " dimensions");
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
      elaborator.error(rangeOf(i), what(i) + " has " + std::to_string(axis) +
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
  std::vector<std::string> names = builtin.argumentNames();
  BuiltinCall call(*this, builtin, expr.range);
  std::string name = std::string("`") + builtin.name + "`";
  bool good = true;
  size_t position = 0;
  for (CallArgument &argument : arguments) {
    size_t at = position;
    if (argument.name) {
      at = std::find(names.begin(), names.end(), argument.name->text) - names.begin();
      if (at == names.size()) {
        error(argument.name->range, name + " has no argument `" + argument.name->text + "`")
            .suggest(nearest(argument.name->text, names));
        good = false;
        continue;
      }
    } else if (position++ >= names.size()) {
      error(argument.range, name + " takes " + std::to_string(names.size()) +
                                (names.size() == 1 ? " argument" : " arguments") +
                                ", this is one more");
      good = false;
      break;
    }
    if (call.given[at]) {
      error(argument.range, "the argument `" + names[at] + "` of " + name + " is given twice")
          .note(call.ranges[at], "given here");
      good = false;
      continue;
    }
    call.given[at] = true;
    call.values[at] = std::move(argument.value);
    call.ranges[at] = argument.range;
  }
  for (size_t i = 0; good && i < names.size(); ++i)
    if (!call.given[i] && !builtin.isOptional(i)) {
      error(expr.range, name + " is missing its argument `" + names[i] + "`");
      good = false;
    }
  for (size_t i = 0; i < names.size(); ++i)
    if (call.given[i] && call.values[i].isPoison())
      good = false;
  return good ? builtin.apply(call) : Value();
}

} // namespace weir::elab

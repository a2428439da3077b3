//===- ShapeMatcher.cpp - Shapes against types, and dimension variables ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/ShapeMatcher.h"
#include "support/NearestName.h"

#include "llvm/ADT/STLExtras.h"

#include <cctype>

namespace weir::elab {

//===----------------------------------------------------------------------===//
// Which names are dimensions
//===----------------------------------------------------------------------===//

template <typename Visit>
static void visitSignature(const ast::CallableItem &callable, Visit visit) {
  auto types = [&](const ast::Type *type) {
    if (const auto *tensor = llvm::dyn_cast_or_null<ast::TensorType>(type))
      for (const ast::ExprPtr &dim : tensor->dims)
        ast::visitNames(*dim, visit);
  };
  for (const ast::Parameter &parameter : callable.parameters)
    types(parameter.type.get());
  for (const ast::TypePtr &result : callable.results)
    types(result.get());
}

static bool isParameter(const ast::CallableItem &callable, const std::string &name) {
  for (const ast::Parameter &parameter : callable.parameters)
    if (parameter.name.text == name)
      return true;
  return false;
}

void ShapeMatcher::collectDimensions(const ast::CallableItem &callable) {
  visitSignature(callable, [&](const ast::NameExpr &name) {
    if (!current->file->globals.names.count(name.name) && !isParameter(callable, name.name))
      current->dimensions.insert(name.name);
  });
}

/// How often each name stands in a text, outside comments.
static std::map<std::string_view, unsigned> countWords(std::string_view text) {
  std::map<std::string_view, unsigned> counts;
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (isWord(text[i])) {
      size_t begin = i;
      while (i < text.size() && isWord(text[i]))
        ++i;
      ++counts[text.substr(begin, i - begin)];
    } else {
      ++i;
    }
  }
  return counts;
}

/// The dimensions whose size a call may say: an argument's type has the name by itself.
static std::set<std::string> bindable(const ast::CallableItem &callable) {
  std::set<std::string> names;
  for (const ast::Parameter &parameter : callable.parameters)
    if (const auto *tensor = llvm::dyn_cast_or_null<ast::TensorType>(parameter.type.get()))
      for (const ast::ExprPtr &dim : tensor->dims)
        if (const auto *plain = llvm::dyn_cast<ast::NameExpr>(dim.get()))
          names.insert(plain->name);
  return names;
}

void ShapeMatcher::reportUnbound(const ast::CallableItem &callable, const ast::NameExpr &name) {
  if (current->faulty || !unbound.emplace(&callable, name.name).second)
    return;
  std::vector<std::string> known;
  if (!reporter.diagnostics.full()) {
    for (const auto &[other, binding] : files.fileOf(callable).globals.names)
      known.push_back(other);
    for (const ast::Parameter &parameter : callable.parameters)
      known.push_back(parameter.name.text);
    visitSignature(callable, [&](const ast::NameExpr &other) { known.push_back(other.name); });
  }
  Diagnostic &report =
      reporter.error(name.range, "no argument says what the dimension `" + name.name + "` is");
  if (auto meant = nearestName(name.name, known))
    report.suggest(meant);
  else
    report.help("write `config " + name.name +
                " = …`, or let the type of an argument have a dimension that is `" + name.name +
                "` alone");
}

/// A dimension that is used nowhere else and looks like another name is a misspelling, not a
/// dimension; one that no call can bind has no size.
void ShapeMatcher::checkDimensionNames(const ast::CallableItem &callable) {
  std::vector<std::string> known;
  std::vector<const ast::NameExpr *> suspects, dimensions;
  auto words = countWords(callable.range.text());
  visitSignature(callable, [&](const ast::NameExpr &name) {
    if (files.model.globals.names.count(name.name) || isParameter(callable, name.name))
      return;
    dimensions.push_back(&name);
    if (name.name.size() > 3 && words[name.name] == 1)
      suspects.push_back(&name);
    else
      known.push_back(name.name);
  });
  if (!suspects.empty() && !reporter.diagnostics.full()) {
    for (const auto &[name, binding] : files.model.globals.names)
      known.push_back(name);
    for (const ast::Parameter &parameter : callable.parameters)
      known.push_back(parameter.name.text);
  }
  for (const ast::NameExpr *suspect : suspects)
    if (auto meant =
            reporter.diagnostics.full() ? std::nullopt : nearestName(suspect->name, known)) {
      reporter.unknown(suspect->range, "unknown dimension `" + suspect->name + "`, used only once")
          .suggest(meant);
      unbound.emplace(&callable, suspect->name);
    }
  std::set<std::string> bound = bindable(callable);
  for (const ast::NameExpr *dimension : dimensions)
    if (!bound.count(dimension->name))
      reportUnbound(callable, *dimension);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

std::optional<Dim> ShapeMatcher::evaluateDim(const ast::Expr &expr) {
  const auto *named = llvm::dyn_cast<ast::NameExpr>(&expr);
  Binding *again = named ? current->scope->find(named->name) : nullptr;
  if (again && again->value.get<Tensor>()) {
    reporter
        .error(expr.range, "a dimension must be an int that is known when compiling, but `" +
                               named->name + "` is " + again->value.describe())
        .note(again->range, "`" + named->name + "` is bound here")
        .help("give the value or the dimension another name");
    return std::nullopt;
  }
  auto size = evaluator.evaluateInt(expr, "a dimension");
  if (!size)
    return std::nullopt;
  if (*size < 1) {
    reporter.error(expr.range,
                   "a dimension must be positive, but this is " + std::to_string(*size));
    return std::nullopt;
  }
  Dim dim;
  dim.size = *size;
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&expr)) {
    dim.name = name->name;
    dim.config = current->configOf(expr);
    if (const Binding *binding = current->find(name->name)) {
      dim.bound = binding->range;
      dim.boundBy = binding->boundBy;
    }
  }
  return dim;
}

std::optional<Dims> ShapeMatcher::evaluateDims(const ast::TensorType &type) {
  Dims dims;
  bool good = true;
  for (const ast::ExprPtr &expr : type.dims) {
    if (llvm::isa<ast::EllipsisExpr>(expr.get())) {
      if (current->ellipsis) {
        dims.insert(dims.end(), current->ellipsis->begin(), current->ellipsis->end());
      } else {
        if (!current->callable || !current->hasEllipsis)
          reporter.error(expr->range, "nothing says what `..` stands for here");
        good = false;
      }
    } else if (auto dim = evaluateDim(*expr)) {
      dims.push_back(*dim);
    } else {
      good = false;
    }
  }
  if (good && !fits(dims)) {
    reporter.error(type.range, "a tensor of " + describe(dims) + tooLarge);
    return std::nullopt;
  }
  return good ? std::optional<Dims>(dims) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

static std::string written(const ast::Node &node) { return std::string(node.range.text()); }

/// Where `..` stands among a type's dimensions, or their number.
static size_t ellipsisOf(const ast::TensorType &type) {
  size_t at = 0;
  while (at < type.dims.size() && !llvm::isa<ast::EllipsisExpr>(type.dims[at].get()))
    ++at;
  return at;
}

/// The dimension of a tensor of `rank` dimensions that dimension i of its type is about.
static size_t placeOf(const ast::TensorType &type, size_t rank, size_t i) {
  return i > ellipsisOf(type) ? rank - (type.dims.size() - i) : i;
}

static bool fitsRank(const ast::TensorType &type, size_t rank) {
  bool open = ellipsisOf(type) < type.dims.size();
  return open ? rank + 1 >= type.dims.size() : rank == type.dims.size();
}

void ShapeMatcher::bindDimension(const std::string &name, Dim &found, Range range,
                                 const std::string &boundBy) {
  current->callerDims[name] = found;
  current->scope->names[name] = Binding{found.size, range, found.config, boundBy, true};
  found.name = name;
  found.bound = range;
  found.boundBy = boundBy;
}

bool ShapeMatcher::bindDimensions(const ast::Parameter &parameter, const CallArgument &argument) {
  const auto &type = llvm::cast<ast::TensorType>(*parameter.type);
  if (type.dims.empty())
    return true;
  const auto *tensor = argument.value.get<Tensor>();
  bool fits = tensor && fitsRank(type, tensor->dims.size());
  if (fits) {
    mlir::Type wanted = typeOf(tensor->value.getContext(), type.element);
    fits = tensor->element() == wanted || (tensor->isByte() && wanted.isInteger(32));
  }
  if (!fits)
    return false;
  for (size_t i = 0; i < type.dims.size(); ++i)
    if (const auto *name = llvm::dyn_cast<ast::NameExpr>(type.dims[i].get());
        name && current->dimensions.count(name->name) && !current->scope->find(name->name)) {
      Dim found = tensor->dims[placeOf(type, tensor->dims.size(), i)];
      bindDimension(name->name, found, argument.range, "argument `" + parameter.name.text + "`");
    }
  return true;
}

static std::string declared(const ast::TensorType &type, const Tensor &tensor) {
  return ", declared `" + written(type) + "`, found " + describe(tensor);
}

bool ShapeMatcher::match(const ast::TensorType &type, Tensor &tensor, const Matched &matched) {
  if (!matchElement(type, tensor, matched) || !matchRank(type, tensor, matched) ||
      !matchEllipsis(type, tensor, matched))
    return false;
  // Plain names first: an expression may use what they bind.
  bool good = true;
  for (bool names : {true, false})
    for (size_t i = 0; i < type.dims.size(); ++i) {
      const ast::Expr &expr = *type.dims[i];
      if (llvm::isa<ast::EllipsisExpr>(&expr) || llvm::isa<ast::NameExpr>(&expr) != names)
        continue;
      Outcome outcome = matchDim(type, i, tensor, matched);
      if (outcome == Outcome::differs)
        return false;
      good &= outcome == Outcome::matches;
    }
  return good;
}

bool ShapeMatcher::matchElement(const ast::TensorType &type, const Tensor &tensor,
                                const Matched &matched) {
  mlir::Type wanted = typeOf(tensor.value.getContext(), type.element);
  if (tensor.element() == wanted)
    return true;
  reporter
      .error(matched.range, matched.what + " has the wrong element type" + declared(type, tensor))
      .note(type.range, "declared here")
      .help(wanted.isF32() ? "`f32(x)` converts" : "`i32(x)` converts");
  return false;
}

bool ShapeMatcher::matchRank(const ast::TensorType &type, const Tensor &tensor,
                             const Matched &matched) {
  if (fitsRank(type, tensor.dims.size()))
    return true;
  bool open = ellipsisOf(type) < type.dims.size();
  size_t fixed = type.dims.size() - open;
  reporter
      .error(matched.range, matched.what + " has the wrong rank: " + (open ? "at least " : "") +
                                std::to_string(fixed) +
                                (fixed == 1 ? " dimension" : " dimensions") + " wanted" +
                                declared(type, tensor))
      .note(type.range, "declared here");
  return false;
}

/// Binds `..`, or compares what it stands for with the dimensions found there.
bool ShapeMatcher::matchEllipsis(const ast::TensorType &type, Tensor &tensor,
                                 const Matched &matched) {
  size_t at = ellipsisOf(type);
  if (at == type.dims.size())
    return true;
  size_t covered = tensor.dims.size() - (type.dims.size() - 1);
  Dims found(tensor.dims.begin() + at, tensor.dims.begin() + at + covered);
  if (!current->ellipsis && !matched.binds) {
    if (!current->hasEllipsis)
      reporter.error(type.dims[at]->range, "no argument says what `..` stands for");
    return false;
  }
  if (!current->ellipsis)
    current->ellipsis = found;
  if (!sameSizes(*current->ellipsis, found)) {
    reporter
        .error(matched.range, matched.what + ": `..` is " + describe(*current->ellipsis) + " but " +
                                  describe(found) + " here" + declared(type, tensor))
        .note(type.range, "declared here");
    return false;
  }
  llvm::copy(*current->ellipsis, tensor.dims.begin() + at);
  return true;
}

/// Dimension i of the type, which is no `..`.
ShapeMatcher::Outcome ShapeMatcher::matchDim(const ast::TensorType &type, size_t i, Tensor &tensor,
                                             const Matched &matched) {
  const ast::Expr &expr = *type.dims[i];
  const auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
  Dim &found = tensor.dims[placeOf(type, tensor.dims.size(), i)];
  bool dimension = name && current->dimensions.count(name->name);
  if (dimension && !current->scope->find(name->name)) {
    if (matched.binds) {
      bindDimension(name->name, found, matched.range, matched.boundBy);
      return Outcome::matches;
    }
    reportUnbound(*current->callable, *name);
    return Outcome::unknown;
  }
  auto wanted = evaluateDim(expr);
  if (!wanted)
    return Outcome::unknown;
  if (wanted->size != found.size) {
    reportSize(type, expr, *wanted, found, tensor, matched);
    return Outcome::differs;
  }
  if (name) {
    if (!wanted->config.empty())
      found.config = wanted->config;
    found.name = wanted->name;
    found.bound = wanted->bound;
    found.boundBy = wanted->boundBy;
  }
  return Outcome::matches;
}

void ShapeMatcher::reportSize(const ast::TensorType &type, const ast::Expr &expr, const Dim &wanted,
                              const Dim &found, const Tensor &tensor, const Matched &matched) {
  std::string text = "`" + written(expr) + "` is " + std::to_string(wanted.size);
  if (!wanted.boundBy.empty())
    text += " (bound by " + wanted.boundBy + ")";
  if (llvm::isa<ast::IntegerExpr>(&expr))
    text = "the dimension should be " + std::to_string(wanted.size);
  Diagnostic &report = reporter.error(matched.range, matched.what + ": " + text + " but " +
                                                         std::to_string(found.size) + " here" +
                                                         declared(type, tensor));
  if (wanted.bound.valid())
    report.note(wanted.bound, "`" + written(expr) + "` is bound here");
  report.note(type.range, "declared here");
}

void ShapeMatcher::restoreNames(Value &value) {
  const auto *tensor = value.get<Tensor>();
  if (!tensor)
    return;
  Tensor renamed = *tensor;
  for (Dim &dim : renamed.dims) {
    auto fromCaller = [&](const Dim &other) {
      return other.name == dim.name && other.size == dim.size;
    };
    if (current->ellipsis && llvm::any_of(*current->ellipsis, fromCaller))
      continue;
    auto original = current->callerDims.find(dim.name);
    if (original != current->callerDims.end()) {
      dim = original->second;
    } else if (current->file->prelude || !files.model.globals.names.count(dim.name)) {
      std::string config = dim.config;
      dim = unnamed(dim.size);
      dim.config = config;
      dim.name = config;
    }
  }
  value = renamed;
}

} // namespace weir::elab

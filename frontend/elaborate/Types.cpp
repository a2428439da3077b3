//===- Types.cpp - Arguments and results against their types ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "runtime/base/NearestName.h"

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

void Elaborator::collectDimensions(const ast::CallableItem &callable) {
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

void Elaborator::reportUnbound(const ast::CallableItem &callable, const ast::NameExpr &name) {
  if (current->faulty || !unbound.emplace(&callable, name.name).second)
    return;
  std::vector<std::string> known;
  if (!diagnostics.full()) {
    for (const auto &[other, binding] : fileOf(callable)->globals.names)
      known.push_back(other);
    for (const ast::Parameter &parameter : callable.parameters)
      known.push_back(parameter.name.text);
    visitSignature(callable, [&](const ast::NameExpr &other) { known.push_back(other.name); });
  }
  Diagnostic &report =
      error(name.range, "no argument says what the dimension `" + name.name + "` is");
  if (auto meant = nearestName(name.name, known))
    report.suggest(meant);
  else
    report.help("write `config " + name.name +
                " = …`, or let the type of an argument have a dimension that is `" + name.name +
                "` alone");
}

/// A dimension that is used nowhere else and looks like another name is a misspelling, not a
/// dimension; one that no call can bind has no size.
void Elaborator::checkDimensionNames(const ast::CallableItem &callable) {
  std::vector<std::string> known;
  std::vector<const ast::NameExpr *> suspects, dimensions;
  auto words = countWords(callable.range.text());
  visitSignature(callable, [&](const ast::NameExpr &name) {
    if (modelFile.globals.names.count(name.name) || isParameter(callable, name.name))
      return;
    dimensions.push_back(&name);
    if (name.name.size() > 3 && words[name.name] == 1)
      suspects.push_back(&name);
    else
      known.push_back(name.name);
  });
  if (!suspects.empty() && !diagnostics.full()) {
    for (const auto &[name, binding] : modelFile.globals.names)
      known.push_back(name);
    for (const ast::Parameter &parameter : callable.parameters)
      known.push_back(parameter.name.text);
  }
  for (const ast::NameExpr *suspect : suspects)
    if (auto meant = diagnostics.full() ? std::nullopt : nearestName(suspect->name, known)) {
      unknown(suspect->range, "unknown dimension `" + suspect->name + "`, used only once")
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

std::optional<Dim> Elaborator::evaluateDim(const ast::Expr &expr) {
  const auto *named = llvm::dyn_cast<ast::NameExpr>(&expr);
  Binding *again = named ? current->scope->find(named->name) : nullptr;
  if (again && again->value.get<Tensor>()) {
    error(expr.range, "a dimension must be an int that is known when compiling, but `" +
                          named->name + "` is " + again->value.describe())
        .note(again->range, "`" + named->name + "` is bound here")
        .help("give the value or the dimension another name");
    return std::nullopt;
  }
  auto size = evaluateInt(expr, "a dimension");
  if (!size)
    return std::nullopt;
  if (*size < 1) {
    error(expr.range, "a dimension must be positive, but this is " + std::to_string(*size));
    return std::nullopt;
  }
  Dim dim;
  dim.size = *size;
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&expr)) {
    dim.name = name->name;
    dim.config = configOf(expr);
    Binding *binding = current->scope->find(name->name);
    if (!binding) {
      auto global = current->file->globals.names.find(name->name);
      binding = global == current->file->globals.names.end() ? nullptr : &global->second;
    }
    if (binding) {
      dim.bound = binding->range;
      dim.boundBy = binding->boundBy;
    }
  }
  return dim;
}

std::optional<Dims> Elaborator::evaluateDims(const ast::TensorType &type) {
  Dims dims;
  bool good = true;
  for (const ast::ExprPtr &expr : type.dims) {
    if (llvm::isa<ast::EllipsisExpr>(expr.get())) {
      if (current->ellipsis) {
        dims.insert(dims.end(), current->ellipsis->begin(), current->ellipsis->end());
      } else {
        if (!current->callable || !current->hasEllipsis)
          error(expr->range, "nothing says what `..` stands for here");
        good = false;
      }
    } else if (auto dim = evaluateDim(*expr)) {
      dims.push_back(*dim);
    } else {
      good = false;
    }
  }
  if (good && !fits(dims)) {
    error(type.range, "a tensor of " + describe(dims) + tooLarge);
    return std::nullopt;
  }
  return good ? std::optional<Dims>(dims) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

static const char *article(ast::Scalar scalar) {
  switch (scalar) {
  case ast::Scalar::floating:
    return "a float";
  case ast::Scalar::integer:
    return "an int";
  case ast::Scalar::boolean:
    return "a truth value";
  case ast::Scalar::f32:
    return "an f32 scalar";
  case ast::Scalar::i32:
    return "an i32 scalar";
  case ast::Scalar::ratio:
    return "a ratio";
  }
  llvm_unreachable("a scalar type");
}

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

void Elaborator::bindDimension(const std::string &name, Dim &found, Range range,
                               const std::string &boundBy) {
  current->callerDims[name] = found;
  current->scope->names[name] = Binding{found.size, range, found.config, boundBy, true};
  found.name = name;
  found.bound = range;
  found.boundBy = boundBy;
}

bool Elaborator::bindDimensions(const ast::Parameter &parameter, const CallArgument &argument) {
  const auto &type = llvm::cast<ast::TensorType>(*parameter.type);
  if (type.dims.empty())
    return true;
  const auto *tensor = argument.value.get<Tensor>();
  bool fits = tensor && fitsRank(type, tensor->dims.size());
  if (fits) {
    mlir::Type wanted = element(type.element);
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

Value Elaborator::matchTensor(const ast::TensorType &type, Tensor tensor, Range range,
                              const std::string &what, const std::string &boundBy, bool binds) {
  mlir::Type wanted = element(type.element);
  if (tensor.isByte() && wanted.isInteger(32))
    tensor = cast(tensor, i32(), range);
  auto declared = [&] { return ", declared `" + written(type) + "`, found " + describe(tensor); };
  if (tensor.element() != wanted) {
    error(range, what + " has the wrong element type" + declared())
        .note(type.range, "declared here")
        .help(wanted.isF32() ? "`f32(x)` converts" : "`i32(x)` converts");
    return {};
  }
  size_t at = ellipsisOf(type);
  bool open = at < type.dims.size();
  size_t fixed = type.dims.size() - open;
  if (!fitsRank(type, tensor.dims.size())) {
    error(range, what + " has the wrong rank: " + (open ? "at least " : "") +
                     std::to_string(fixed) + (fixed == 1 ? " dimension" : " dimensions") +
                     " wanted" + declared())
        .note(type.range, "declared here");
    return {};
  }
  size_t covered = tensor.dims.size() - fixed;
  if (open) {
    Dims found(tensor.dims.begin() + at, tensor.dims.begin() + at + covered);
    if (!current->ellipsis && !binds) {
      if (!current->hasEllipsis)
        error(type.dims[at]->range, "no argument says what `..` stands for");
      return {};
    }
    if (!current->ellipsis)
      current->ellipsis = found;
    if (!sameSizes(*current->ellipsis, found)) {
      error(range, what + ": `..` is " + describe(*current->ellipsis) + " but " + describe(found) +
                       " here" + declared())
          .note(type.range, "declared here");
      return {};
    }
    for (size_t i = 0; i < covered; ++i)
      tensor.dims[at + i] = (*current->ellipsis)[i];
  }

  // Plain names first: an expression may use what they bind.
  bool good = true;
  for (bool names : {true, false}) {
    for (size_t i = 0; i < type.dims.size(); ++i) {
      const ast::Expr &expr = *type.dims[i];
      const auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
      if (llvm::isa<ast::EllipsisExpr>(&expr) || (name != nullptr) != names)
        continue;
      Dim &found = tensor.dims[placeOf(type, tensor.dims.size(), i)];
      bool dimension = name && current->dimensions.count(name->name);
      if (dimension && !current->scope->find(name->name)) {
        if (!binds) {
          reportUnbound(*current->callable, *name);
          good = false;
          continue;
        }
        bindDimension(name->name, found, range, boundBy);
        continue;
      }
      auto wantedDim = evaluateDim(expr);
      if (!wantedDim) {
        good = false;
        continue;
      }
      if (wantedDim->size != found.size) {
        std::string text = "`" + written(expr) + "` is " + std::to_string(wantedDim->size);
        if (!wantedDim->boundBy.empty())
          text += " (bound by " + wantedDim->boundBy + ")";
        if (llvm::isa<ast::IntegerExpr>(&expr))
          text = "the dimension should be " + std::to_string(wantedDim->size);
        Diagnostic &report = error(range, what + ": " + text + " but " +
                                              std::to_string(found.size) + " here" + declared());
        if (wantedDim->bound.valid())
          report.note(wantedDim->bound, "`" + written(expr) + "` is bound here");
        report.note(type.range, "declared here");
        return {};
      }
      if (name) {
        if (!wantedDim->config.empty())
          found.config = wantedDim->config;
        found.name = wantedDim->name;
        found.bound = wantedDim->bound;
        found.boundBy = wantedDim->boundBy;
      }
    }
  }
  return good ? Value(tensor) : Value();
}

Value Elaborator::matchScalar(ast::Scalar scalar, const Value &value, Range range,
                              const std::string &what) {
  switch (scalar) {
  case ast::Scalar::floating:
    if (value.isNumber())
      return value.number();
    break;
  case ast::Scalar::integer:
    if (value.get<int64_t>())
      return value;
    break;
  case ast::Scalar::boolean:
    if (value.get<bool>())
      return value;
    break;
  case ast::Scalar::ratio:
    if (value.get<Ratio>())
      return value;
    break;
  case ast::Scalar::f32:
  case ast::Scalar::i32: {
    mlir::Type wanted = scalar == ast::Scalar::f32 ? f32() : i32();
    Value scalar = value;
    const Tensor *tensor = asTensor(scalar, wanted, range);
    if (scalar.isPoison() || (tensor && tensor->rank() == 0 && tensor->element() == wanted))
      return scalar;
    break;
  }
  }
  Diagnostic &report =
      error(range, what + " must be " + article(scalar) + ", but is " + value.describe());
  if (value.get<Tensor>() && (scalar == ast::Scalar::floating || scalar == ast::Scalar::integer))
    report.help("it must be known when compiling");
  return {};
}

Value Elaborator::matchType(const ast::Type &type, const Value &value, Range range,
                            const std::string &what, const std::string &boundBy, bool binds) {
  if (value.isPoison()) {
    if (binds) {
      current->faulty = true;
      current->hasEllipsis = true;
    }
    return {};
  }
  if (const auto *scalar = llvm::dyn_cast<ast::ScalarType>(&type))
    return matchScalar(scalar->scalar, value, range, what);
  const auto &tensorType = llvm::cast<ast::TensorType>(type);
  Value given = value, result;
  const Tensor *tensor = tensorType.dims.empty()
                             ? asTensor(given, element(tensorType.element), range)
                             : given.get<Tensor>();
  if (tensor)
    result = matchTensor(tensorType, *tensor, range, what, boundBy, binds);
  else if (!given.isPoison())
    error(range, what + " must be a tensor " + written(type) + ", but is " + value.describe())
        .note(type.range, "declared here");
  if (result.isPoison() && binds) {
    current->faulty = true;
    current->hasEllipsis = true;
  }
  return result;
}

Value Elaborator::matchParameter(const ast::Parameter &parameter, const CallArgument &argument) {
  const std::string name = parameter.name.text;
  std::string what = "argument `" + name + "` of `" + current->callable->name.text + "`";
  if (parameter.type)
    return matchType(*parameter.type, argument.value, argument.range, what,
                     "argument `" + name + "`", /*binds=*/true);
  if (!parameter.defaultValue || argument.value.isPoison())
    return argument.value;
  // The default says what is wanted.
  const ast::Expr &value = *parameter.defaultValue;
  if (llvm::isa<ast::BooleanExpr>(&value))
    return matchScalar(ast::Scalar::boolean, argument.value, argument.range, what);
  if (llvm::isa<ast::IntegerExpr>(&value))
    return matchScalar(ast::Scalar::integer, argument.value, argument.range, what);
  if (llvm::isa<ast::FloatingExpr>(&value)) {
    const auto *tensor = argument.value.get<Tensor>();
    if (tensor && tensor->rank() == 0 && tensor->isFloat())
      return argument.value;
    return matchScalar(ast::Scalar::floating, argument.value, argument.range, what);
  }
  return argument.value;
}

} // namespace weir::elab

//===- Value.h - What an expression means ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The elaborator walks a model with every size known: an expression is a number, a text or a list
// known now, or a tensor that the emitted program will compute. A poison stands for what an error
// was reported about; whatever uses it is poison too, and silent.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_VALUE_H
#define WEIR_FRONTEND_ELABORATE_VALUE_H

#include "frontend/AST.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/WeirDialect.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weir::elab {

/// A dimension of a tensor: its size, and for messages its name and where that was bound.
struct Dim {
  int64_t size = 0;
  std::string name;    ///< empty: none
  std::string boundBy; ///< "argument `tokens`"; empty where there is nothing to say
  Range bound;         ///< may be nowhere
  std::string config;  ///< the config whose value the size is, if one is
};
using Dims = std::vector<Dim>;

struct Tensor {
  mlir::Value value;
  Dims dims; ///< one per dimension of the value's type

  mlir::Type element() const { return tensorType(value).getElementType(); }
  bool isFloat() const { return element().isF32(); }
  bool isLow() const { return weir::isLow(element()); }
  bool isInt() const { return element().isInteger(32); }
  bool isByte() const { return element().isInteger(8); }
  bool isBool() const { return element().isInteger(1); }
  int64_t rank() const { return dims.size(); }
  int64_t elements() const { return tensorType(value).getNumElements(); }
};

/// weight * sum / count. A count is a number now, or a tensor of rank 0.
struct RatioTerm {
  double weight = 1;
  mlir::Value sum;
  double staticCount = 0;
  mlir::Value count; ///< null: staticCount
  Range range;
};
struct Ratio {
  std::vector<RatioTerm> terms;
};

/// How a parameter or state begins: `normal(std = 0.02)`. It has no shape of its own.
struct Initializer {
  enum class Kind { constant, normal, uniform };
  Kind kind = Kind::constant;
  double first = 0;  ///< the constant; the mean; the lower bound
  double second = 0; ///< the deviation; the upper bound
};

struct CallArgument;

/// Where an instance or a variable of the model is.
struct ModelPath {
  std::string path; ///< as the user knows it: "h.0.attn"; empty for the model
  /// The same, unless an instance around it was reported for taking another's path: such a one has
  /// a name of its own in the program, so that the two are not mixed up.
  std::string symbol;

  bool misplaced() const { return symbol != path; }
  /// What is called `name` there; "" is the place itself.
  ModelPath inner(const std::string &name) const {
    auto join = [&](const std::string &outer) {
      return outer + (outer.empty() || name.empty() ? "" : ".") + name;
    };
    return {join(path), join(symbol)};
  }
};

/// One block at one path. A call makes one, or `let` does, to be called often.
struct Instance {
  const ast::CallableItem *callable = nullptr;
  ModelPath path;
  Range range;                              ///< where it was made
  std::vector<struct CallArgument> options; ///< a `let`'s named arguments
  bool called = false;                      ///< in this entry
};

struct Poison {};
/// `none`: an option that was not given.
struct None {};
struct List;
struct Tuple;

class Value {
public:
  Value() = default; // poison
  Value(int64_t value) : storage(value) {}
  Value(double value) : storage(value) {}
  Value(bool value) : storage(value) {}
  Value(std::string value) : storage(std::move(value)) {}
  Value(const char *) = delete; // would be a bool
  Value(None value) : storage(value) {}
  Value(Tensor value) : storage(std::move(value)) {}
  Value(Ratio value) : storage(std::move(value)) {}
  Value(Initializer value) : storage(value) {}
  Value(std::shared_ptr<Instance> value) : storage(std::move(value)) {}
  static Value list(std::vector<Value> elements);
  static Value tuple(std::vector<Value> elements);

  bool isPoison() const { return get<Poison>(); }
  bool isNumber() const { return get<int64_t>() || get<double>(); }
  /// Known now: everything but tensors, ratios and what contains them.
  bool isStatic() const;
  /// Of an isNumber().
  double number() const { return get<int64_t>() ? double(*get<int64_t>()) : *get<double>(); }

  size_t kind() const { return storage.index(); } ///< equal for values of one kind
  template <typename T> const T *get() const { return std::get_if<T>(&storage); }
  const std::vector<Value> *elements() const; ///< of a list; null for others
  const std::vector<Value> *members() const;  ///< of a tuple; null for others

  /// "the int 3", "f32[b = 12, t = 64]", "a ratio".
  std::string describe() const;

private:
  std::variant<Poison, None, int64_t, double, bool, std::string, Tensor, Ratio, Initializer,
               std::shared_ptr<Instance>, std::shared_ptr<List>, std::shared_ptr<Tuple>>
      storage;
};

struct List {
  std::vector<Value> elements;
};
struct Tuple {
  std::vector<Value> members;
};

/// An argument of a call, evaluated.
struct CallArgument {
  std::optional<ast::Identifier> name;
  Value value;
  Range range;
  std::string config; ///< the config whose value it is, if one is
};

/// "b = 12", "65"; "[b = 12, t = 64]"; "f32", "i32", "u8", "bool"; "f32[b = 12]".
std::string describe(const Dim &dim);
std::string describe(const Dims &dims);
std::string describe(mlir::Type element);
std::string describe(const Tensor &tensor);
/// The shortest decimal that reads back as the number, with a point: 0.1, 1e-05, 2.0.
std::string describe(double number);

/// Whether a number is finite as an f32.
bool fitsFloat(double number);

/// Sizes equal; names are for messages only.
bool sameSizes(const Dims &a, const Dims &b);
std::vector<int64_t> sizes(const Dims &dims);
Dim unnamed(int64_t size);
/// Whether so many tensors of that shape have no more elements together than one may have. What a
/// device has of it is known later (weir-verify-sizes).
bool fits(const Dims &dims, int64_t times = 1);
inline constexpr char tooLarge[] = " is too large: a tensor has at most 2^56 elements";

} // namespace weir::elab

#endif

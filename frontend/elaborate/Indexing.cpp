//===- Indexing.cpp - Slices, new axes and gathers ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Indexing.h"

namespace weir::elab {

/// The element of a list.
static Value indexList(const std::vector<Value> &elements, const ast::IndexExpr &expr,
                       Evaluator &evaluator) {
  const ast::IndexItem &item = expr.items.front();
  if (expr.items.size() != 1 || item.kind != ast::IndexItem::Kind::value) {
    evaluator.reporter.error(expr.range, "a list takes one int as its index");
    return {};
  }
  auto index = evaluator.evaluateInt(*item.value, "the index of a list");
  if (!index)
    return {};
  int64_t count = elements.size(), at = *index < 0 ? *index + count : *index;
  if (at < 0 || at >= count) {
    evaluator.reporter.error(item.range, "index " + std::to_string(*index) +
                                             " is outside a list of " + std::to_string(count));
    return {};
  }
  return elements[at];
}

/// A slice's bound in [0, size]; nothing, reported, where it is neither.
static std::optional<int64_t> bound(Evaluator &evaluator, const ast::ExprPtr &expr,
                                    int64_t otherwise, const Dim &dim) {
  if (!expr)
    return otherwise;
  auto value = evaluator.evaluateInt(*expr, "the bound of a slice");
  if (!value)
    return std::nullopt;
  int64_t at = *value < 0 ? *value + dim.size : *value;
  if (at >= 0 && at <= dim.size)
    return at;
  Diagnostic &report = evaluator.reporter.error(
      expr->range, "the bound " + std::to_string(*value) + " is outside the dimension " +
                       (dim.name.empty() ? "" : "`" + dim.name + "` ") + "of size " +
                       std::to_string(dim.size));
  if (dim.bound.valid())
    report.note(dim.bound, "bound " + (dim.boundBy.empty() ? "here" : "by " + dim.boundBy));
  return std::nullopt;
}

namespace {

/// The items of one index, from the left: each takes dimensions of the result so far.
class TensorIndex {
public:
  TensorIndex(const Tensor &tensor, const ast::IndexExpr &expr, Evaluator &evaluator,
              TensorBuilder &tensors, LimitConfigs *limits)
      : result(tensor), expr(expr), evaluator(evaluator), tensors(tensors),
        reporter(evaluator.reporter), limits(limits) {}

  Value apply() {
    int64_t consumed = 0, ellipses = 0, rank = result.rank();
    for (const ast::IndexItem &item : expr.items) {
      consumed += item.kind == Kind::slice || item.kind == Kind::value;
      ellipses += item.kind == Kind::ellipsis;
    }
    if (consumed > rank)
      reporter.error(expr.range, std::to_string(consumed) + " indices for " + std::to_string(rank) +
                                     " dimensions: " + describe(result));
    else if (ellipses > 1)
      reporter.error(expr.range, "an index has at most one `..`");
    else
      for (const ast::IndexItem &item : expr.items)
        take(item, rank - consumed);
    bool refused = consumed > rank || ellipses > 1;
    return failed || refused ? Value() : Value(result);
  }

private:
  using Kind = ast::IndexItem::Kind;

  void take(const ast::IndexItem &item, int64_t covered) {
    switch (item.kind) {
    case Kind::ellipsis:
      dim += covered;
      return;
    case Kind::newAxis:
      result = tensors.mergeDims(result, dim++, 0, item.range);
      return;
    case Kind::slice:
      return takeSlice(item);
    case Kind::value:
      return takeValue(item);
    }
  }

  /// Nothing can be said of the item's dimension.
  void fail() {
    failed = true;
    ++dim;
  }

  void takeSlice(const ast::IndexItem &item) {
    const Dim size = result.dims[dim];
    auto begin = bound(evaluator, item.begin, 0, size),
         end = bound(evaluator, item.end, size.size, size);
    if (!begin || !end)
      return fail();
    if (*begin >= *end) {
      reporter.error(item.range, "the slice is empty: from " + std::to_string(*begin) + " to " +
                                     std::to_string(*end));
      return fail();
    }
    result = tensors.slice(result, dim++, *begin, *end, item.range);
  }

  void takeValue(const ast::IndexItem &item) {
    Value value = evaluator.evaluate(*item.value);
    if (value.isPoison())
      return fail();
    if (const auto *number = value.get<int64_t>())
      return takeRow(*number, item.range);
    const Tensor *indices = value.get<Tensor>();
    if (!indices || !(indices->isInt() || indices->isByte())) {
      reporter.error(item.range, "an index is a slice, `new`, an int or a tensor of ints, not " +
                                     value.describe());
      return fail();
    }
    if (&item != &expr.items.front()) {
      reporter.error(item.range, "a tensor of ints selects along the first dimension only")
          .help("`transpose` brings another dimension to the front");
      return fail();
    }
    gather(*indices, item.range);
  }

  /// The dimension goes.
  void takeRow(int64_t number, Range range) {
    int64_t size = result.dims[dim].size, at = number < 0 ? number + size : number;
    if (at < 0 || at >= size) {
      reporter.error(range, "index " + std::to_string(number) + " is outside " + describe(result));
      return fail();
    }
    result = tensors.splitDim(tensors.slice(result, dim, at, at + 1, range), dim, {}, range);
  }

  void gather(const Tensor &indices, Range range) {
    Tensor ints = tensors.cast(indices, tensors.i32(), range);
    std::string config = result.dims[0].config;
    result = tensors.gather(result, ints, expr.range);
    if (limits && !config.empty())
      (*limits)[result.value.getDefiningOp()] = config;
    dim += ints.rank();
  }

  Tensor result;
  const ast::IndexExpr &expr;
  Evaluator &evaluator;
  TensorBuilder &tensors;
  Reporter &reporter;
  LimitConfigs *limits;
  int64_t dim = 0; ///< of the result so far
  bool failed = false;
};

} // namespace

Value indexValue(const Value &base, const ast::IndexExpr &expr, Evaluator &evaluator,
                 TensorBuilder &tensors, LimitConfigs *limits) {
  if (const auto *elements = base.elements())
    return indexList(*elements, expr, evaluator);
  if (const auto *tensor = base.get<Tensor>())
    return TensorIndex(*tensor, expr, evaluator, tensors, limits).apply();
  if (!base.isPoison())
    evaluator.reporter.error(expr.range,
                             "only tensors and lists have indices, not " + base.describe());
  return {};
}

} // namespace weir::elab

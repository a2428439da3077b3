//===- Indexing.cpp - Slices, new axes and gathers --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/indexing/Indexing.h"
#include "frontend/elaborate/Elaborator.h"

namespace weir::elab {

/// The element of a list.
static Value elementOf(Elaborator &elaborator, const std::vector<Value> &elements,
                       const ast::IndexExpr &expr) {
  const ast::IndexItem &item = expr.items.front();
  if (expr.items.size() != 1 || item.kind != ast::IndexItem::Kind::value) {
    elaborator.error(expr.range, "a list takes one int as its index");
    return {};
  }
  auto index = elaborator.evaluateInt(*item.value, "the index of a list");
  if (!index)
    return {};
  int64_t count = elements.size(), at = *index < 0 ? *index + count : *index;
  if (at < 0 || at >= count) {
    elaborator.error(item.range, "index " + std::to_string(*index) + " is outside a list of " +
                                     std::to_string(count));
    return {};
  }
  return elements[at];
}

/// A slice's bound in [0, size]; nothing, reported, where it is neither.
static std::optional<int64_t> bound(Elaborator &elaborator, const ast::ExprPtr &expr,
                                    int64_t otherwise, const Dim &dim) {
  if (!expr)
    return otherwise;
  auto value = elaborator.evaluateInt(*expr, "the bound of a slice");
  if (!value)
    return std::nullopt;
  int64_t at = *value < 0 ? *value + dim.size : *value;
  if (at >= 0 && at <= dim.size)
    return at;
  Diagnostic &report = elaborator.error(
      expr->range, "the bound " + std::to_string(*value) + " is outside the dimension " +
                       (dim.name.empty() ? "" : "`" + dim.name + "` ") + "of size " +
                       std::to_string(dim.size));
  if (dim.bound.valid())
    report.note(dim.bound, "bound " + (dim.boundBy.empty() ? "here" : "by " + dim.boundBy));
  return std::nullopt;
}

Value Elaborator::index(const ast::IndexExpr &expr) {
  using Kind = ast::IndexItem::Kind;
  Value base = evaluate(*expr.base);
  if (const auto *elements = base.elements())
    return elementOf(*this, *elements, expr);
  if (!base.isPoison() && !base.get<Tensor>()) {
    error(expr.range, "only tensors and lists have indices, not " + base.describe());
    return {};
  }
  const Tensor *tensor = base.get<Tensor>();
  int64_t consumed = 0, ellipses = 0;
  for (const ast::IndexItem &item : expr.items) {
    consumed += item.kind == Kind::slice || item.kind == Kind::value;
    ellipses += item.kind == Kind::ellipsis;
  }
  if (!tensor)
    return {};
  if (consumed > tensor->rank()) {
    error(expr.range, std::to_string(consumed) + " indices for " + std::to_string(tensor->rank()) +
                          " dimensions: " + describe(*tensor));
    return {};
  }
  if (ellipses > 1) {
    error(expr.range, "an index has at most one `..`");
    return {};
  }

  Tensor result = *tensor;
  int64_t dim = 0; // of the result so far
  bool first = true, failed = false;
  for (const ast::IndexItem &item : expr.items) {
    if (item.kind == Kind::ellipsis) {
      dim += tensor->rank() - consumed;
    } else if (item.kind == Kind::newAxis) {
      result = mergeDims(result, dim++, 0, item.range);
    } else if (item.kind == Kind::slice) {
      const Dim size = result.dims[dim];
      auto begin = bound(*this, item.begin, 0, size), end = bound(*this, item.end, size.size, size);
      if (begin && end && *begin >= *end) {
        error(item.range,
              "the slice is empty: from " + std::to_string(*begin) + " to " + std::to_string(*end));
        failed = true;
      } else if (begin && end) {
        result = slice(result, dim, *begin, *end, item.range);
      } else {
        failed = true;
      }
      ++dim;
    } else {
      Value value = evaluate(*item.value);
      const Tensor *indices = value.get<Tensor>();
      if (value.isPoison()) {
        failed = true;
        ++dim;
      } else if (const auto *number = value.get<int64_t>()) {
        int64_t size = result.dims[dim].size, at = *number < 0 ? *number + size : *number;
        if (at < 0 || at >= size) {
          error(item.range, "index " + std::to_string(*number) + " is outside " + describe(result));
          failed = true;
          ++dim;
        } else {
          result = splitDim(slice(result, dim, at, at + 1, item.range), dim, {}, item.range);
        }
      } else if (!indices || !(indices->isInt() || indices->isByte())) {
        error(item.range,
              "an index is a slice, `new`, an int or a tensor of ints, not " + value.describe());
        failed = true;
        ++dim;
      } else if (!first) {
        error(item.range, "a tensor of ints selects along the first dimension only")
            .help("`transpose` brings another dimension to the front");
        failed = true;
        ++dim;
      } else {
        Tensor ints = cast(*indices, i32(), item.range);
        Dims dims = ints.dims;
        dims.insert(dims.end(), result.dims.begin() + 1, result.dims.end());
        auto gather = GatherOp::create(opBuilder, location(expr.range), result.value, ints.value);
        if (entry() && !result.dims[0].config.empty())
          entry()->limitConfigs[gather] = result.dims[0].config;
        result = {gather, dims};
        dim += ints.rank();
      }
    }
    first = false;
  }
  return failed ? Value() : Value(result);
}

} // namespace weir::elab

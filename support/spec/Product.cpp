//===- Product.cpp - A matrix product as a library call -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/spec/Product.h"
#include "support/spec/Check.h"
#include <algorithm>
#include <utility>

namespace weir::spec {

static int64_t pieces(int64_t size, int64_t tile) { return (size - 1) / tile + 1; }

Element Product::rightElement() const {
  switch (right) {
  case RightElement::same:
    return factors;
  case RightElement::f8e4m3:
    return Element::f8e4m3;
  case RightElement::f8e5m2:
    return Element::f8e5m2;
  }
  __builtin_unreachable();
}

int64_t Product::tiles() const {
  return pieces(batch, tileBatch) * pieces(m, tileM) * pieces(n, tileN);
}

int64_t Product::packedScratch() const {
  int64_t rows = pieces(std::min(tileM, blockRows), panelRows) * panelRows;
  return rows * std::min(k, blockDepth) * int64_t(floatBytes);
}

/// Tiles of c are written side by side: a stride that is larger than another leads past all that
/// the other reaches. Addresses fit.
static std::string overlapInC(const Product &p) {
  struct Way {
    int64_t stride, count;
    const char *overlap;
  } ways[] = {{p.cRow, p.m, "rows of c overlap"}, {p.cBatch, p.batch, "the batch of c overlaps"}};
  if (ways[1].stride < ways[0].stride)
    std::swap(ways[0], ways[1]);
  int64_t reach = p.n;
  for (const Way &way : ways) {
    if (way.count == 1)
      continue;
    if (way.stride < reach)
      return way.overlap;
    reach += (way.count - 1) * way.stride;
  }
  return "";
}

std::string Product::check() const {
  struct Side {
    const char *name;
    int64_t size, tile;
  };
  for (auto [name, size, tile] : {Side{"batch", batch, tileBatch}, Side{"m", m, tileM},
                                  Side{"n", n, tileN}, Side{"k", k, k}}) {
    if (!isDimension(size))
      return std::string(name) + " is out of range";
    if (tile <= 0 || tile > size)
      return std::string("the tile of ") + name + " is out of range";
  }
  if (!isReal(factors) || !isReal(result) || !isReal(added))
    return "its elements are no floats";
  if (rounding == FactorRounding::tf32 && factors != Element::f32)
    return "its factors are no f32 to be rounded to TF32";
  if (right != RightElement::same && sizeOf(factors) != 1)
    return "its right factor has eight bits, and the left one does not";
  if (isScaled() && sizeOf(factors) != 1)
    return "its factors are scaled, and have no eight bits";
  if (isPacked()) {
    if (batch > 1 || isScaled() || rounding != FactorRounding::none || factors != Element::f32 ||
        result != Element::f32 || added != Element::f32)
      return "it is packed, and no single product of f32";
    if (tileN % panelColumns != 0 && tileN != n)
      return "it is packed, and its tiles cut panels";
  }
  // Each is below 2^31: no two of them wrap.
  int64_t some = pieces(batch, tileBatch) * pieces(m, tileM);
  if (some >= mostTasks || some * pieces(n, tileN) >= mostTasks)
    return "it has too many tiles";
  struct Tensor {
    const char *name;
    Element element;
    std::vector<Dim> dims;
  };
  for (const auto &[name, element, dims] :
       {Tensor{
            "a", factors, {{uint64_t(batch), aBatch}, {uint64_t(m), aRow}, {uint64_t(k), aColumn}}},
        {"b",
         rightElement(),
         {{uint64_t(batch), bBatch}, {uint64_t(k), bRow}, {uint64_t(n), bColumn}}},
        {"c", result, {{uint64_t(batch), cBatch}, {uint64_t(m), cRow}, {uint64_t(n), 1}}}})
    if (!isAddressable(dims, sizeOf(element)))
      return std::string(name) + " is larger than any memory, or has a negative stride";
  if (std::string why = overlapInC(*this); !why.empty())
    return why;
  if ((!aRow && m > 1) || (!aColumn && k > 1))
    return "a stride of a is 0";
  if ((!bRow && k > 1) || (!bColumn && n > 1))
    return "a stride of b is 0";
  return "";
}

std::vector<Footprint> Product::footprints() const {
  uint64_t rows = m, columns = n, depth = k, all = batch;
  std::vector<Footprint> list = {
      strided("a", Mode::read, factors, {{all, aBatch}, {rows, aRow}, {depth, aColumn}}),
      strided("b", Mode::read, rightElement(), {{all, bBatch}, {depth, bRow}, {columns, bColumn}}),
      strided("c", Mode::write, result, {{all, cBatch}, {rows, cRow}, {columns, 1}})};
  if (bias)
    list.push_back(strided("bias", Mode::read, added, {{columns, 1}}));
  if (isScaled())
    for (const char *name : {"scale of a", "scale of b"})
      list.push_back(strided(name, Mode::read, Element::f32, {{1, 1}}));
  if (isPacked())
    list.push_back({"packed b", Mode::write, uint64_t(packedElements()) * floatBytes, {}, true});
  return list;
}

Cost Product::cost() const {
  uint64_t c = uint64_t(batch) * m * n;
  uint64_t bytesOfA = sizeOf(factors) * uint64_t(batch) * m * k;
  uint64_t bytesOfB = sizeOf(rightElement()) * uint64_t(batch) * k * n;
  return {2 * c * k, bytesOfA + bytesOfB + sizeOf(result) * c};
}

std::string Product::describe() const {
  std::string text =
      "product " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  if (batch > 1)
    text += " of " + std::to_string(batch);
  return text + (isScaled() ? ", scaled" : "") + (bias ? " + bias" : "") + (relu ? ", relu" : "") +
         (rounding == FactorRounding::tf32 ? ", tf32" : "") + (isPacked() ? ", packed" : "") +
         ofElements(factors, rightElement(), result);
}

} // namespace weir::spec

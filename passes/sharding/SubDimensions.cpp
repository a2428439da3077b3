//===- SubDimensions.cpp - Shardings of the pieces of a dimension ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/SubDimensions.h"

using namespace mlir;

namespace weir::sharding {

/// Takes `size` places off the outside of a piece; nothing where its shares would not be whole
/// numbers of what is left.
static std::optional<Piece> takeOuter(Piece &piece, int64_t size, const Mesh &mesh) {
  if (piece.size == size)
    return std::exchange(piece, Piece{1});
  if (piece.size % size != 0 || size % piece.units(mesh) != 0)
    return std::nullopt;
  Piece outer{size, std::move(piece.axes)};
  piece = {piece.size / size};
  return outer;
}

std::optional<std::vector<Pieces>> splitPieces(const Pieces &pieces, ArrayRef<int64_t> sizes,
                                               const Mesh &mesh) {
  std::vector<Pieces> result;
  auto next = pieces.begin();
  Piece rest{1};
  for (int64_t left : sizes) {
    Pieces mine;
    while (left != 1) {
      while (rest.size == 1 && next != pieces.end())
        rest = *next++;
      if (rest.size == 1)
        return std::nullopt;
      std::optional<Piece> outer = takeOuter(rest, left % rest.size == 0 ? rest.size : left, mesh);
      if (!outer)
        return std::nullopt;
      left /= outer->size;
      mine.push_back(std::move(*outer));
    }
    result.push_back(joined(mine));
  }
  return result;
}

/// Both as pieces of the same sizes; nothing where there are none.
static std::optional<SmallVector<std::pair<Piece, Piece>>>
aligned(const Pieces &first, const Pieces &second, const Mesh &mesh) {
  SmallVector<std::pair<Piece, Piece>> pairs;
  auto nextA = first.begin(), nextB = second.begin();
  Piece a{1}, b{1};
  while (true) {
    while (a.size == 1 && nextA != first.end())
      a = *nextA++;
    while (b.size == 1 && nextB != second.end())
      b = *nextB++;
    if (a.size == 1 || b.size == 1)
      break;
    int64_t size = std::min(a.size, b.size);
    std::optional<Piece> outerA = takeOuter(a, size, mesh), outerB = takeOuter(b, size, mesh);
    if (!outerA || !outerB)
      return std::nullopt;
    pairs.push_back({std::move(*outerA), std::move(*outerB)});
  }
  return pairs;
}

bool align(Pieces &first, Pieces &second, const Mesh &mesh) {
  auto pairs = aligned(first, second, mesh);
  if (!pairs)
    return false;
  first.clear(), second.clear();
  for (auto &[a, b] : *pairs) {
    first.push_back(a);
    second.push_back(b);
  }
  if (first.empty())
    first = second = {Piece{1}};
  return true;
}

bool refine(Pieces &pieces, const Pieces &others, const Mesh &mesh,
            function_ref<bool(unsigned axis)> mayCut) {
  auto pairs = aligned(pieces, others, mesh);
  if (!pairs)
    return false;
  bool changed = false;
  Pieces refined;
  for (auto &[mine, theirs] : *pairs) {
    size_t had = mine.axes.size();
    if (had < theirs.axes.size() &&
        std::equal(mine.axes.begin(), mine.axes.end(), theirs.axes.begin()))
      for (unsigned axis : ArrayRef(theirs.axes).drop_front(had)) {
        if (!mayCut(axis))
          break;
        mine.axes.push_back(axis);
      }
    changed |= mine.axes.size() > had;
    refined.push_back(mine);
  }
  if (changed)
    pieces = joined(refined);
  return changed;
}

void cutFurther(Pieces &pieces, const Pieces &others, unsigned axis, const Mesh &mesh) {
  Pieces mine = pieces, theirs = others;
  if (!align(mine, theirs, mesh))
    return;
  for (auto [piece, like] : llvm::zip_equal(mine, theirs)) {
    Piece cut = piece;
    cut.axes.push_back(axis);
    if (llvm::is_contained(like.axes, axis) && cut.hasPlaceForAll(mesh)) {
      piece = std::move(cut);
      pieces = joined(mine);
      return;
    }
  }
}

} // namespace weir::sharding

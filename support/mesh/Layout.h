//===- Layout.h - The sharding of a tensor over a mesh --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes are those of the whole tensor. A dimension is a product of pieces, the outermost first, and
// each piece may be sharded over axes of the mesh: the rows of a batch stay sharded when they are
// merged with positions into one dimension, and so do heads that are merged with the elements of
// each. Over an axis that shards no piece, the tensor is replicated, or partial: each rank has a
// term of a sum that is still to be reduced.
//
// As text: "12@dp*256 64 +tp" has dimensions of 3072 and 64. The 12 of the first is sharded over
// dp, and the tensor is partial over tp. "65 128 on pp=1" is a tensor of one pipeline stage: the
// ranks elsewhere along pp hold none of it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_MESH_LAYOUT_H
#define WEIR_SUPPORT_MESH_LAYOUT_H

#include "support/mesh/Mesh.h"
#include <functional>
#include <optional>
#include <span>

namespace weir {

/// The most elements of a tensor over all ranks: its bytes fit in 64 bits. Messages say 2^56.
inline constexpr int64_t mostElements = int64_t(1) << 56;

/// Numbers of axes of a mesh.
using Axes = std::vector<unsigned>;

/// Places from `begin` on.
struct Share {
  int64_t begin, size;
};

/// A run of places.
struct Piece {
  int64_t size;
  Axes axes = {}; ///< that cut it, the outermost first; each of them in one piece of a tensor
  bool operator==(const Piece &) const = default;

  int64_t parts(const Mesh &mesh) const;
  /// Whether all ranks have as many places.
  bool isEven(const Mesh &mesh) const {
    return size % parts(mesh) == 0 && units(mesh) == parts(mesh);
  }
  /// Equal parts that the shares of ranks are whole numbers of: as many as there are ranks, where
  /// these have equal shares.
  int64_t units(const Mesh &mesh) const;
  /// Whether each rank has a place at least.
  bool hasPlaceForAll(const Mesh &mesh) const;
  /// What a rank has of it.
  Share share(const Mesh &mesh, int64_t rank) const;
};

/// What a dimension is made of, the outermost first. Pieces that are not cut are one where they
/// touch; there is one at least.
using Pieces = std::vector<Piece>;

/// Makes one of neighbours that are not cut.
Pieces joined(std::span<const Piece> pieces);

struct Layout {
  std::vector<Pieces> dimensions;
  Axes partial = {}; ///< axes over which it is still to be added up, in order
  /// The only coordinate along an axis, which cuts nothing, whose ranks have it.
  struct Only {
    unsigned axis;
    int64_t coordinate;
    bool operator==(const Only &) const = default;
  };
  std::optional<Only> only = {};

  /// The same on every rank.
  static Layout whole(std::span<const int64_t> shape);

  bool isWhole() const { return partial.empty() && !isCut() && !only; }
  /// Whether the rank has nothing of it.
  bool isElsewhere(const Mesh &mesh, int64_t rank) const {
    return only && mesh.coordinate(rank, only->axis) != only->coordinate;
  }
  bool isCut() const;
  bool isCutOver(unsigned axis) const;

  /// Nothing where the text says none on the mesh.
  static std::optional<Layout> parse(std::string_view text, const Mesh &mesh);
  std::string text(const Mesh &mesh) const;

  /// The tensor's shape.
  std::vector<int64_t> shape() const;
  /// The shape of what a rank has; where that is nothing, zeros, one at least.
  std::vector<int64_t> shape(const Mesh &mesh, int64_t rank) const;

  bool operator==(const Layout &) const = default;
};

/// `name` is a scalar of the run, as the compiler or the artifact calls it. If it says where a
/// rank's share of a piece begins (support/program/Names.h), returns this piece.
std::optional<Piece> pieceOfBegin(std::string_view name, const Mesh &mesh);

/// Calls `visit(whole, own, count)` for runs of elements of a tensor: `count` of them, which a rank
/// has from its element number `own` on, are those from number `whole` on. In the order of `own`.
void forEachRun(const Layout &layout, const Mesh &mesh, int64_t rank,
                const std::function<void(int64_t whole, int64_t own, int64_t count)> &visit);

} // namespace weir

#endif

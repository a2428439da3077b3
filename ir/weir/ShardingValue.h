//===- ShardingValue.h - How ranks have a tensor, by the names of axes ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_SHARDINGVALUE_H
#define WEIR_IR_WEIR_SHARDINGVALUE_H

#include "support/mesh/Layout.h"
#include "llvm/ADT/Hashing.h"
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// The value of a ShardingAttr: a Layout (support/mesh/Layout.h) with names in place of a mesh's
/// numbers of axes.
struct Sharding {
  struct Piece {
    int64_t size;
    std::vector<std::string> axes = {}; ///< over which it is sharded, the outermost first
    bool operator==(const Piece &) const = default;
  };
  struct Only {
    std::string axis;
    int64_t coordinate;
    bool operator==(const Only &) const = default;
  };
  std::vector<std::vector<Piece>> dimensions; ///< the pieces of each, the outermost first
  std::vector<std::string> partial = {};      ///< axes whose ranks have parts of a sum
  std::optional<Only> only = {};              ///< the only coordinate whose ranks have it

  static Sharding of(const Layout &layout, const Mesh &mesh);
  /// Nothing where the mesh has not the axes, or no rank at that coordinate.
  std::optional<Layout> on(const Mesh &mesh) const;
  /// As an artifact says it: Layout::text().
  std::string text() const;
  /// The axes, as often as they are there.
  std::vector<std::string> axes() const;

  bool operator==(const Sharding &) const = default;
};

/// What attributes are unique by.
llvm::hash_code hash_value(const Mesh &mesh);
llvm::hash_code hash_value(const Sharding &sharding);

} // namespace weir

#endif

//===- Mesh.h - Many devices with names for their directions ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks are numbered through the axes row by row: the last axis changes first. What is cut over an
// axis of k ranks is cut at ceil(i * n / k), so that shares differ by one place at most, and those
// of an axis that is cut again are those of both axes together. "dp=2x4" is two axes: dp.nodes of
// two nodes, and dp of the four ranks in each. Collectives over both run inside a node first, so
// that a quarter of the bytes cross the network. Where devices are unequal an axis
// says the shares of its ranks, "dp=3:1": it is cut as over as many equal ranks as the shares come
// to, of which each rank is as many as its share.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_MESH_MESH_H
#define WEIR_SUPPORT_MESH_MESH_H

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir {

struct Mesh {
  struct Axis {
    std::string name;
    int64_t size = 1;
    /// Where its ranks have unequal shares: what those before each come to, and all of them.
    std::vector<int64_t> bounds = {};

    /// Takes these for its ranks', their number for its size; equal ones are not kept. False where
    /// they come to more than `mostShares`, and nothing is changed.
    bool setShares(std::vector<int64_t> shares);
    static constexpr int64_t mostShares = 50000; ///< so that places times them are whole numbers
    bool hasShares() const { return !bounds.empty(); }
    /// What the shares of the ranks before `coordinate` come to.
    int64_t sharesBefore(int64_t coordinate) const {
      return bounds.empty() ? coordinate : bounds[size_t(coordinate)];
    }
    int64_t share(int64_t coordinate) const {
      return sharesBefore(coordinate + 1) - sharesBefore(coordinate);
    }
    int64_t allShares() const { return sharesBefore(size); }
    /// What a rank has there, of 1 on average.
    double shareAt(int64_t coordinate) const {
      return double(share(coordinate) * size) / double(allShares());
    }
    /// The first of the ranks whose share is the largest.
    int64_t fullest() const;
    /// "3:1", or its size.
    std::string ranks() const;
    bool operator==(const Axis &) const = default;
  };
  std::vector<Axis> axes;

  /// Of "dp=2,tp=4", "dp=2x4,tp=4" or "dp=3:1,tp=4"; "" is one rank. Where the text is none, what
  /// is wrong with it.
  static std::variant<Mesh, std::string> parse(std::string_view text);
  std::string text() const;
  /// What is wrong with its axes, or "": parse() gives no such mesh.
  std::string wrong() const;

  int64_t ranks() const;
  /// A rank that has as much of all rows as any: the same one, whoever asks.
  int64_t fullestRank() const;
  /// The axis of that name, or -1.
  int find(std::string_view name) const;
  /// A rank's number along an axis.
  int64_t coordinate(int64_t rank, unsigned axis) const;
  /// The ranks that differ from `rank` along the axis alone, itself included, in the axis' order.
  std::vector<int64_t> along(int64_t rank, unsigned axis) const;

  /// The same ranks, with one data-parallel axis for all nodes.
  Mesh withoutNodes() const;
  /// The same ranks, with a data-parallel axis in each node and one between nodes: "dp=2x4,tp=2" of
  /// "dp=8,tp=2" on nodes of 8 ranks. Unchanged if the blocks of ranks are not those of the nodes,
  /// or if one node has all.
  Mesh onNodes(int64_t ranksOfNode) const;

  bool operator==(const Mesh &) const = default;
};

/// The axes that anything is cut over: for the rows of batches, matrices, experts, and the
/// positions of sequences.
constexpr std::string_view dataAxis = "dp", tensorAxis = "tp", expertAxis = "ep",
                           contextAxis = "cp";
/// The data-parallel axis between nodes. It stands right before dataAxis, whose ranks are then
/// those of one node.
constexpr std::string_view nodesAxis = "dp.nodes";
/// The one whose ranks are stages of a pipeline: nothing is cut over it.
constexpr std::string_view stageAxis = "pp";

/// Whether ranks along the axis may have unequal shares: of rows, or of layers.
constexpr bool mayHaveShares(std::string_view axis) {
  return axis == dataAxis || axis == stageAxis;
}

/// Whether ranks along the axis have other parts of a batch, so that gradients are added up over
/// them.
constexpr bool isOfBatch(std::string_view axis) {
  return axis == dataAxis || axis == nodesAxis || axis == expertAxis || axis == contextAxis;
}

/// The first place of the part number `part` of `size` places in `parts`; of `parts`, their end.
constexpr int64_t firstOfPart(int64_t size, int64_t part, int64_t parts) {
  return size / parts * part + (size % parts * part + parts - 1) / parts;
}

} // namespace weir

#endif

//===- Layout.cpp - How a tensor lies on a mesh ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/Layout.h"
#include "support/Text.h"
#include "support/program/Names.h"
#include <algorithm>
#include <charconv>

namespace weir {

int64_t Piece::parts(const Mesh &mesh) const {
  int64_t parts = 1;
  for (unsigned axis : axes)
    parts *= mesh.axes[axis].size;
  return parts;
}

int64_t Piece::units(const Mesh &mesh) const {
  int64_t units = 1;
  for (unsigned axis : axes)
    units *= mesh.axes[axis].allShares();
  return units;
}

bool Piece::hasPlaceForAll(const Mesh &mesh) const {
  auto isEqual = [&](unsigned axis) { return !mesh.axes[axis].hasShares(); };
  if (std::ranges::all_of(axes, isEqual))
    return size >= parts(mesh);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    if (share(mesh, rank).size == 0)
      return false;
  return true;
}

Share Piece::share(const Mesh &mesh, int64_t rank) const {
  int64_t before = 0, own = 1, all = 1; // units
  for (unsigned number : axes) {
    const Mesh::Axis &axis = mesh.axes[number];
    int64_t place = mesh.coordinate(rank, number);
    before = before * axis.allShares() + own * axis.sharesBefore(place);
    own *= axis.share(place);
    all *= axis.allShares();
  }
  int64_t begin = firstOfPart(size, before, all);
  return {begin, firstOfPart(size, before + own, all) - begin};
}

Pieces joined(std::span<const Piece> pieces) {
  Pieces result;
  for (const Piece &piece : pieces) {
    if (piece.size == 1 && piece.axes.empty())
      continue;
    if (!result.empty() && result.back().axes.empty() && piece.axes.empty())
      result.back().size *= piece.size;
    else
      result.push_back(piece);
  }
  if (result.empty())
    result.push_back(Piece{1});
  return result;
}

Layout Layout::whole(std::span<const int64_t> shape) {
  Layout layout;
  for (int64_t size : shape)
    layout.dimensions.push_back({Piece{size}});
  return layout;
}

template <class Holds> static bool anyPiece(const Layout &layout, Holds holds) {
  return std::ranges::any_of(
      layout.dimensions, [&](const Pieces &pieces) { return std::ranges::any_of(pieces, holds); });
}

bool Layout::isCut() const {
  return anyPiece(*this, [](const Piece &piece) { return !piece.axes.empty(); });
}

bool Layout::isCutOver(unsigned axis) const {
  return anyPiece(*this, [&](const Piece &piece) { return std::ranges::count(piece.axes, axis); });
}

std::vector<int64_t> Layout::shape() const {
  std::vector<int64_t> shape;
  for (const Pieces &pieces : dimensions) {
    int64_t size = 1;
    for (const Piece &piece : pieces)
      size *= piece.size;
    shape.push_back(size);
  }
  return shape;
}

std::vector<int64_t> Layout::shape(const Mesh &mesh, int64_t rank) const {
  std::vector<int64_t> shape;
  if (isElsewhere(mesh, rank))
    return std::vector<int64_t>(std::max<size_t>(1, dimensions.size()), 0);
  for (const Pieces &pieces : dimensions) {
    int64_t size = 1;
    for (const Piece &piece : pieces)
      size *= piece.share(mesh, rank).size;
    shape.push_back(size);
  }
  return shape;
}

void forEachRun(const Layout &layout, const Mesh &mesh, int64_t rank,
                const std::function<void(int64_t whole, int64_t own, int64_t count)> &visit) {
  // Of each piece the share and how far its places are apart in the whole, the outermost first;
  // behind the last that is cut all is one run.
  if (layout.isElsewhere(mesh, rank))
    return;
  struct Loop {
    Share share;
    int64_t stride;
  };
  std::vector<Loop> loops;
  int64_t run = 1;
  for (const Pieces &pieces : layout.dimensions)
    for (const Piece &piece : pieces) {
      for (Loop &loop : loops)
        loop.stride *= piece.size;
      run = piece.axes.empty() ? run * piece.size : 1;
      loops.push_back({piece.share(mesh, rank), 1});
    }
  while (!loops.empty() && loops.back().stride < run)
    loops.pop_back();
  if (!loops.empty() && run == 1) {
    run = loops.back().share.size;
    loops.back() = {{loops.back().share.begin, 1}, 1};
  }
  std::vector<int64_t> at(loops.size(), 0);
  for (int64_t own = 0;; own += run) {
    int64_t whole = 0;
    for (size_t i = 0; i < loops.size(); ++i)
      whole += (loops[i].share.begin + at[i]) * loops[i].stride;
    visit(whole, own, run);
    size_t i = loops.size();
    while (i > 0 && ++at[i - 1] == loops[i - 1].share.size)
      at[--i] = 0;
    if (i == 0)
      return;
  }
}

std::optional<Piece> pieceOfBegin(std::string_view name, const Mesh &mesh) {
  std::string_view prefix = runBeginPrefix;
  if (!name.starts_with(runPrefix))
    prefix.remove_prefix(std::string_view(runPrefix).size());
  if (!name.starts_with(prefix))
    return std::nullopt;
  std::optional<Layout> layout = Layout::parse(name.substr(prefix.size()), mesh);
  bool isPiece = layout && layout->dimensions.size() == 1 && layout->dimensions[0].size() == 1;
  return isPiece ? std::optional(layout->dimensions[0][0]) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

class Reader {
public:
  explicit Reader(const Mesh &mesh) : mesh(mesh) {}

  std::optional<unsigned> axis(std::string_view name) {
    int found = mesh.find(name);
    if (found < 0 || std::ranges::count(taken, unsigned(found)))
      return std::nullopt;
    taken.push_back(found);
    return found;
  }

  std::optional<Piece> piece(std::string_view text) {
    std::vector<std::string> names = split(text, '@');
    Piece piece{0};
    const char *end = names[0].data() + names[0].size();
    auto [read, error] = std::from_chars(names[0].data(), end, piece.size);
    if (error != std::errc() || read != end || piece.size < 1 || piece.size > mostElements)
      return std::nullopt;
    for (size_t i = 1; i < names.size(); ++i) {
      std::optional<unsigned> over = axis(names[i]);
      if (!over)
        return std::nullopt;
      piece.axes.push_back(*over);
    }
    return piece;
  }

  std::optional<Pieces> dimension(std::string_view text) {
    Pieces pieces;
    int64_t most = INT64_MAX;
    for (const std::string &part : split(text, '*')) {
      std::optional<Piece> one = piece(part);
      if (!one || one->size > most)
        return std::nullopt;
      most /= one->size;
      pieces.push_back(std::move(*one));
    }
    return joined(pieces);
  }

  /// "pp=1"
  std::optional<Layout::Only> only(std::string_view text) {
    size_t equal = text.find('=');
    if (equal == std::string_view::npos)
      return std::nullopt;
    std::optional<unsigned> over = axis(text.substr(0, equal));
    std::string_view number = text.substr(equal + 1);
    int64_t coordinate = 0;
    auto [read, error] = std::from_chars(number.data(), number.data() + number.size(), coordinate);
    if (!over || error != std::errc() || read != number.data() + number.size() || coordinate < 0 ||
        coordinate >= mesh.axes[*over].size)
      return std::nullopt;
    return Layout::Only{*over, coordinate};
  }

private:
  const Mesh &mesh;
  Axes taken;
};

} // namespace

std::optional<Layout> Layout::parse(std::string_view text, const Mesh &mesh) {
  Layout layout;
  Reader reader(mesh);
  bool isLast = false; // what follows is "pp=1"
  for (const std::string &word : text.empty() ? std::vector<std::string>() : split(text, ' ')) {
    if (layout.only)
      return std::nullopt;
    if (isLast) {
      layout.only = reader.only(word);
      if (!layout.only)
        return std::nullopt;
      continue;
    }
    if (word == "on") {
      isLast = true;
      continue;
    }
    if (word.starts_with('+')) {
      std::optional<unsigned> axis = reader.axis(word.substr(1));
      if (!axis)
        return std::nullopt;
      layout.partial.push_back(*axis);
      continue;
    }
    std::optional<Pieces> pieces = reader.dimension(word);
    if (!pieces || !layout.partial.empty())
      return std::nullopt;
    layout.dimensions.push_back(std::move(*pieces));
  }
  if (isLast && !layout.only)
    return std::nullopt;
  std::ranges::sort(layout.partial);
  return layout;
}

std::string Layout::text(const Mesh &mesh) const {
  std::vector<std::string> words;
  for (const Pieces &pieces : dimensions) {
    std::vector<std::string> parts;
    for (const Piece &piece : pieces) {
      parts.push_back(std::to_string(piece.size));
      for (unsigned axis : piece.axes)
        parts.back() += "@" + mesh.axes[axis].name;
    }
    words.push_back(join(parts, "*"));
  }
  for (unsigned axis : partial)
    words.push_back("+" + mesh.axes[axis].name);
  if (only)
    words.push_back("on " + mesh.axes[only->axis].name + "=" + std::to_string(only->coordinate));
  return join(words, " ");
}

} // namespace weir

//===- Sharding.cpp - Meshes and shardings as attributes -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Sharding.h"
#include "ir/weir/Names.h"
#include "mlir/IR/DialectImplementation.h"
#include "support/Text.h"
#include <algorithm>

using namespace mlir;

namespace weir {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::vector<std::string> namesOf(const Axes &axes, const Mesh &mesh) {
  std::vector<std::string> names;
  for (unsigned axis : axes)
    names.push_back(mesh.axes[axis].name);
  return names;
}

static std::optional<Axes> numbersOf(const std::vector<std::string> &names, const Mesh &mesh) {
  Axes axes;
  for (const std::string &name : names) {
    int axis = mesh.find(name);
    if (axis < 0)
      return std::nullopt;
    axes.push_back(unsigned(axis));
  }
  return axes;
}

Sharding Sharding::of(const Layout &layout, const Mesh &mesh) {
  Sharding sharding;
  for (const Pieces &pieces : layout.dimensions) {
    auto &dimension = sharding.dimensions.emplace_back();
    for (const weir::Piece &piece : pieces)
      dimension.push_back({piece.size, namesOf(piece.axes, mesh)});
  }
  sharding.partial = namesOf(layout.partial, mesh);
  if (layout.only)
    sharding.only = {mesh.axes[layout.only->axis].name, layout.only->coordinate};
  return sharding;
}

std::optional<Layout> Sharding::on(const Mesh &mesh) const {
  Layout layout;
  for (const std::vector<Piece> &dimension : dimensions) {
    Pieces pieces;
    for (const Piece &piece : dimension) {
      std::optional<Axes> axes = numbersOf(piece.axes, mesh);
      if (!axes)
        return std::nullopt;
      pieces.push_back({piece.size, std::move(*axes)});
    }
    layout.dimensions.push_back(joined(pieces));
  }
  std::optional<Axes> sums = numbersOf(partial, mesh);
  if (!sums)
    return std::nullopt;
  layout.partial = std::move(*sums);
  llvm::sort(layout.partial);
  if (only) {
    int axis = mesh.find(only->axis);
    if (axis < 0 || only->coordinate >= mesh.axes[size_t(axis)].size)
      return std::nullopt;
    layout.only = {unsigned(axis), only->coordinate};
  }
  return layout;
}

std::string Sharding::text() const {
  std::string text;
  for (const std::vector<Piece> &dimension : dimensions) {
    text += text.empty() ? "" : " ";
    for (const Piece &piece : dimension) {
      text += concat(&piece == &dimension.front() ? "" : "*", piece.size);
      for (const std::string &axis : piece.axes)
        text += "@" + axis;
    }
  }
  for (const std::string &axis : partial)
    text += (text.empty() ? "+" : " +") + axis;
  if (only)
    text += concat(text.empty() ? "" : " ", "on ", only->axis, "=", only->coordinate);
  return text;
}

std::vector<std::string> Sharding::axes() const {
  std::vector<std::string> all;
  for (const std::vector<Piece> &dimension : dimensions)
    for (const Piece &piece : dimension)
      all.insert(all.end(), piece.axes.begin(), piece.axes.end());
  all.insert(all.end(), partial.begin(), partial.end());
  if (only)
    all.push_back(only->axis);
  return all;
}

llvm::hash_code hash_value(const Mesh &mesh) { return llvm::hash_value(mesh.text()); }
llvm::hash_code hash_value(const Sharding &sharding) { return llvm::hash_value(sharding.text()); }

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getValue().axes, printer.getStream(), [&](const Mesh::Axis &axis) {
    printer << axis.name << " = " << axis.ranks();
  });
  printer << ">";
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc at = parser.getCurrentLocation();
  auto axis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual())
      return failure();
    text += (text.empty() ? "" : ",") + name + "=";
    do {
      int64_t size;
      if (parser.parseInteger(size))
        return failure();
      text += (text.back() == '=' ? "" : ":") + std::to_string(size);
    } while (succeeded(parser.parseOptionalColon()));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, axis))
    return {};
  auto mesh = Mesh::parse(text);
  if (auto *wrong = std::get_if<std::string>(&mesh)) {
    parser.emitError(at) << *wrong;
    return {};
  }
  return get(parser.getContext(), std::get<Mesh>(mesh));
}

LogicalResult MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Mesh mesh) {
  if (std::string wrong = mesh.wrong(); !wrong.empty())
    return emitError() << wrong;
  return success();
}

void ShardingAttr::print(AsmPrinter &printer) const {
  const Sharding &sharding = getValue();
  raw_ostream &os = printer.getStream();
  os << "<[";
  llvm::interleaveComma(sharding.dimensions, os,
                        [&](const std::vector<Sharding::Piece> &dimension) {
                          llvm::interleave(
                              dimension, os,
                              [&](const Sharding::Piece &piece) {
                                os << piece.size;
                                for (const std::string &axis : piece.axes)
                                  os << "@" << axis;
                              },
                              "*");
                        });
  os << "]";
  if (!sharding.partial.empty()) {
    os << " partial ";
    llvm::interleaveComma(sharding.partial, os);
  }
  if (sharding.only)
    os << " on " << sharding.only->axis << " = " << sharding.only->coordinate;
  os << ">";
}

/// "3*16@tp*64"
static ParseResult parseDimension(AsmParser &parser, std::vector<Sharding::Piece> &dimension) {
  do {
    Sharding::Piece piece{};
    if (parser.parseInteger(piece.size))
      return failure();
    StringAttr axis;
    while (succeeded(parser.parseOptionalSymbolName(axis)))
      piece.axes.push_back(axis.str());
    dimension.push_back(std::move(piece));
  } while (succeeded(parser.parseOptionalStar()));
  return success();
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  Sharding sharding;
  SMLoc at = parser.getCurrentLocation();
  auto dimension = [&] { return parseDimension(parser, sharding.dimensions.emplace_back()); };
  auto axis = [&] { return parser.parseKeywordOrString(&sharding.partial.emplace_back()); };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, dimension) ||
      (succeeded(parser.parseOptionalKeyword("partial")) && parser.parseCommaSeparatedList(axis)))
    return {};
  if (succeeded(parser.parseOptionalKeyword("on"))) {
    sharding.only = Sharding::Only{};
    if (parser.parseKeywordOrString(&sharding.only->axis) || parser.parseEqual() ||
        parser.parseInteger(sharding.only->coordinate))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), sharding);
}

LogicalResult ShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                   Sharding sharding) {
  for (const std::vector<Sharding::Piece> &dimension : sharding.dimensions) {
    int64_t most = mostElements;
    for (const Sharding::Piece &piece : dimension) {
      if (piece.size < 1 || piece.size > most)
        return emitError() << "a dimension with a piece of " << piece.size
                           << " places: expected 1 or more, and " << mostElements
                           << " at most together";
      most /= piece.size;
    }
  }
  std::vector<std::string> axes = sharding.axes();
  llvm::sort(axes);
  if (auto twice = std::ranges::adjacent_find(axes); twice != axes.end())
    return emitError() << "the axis " << *twice << " is given twice: expected it at most once";
  if (sharding.only && sharding.only->coordinate < 0)
    return emitError() << "there is no coordinate " << sharding.only->coordinate
                       << ": expected 0 or more";
  return success();
}

const Mesh *meshOf(Operation *module) {
  auto mesh = module->getAttrOfType<MeshAttr>(meshAttrName);
  return mesh ? &mesh.getValue() : nullptr;
}

LogicalResult verifyRank(Operation *at, int64_t rank, const Mesh &mesh) {
  if (rank >= 0 && rank < mesh.ranks())
    return success();
  return at->emitError() << "rank " << rank << ": expected 0 to " << mesh.ranks() - 1 << " on "
                         << mesh.text();
}

ShardingAttr shardingAttr(MLIRContext *context, const Layout &layout, const Mesh &mesh) {
  return ShardingAttr::get(context, Sharding::of(layout, mesh));
}

std::optional<Layout> layoutOn(Attribute attribute, const Mesh &mesh) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attribute);
  return sharding ? sharding.getValue().on(mesh) : std::nullopt;
}

} // namespace weir

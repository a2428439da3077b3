//===- SchemaTree.h - A FlatBuffer as a tree that can be changed --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads any buffer of a schema into a tree, by the schema's reflection (flatc --schema --binary),
// changes the tree and writes it again. Nothing here knows what the schema says, so that it holds
// for the next one.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_FUZZ_SCHEMATREE_H
#define WEIR_TEST_FUZZ_SCHEMATREE_H

#include <flatbuffers/reflection.h>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace weir::fuzz {

/// A scalar, struct, string, vector or table.
struct Node {
  reflection::BaseType base;
  const reflection::Object *object = nullptr; ///< of a struct or table
  std::string bytes;                          ///< of a scalar, struct, string, or vector of scalars
  size_t width = 1;                           ///< bytes of an element of a vector of scalars
  std::vector<Node> children;                 ///< a table's fields; a vector's elements
  std::vector<const reflection::Field *> fields; ///< of a table, as `children`

  bool isStruct() const { return base == reflection::Obj && object->is_struct(); }
  bool isTable() const { return base == reflection::Obj && !object->is_struct(); }
};

class SchemaTree {
public:
  /// `schema` is a .bfbs and has to outlive this.
  explicit SchemaTree(const uint8_t *schema) : schema(*reflection::GetSchema(schema)) {}

  /// The buffer's tree; nothing where it is no buffer of the schema.
  std::optional<Node> read(const uint8_t *data, size_t size) const;

  /// One random change at one random place.
  void mutate(Node &root, std::minstd_rand &random) const;

  /// The buffer. Its file identifier is the schema's.
  std::vector<uint8_t> write(const Node &root) const;

private:
  Node readTable(const reflection::Object &object, const flatbuffers::Table &table) const;
  std::optional<Node> readField(const reflection::Object &object, const reflection::Field &field,
                                const flatbuffers::Table &table) const;
  Node readVector(const reflection::Type &type, const flatbuffers::VectorOfAny &vector) const;
  flatbuffers::uoffset_t write(flatbuffers::FlatBufferBuilder &builder, const Node &node) const;
  flatbuffers::uoffset_t writeVector(flatbuffers::FlatBufferBuilder &builder,
                                     const Node &node) const;
  flatbuffers::uoffset_t writeTable(flatbuffers::FlatBufferBuilder &builder,
                                    const Node &node) const;

  const reflection::Schema &schema;
};

} // namespace weir::fuzz

#endif

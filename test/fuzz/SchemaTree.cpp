//===- SchemaTree.cpp - A FlatBuffer as a tree that can be changed ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/SchemaTree.h"
#include <algorithm>
#include <cstring>

namespace weir::fuzz {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::uoffset_t;
using reflection::BaseType;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string copied(const void *data, size_t size) {
  return std::string(static_cast<const char *>(data), size);
}

std::optional<Node> SchemaTree::read(const uint8_t *data, size_t size) const {
  if (!flatbuffers::Verify(schema, *schema.root_table(), data, size))
    return std::nullopt;
  return readTable(*schema.root_table(), *flatbuffers::GetAnyRoot(data));
}

Node SchemaTree::readTable(const reflection::Object &object,
                           const flatbuffers::Table &table) const {
  Node node{reflection::Obj, &object, {}, 1, {}, {}};
  for (const reflection::Field *field : *object.fields())
    if (table.CheckField(field->offset()))
      if (std::optional<Node> child = readField(object, *field, table)) {
        node.children.push_back(std::move(*child));
        node.fields.push_back(field);
      }
  return node;
}

std::optional<Node> SchemaTree::readField(const reflection::Object &object,
                                          const reflection::Field &field,
                                          const flatbuffers::Table &table) const {
  const reflection::Type &type = *field.type();
  BaseType base = type.base_type();
  switch (base) {
  case reflection::String: {
    const flatbuffers::String &text = *flatbuffers::GetFieldS(table, field);
    return Node{base, nullptr, text.str(), 1, {}, {}};
  }
  case reflection::Vector:
    return readVector(type, *flatbuffers::GetFieldAnyV(table, field));
  case reflection::Obj: {
    const reflection::Object &inner = *schema.objects()->Get(type.index());
    if (!inner.is_struct())
      return readTable(inner, *flatbuffers::GetFieldT(table, field));
    const void *data = table.GetStruct<const void *>(field.offset());
    return Node{base, &inner, copied(data, inner.bytesize()), 1, {}, {}};
  }
  case reflection::Union: {
    // The type stands in the field before; 0 is none.
    std::string name = field.name()->str() + flatbuffers::UnionTypeFieldSuffix();
    const reflection::Field &kind = *object.fields()->LookupByKey(name.c_str());
    const reflection::EnumVal *value = schema.enums()
                                           ->Get(type.index())
                                           ->values()
                                           ->LookupByKey(flatbuffers::GetAnyFieldI(table, kind));
    if (!value || value->value() == 0)
      return std::nullopt;
    return readTable(*schema.objects()->Get(value->union_type()->index()),
                     *table.GetPointer<const flatbuffers::Table *>(field.offset()));
  }
  default:
    return Node{
        base, nullptr, copied(table.GetAddressOf(field.offset()), flatbuffers::GetTypeSize(base)),
        1,    {},      {}};
  }
}

Node SchemaTree::readVector(const reflection::Type &type,
                            const flatbuffers::VectorOfAny &vector) const {
  Node node{reflection::Vector, nullptr, {}, 1, {}, {}};
  BaseType element = type.element();
  if (element == reflection::String) {
    for (uoffset_t i = 0; i < vector.size(); ++i) {
      auto *text = flatbuffers::GetAnyVectorElemPointer<const flatbuffers::String>(&vector, i);
      node.children.push_back({element, nullptr, text->str(), 1, {}, {}});
    }
    return node;
  }
  if (element != reflection::Obj) {
    node.width = flatbuffers::GetTypeSize(element);
    node.bytes = copied(vector.Data(), vector.size() * node.width);
    return node;
  }
  const reflection::Object &object = *schema.objects()->Get(type.index());
  node.object = &object; // told apart from a vector of scalars where it is empty
  for (uoffset_t i = 0; i < vector.size(); ++i)
    if (object.is_struct())
      node.children.push_back({element,
                               &object,
                               copied(vector.Data() + i * object.bytesize(), object.bytesize()),
                               1,
                               {},
                               {}});
    else
      node.children.push_back(readTable(
          object, *flatbuffers::GetAnyVectorElemPointer<const flatbuffers::Table>(&vector, i)));
  return node;
}

//===----------------------------------------------------------------------===//
// Changing
//===----------------------------------------------------------------------===//

static void collect(Node &node, std::vector<Node *> &nodes) {
  nodes.push_back(&node);
  for (Node &child : node.children)
    collect(child, nodes);
}

/// A number of `width` bytes: one that is likely to be at an edge, or near what was there.
static void mutateNumber(char *bytes, size_t width, std::minstd_rand &random) {
  int64_t value = 0;
  std::memcpy(&value, bytes, width);
  static const int64_t edges[] = {0,   1,         2,     63,         64,        255,
                                  256, 65535,     65536, 4294967295, INT32_MAX, INT64_MAX,
                                  -1,  INT64_MIN, 1024,  1 << 20};
  switch (random() % 4) {
  case 0:
    value = edges[random() % std::size(edges)];
    break;
  case 1:
    value = int64_t(uint64_t(value) + random() % 129 - 64);
    break;
  case 2:
    value ^= int64_t(1) << random() % (8 * width);
    break;
  default:
    value = random() % 2 ? int64_t(uint64_t(value) * 2) : value / 2;
  }
  std::memcpy(bytes, &value, width);
}

static void mutateText(std::string &text, std::minstd_rand &random) {
  static const char *const texts[] = {"",    "step", "loss",     "\x1b[31m",    "\xff\xfe",
                                      "a/b", "../x", "run/seed", "__metadata__"};
  switch (random() % 3) {
  case 0:
    text = texts[random() % std::size(texts)];
    break;
  case 1:
    if (!text.empty()) {
      text[random() % text.size()] = char(random());
      break;
    }
    [[fallthrough]];
  default:
    text += std::string(random() % 300, 'y');
  }
}

template <typename List> static void mutateList(List &list, std::minstd_rand &random) {
  if (list.empty())
    return;
  size_t one = random() % list.size(), other = random() % list.size();
  switch (random() % 4) {
  case 0:
    list.erase(list.begin() + one);
    break;
  case 1:
    list.push_back(list[one]);
    break;
  case 2:
    std::swap(list[one], list[other]);
    break;
  default:
    list.resize(one, list[one]);
  }
}

void SchemaTree::mutate(Node &root, std::minstd_rand &random) const {
  std::vector<Node *> nodes;
  collect(root, nodes);
  Node &node = *nodes[random() % nodes.size()];
  if (random() % 8 == 0) { // another of its kind from elsewhere
    std::erase_if(nodes, [&](Node *other) {
      return other == &node || other->base != node.base || other->object != node.object ||
             other->width != node.width;
    });
    // A copy first: the other may be a part of this one, or this one a part of it.
    if (!nodes.empty()) {
      Node copy = *nodes[random() % nodes.size()];
      node = std::move(copy);
    }
    return;
  }
  if (node.isTable()) {
    if (!node.children.empty()) {
      size_t at = random() % node.children.size();
      node.children.erase(node.children.begin() + at);
      node.fields.erase(node.fields.begin() + at);
    }
  } else if (node.isStruct()) {
    const auto &fields = *node.object->fields();
    const reflection::Field &field = *fields[random() % fields.size()];
    mutateNumber(node.bytes.data() + field.offset(),
                 flatbuffers::GetTypeSize(field.type()->base_type()), random);
  } else if (node.base == reflection::String) {
    mutateText(node.bytes, random);
  } else if (node.base != reflection::Vector) {
    mutateNumber(node.bytes.data(), node.bytes.size(), random);
  } else if (!node.children.empty() || node.object) {
    mutateList(node.children, random);
  } else if (size_t count = node.bytes.size() / node.width) {
    if (random() % 4)
      mutateNumber(node.bytes.data() + random() % count * node.width, node.width, random);
    else if (random() % 2)
      node.bytes.resize(random() % count * node.width);
    else
      node.bytes += node.bytes.substr(0, random() % count * node.width);
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::vector<uint8_t> SchemaTree::write(const Node &root) const {
  FlatBufferBuilder builder;
  builder.Finish(Offset<flatbuffers::Table>(writeTable(builder, root)),
                 schema.file_ident() ? schema.file_ident()->c_str() : nullptr);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

uoffset_t SchemaTree::write(FlatBufferBuilder &builder, const Node &node) const {
  if (node.base == reflection::String)
    return builder.CreateString(node.bytes).o;
  return node.base == reflection::Vector ? writeVector(builder, node) : writeTable(builder, node);
}

uoffset_t SchemaTree::writeVector(FlatBufferBuilder &builder, const Node &node) const {
  if (!node.children.empty() && !node.children.front().isStruct()) {
    std::vector<Offset<void>> offsets;
    for (const Node &child : node.children)
      offsets.push_back(write(builder, child));
    return builder.CreateVector(offsets).o;
  }
  // Structs stand in the vector itself, as numbers do.
  std::string bytes = node.bytes;
  size_t width = node.width, align = node.width;
  if (node.object && node.object->is_struct()) {
    width = node.object->bytesize();
    align = node.object->minalign();
    for (const Node &child : node.children)
      bytes += child.bytes;
  } else if (node.object) {
    width = align = sizeof(uoffset_t);
  }
  size_t count = bytes.size() / width;
  builder.StartVector(count * width / align, align);
  builder.PushBytes(reinterpret_cast<const uint8_t *>(bytes.data()), count * width);
  return builder.EndVector(count);
}

uoffset_t SchemaTree::writeTable(FlatBufferBuilder &builder, const Node &node) const {
  auto isInline = [](const Node &child) {
    return child.isStruct() || (child.base != reflection::String &&
                                child.base != reflection::Vector && child.base != reflection::Obj);
  };
  std::vector<uoffset_t> offsets;
  for (const Node &child : node.children)
    offsets.push_back(isInline(child) ? 0 : write(builder, child));
  uoffset_t start = builder.StartTable();
  for (size_t i = 0; i < node.children.size(); ++i) {
    const Node &child = node.children[i];
    flatbuffers::voffset_t field = node.fields[i]->offset();
    if (!isInline(child)) {
      builder.AddOffset(field, Offset<void>(offsets[i]));
      continue;
    }
    builder.Align(child.isStruct() ? child.object->minalign() : child.bytes.size());
    builder.PushBytes(reinterpret_cast<const uint8_t *>(child.bytes.data()), child.bytes.size());
    builder.TrackField(field, builder.GetSize());
  }
  return builder.EndTable(start);
}

} // namespace weir::fuzz

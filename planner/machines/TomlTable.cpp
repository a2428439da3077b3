//===- TomlTable.cpp - A table of a TOML file, read key by key ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/TomlTable.h"
#include "support/Error.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <toml++/toml.h>

namespace weir::planner {

struct TomlTable::Node {
  std::shared_ptr<const toml::table> root; ///< whose table this is, or has it
  const toml::table *table;
  std::string file;
  std::string path; ///< of keys, "devices.products."; "" of a file's own
  std::set<std::string> asked = {};

  [[noreturn]] void fail(const toml::source_region &at, const std::string &what) const {
    std::string place =
        at.begin.line ? concat(file, ":", at.begin.line, ":", at.begin.column) : file;
    throw Failure(Exit::usage, place + ": " + what);
  }

  const toml::node *find(const std::string &key) {
    asked.insert(key);
    return table->get(key);
  }

  /// A key that is nearly this one is taken for it, misspelt.
  [[noreturn]] void missing(const std::string &key, const std::string &expected) const {
    for (const auto &[name, value] : *table)
      if (std::string near(name.str()); !asked.contains(near) && nearestName(near, {key}, 1))
        fail(value.source(),
             concat(path, near, ": there is no such key; did you mean '", key, "'?"));
    fail(table->source(), concat(path, key, " is missing: expected ", expected));
  }
};

static std::string describe(const toml::node &node) {
  if (auto text = node.value_exact<std::string>())
    return "\"" + *text + "\"";
  if (auto number = node.value_exact<int64_t>())
    return std::to_string(*number);
  if (auto number = node.value_exact<double>())
    return concat(*number, *number == std::floor(*number) ? ".0" : "");
  if (auto truth = node.value_exact<bool>())
    return *truth ? "true" : "false";
  return node.is_table() ? "a table" : node.is_array() ? "a list" : "a date";
}

TomlTable TomlTable::parse(const std::string &text, const std::string &name) {
  try {
    auto root = std::make_shared<const toml::table>(toml::parse(text, name));
    return TomlTable(std::make_shared<Node>(Node{root, root.get(), name, ""}));
  } catch (const toml::parse_error &error) {
    const toml::source_position &at = error.source().begin;
    throw Failure(Exit::usage, concat(name, ":", at.line, ":", at.column,
                                      ": invalid TOML: ", error.description()));
  }
}

TomlTable TomlTable::read(const std::string &path) {
  // Of a folder, reading fails.
  constexpr size_t most = size_t(1) << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(most + 1, '\0');
  if (file)
    file.read(text.data(), std::streamsize(text.size()));
  if (!file.is_open() || file.bad())
    throw Failure(Exit::usage,
                  concat("cannot read ", path, ": ", std::strerror(errno ? errno : EIO)));
  text.resize(size_t(file.gcount()));
  if (text.size() > most)
    throw Failure(Exit::usage, path + " is too large: expected at most 1 MiB");
  // The parser takes apart one part of a key inside of another.
  constexpr int64_t mostDots = 1000;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (std::ranges::count(line, '.') > mostDots)
      throw Failure(Exit::usage, concat(path, ": a line has more than ", mostDots,
                                        " dots: expected keys such as devices.products.f32"));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return parse(text, path);
}

bool TomlTable::has(const std::string &key) { return node->find(key) != nullptr; }
const std::string &TomlTable::file() const { return node->file; }

void TomlTable::wrong(const std::string &key, const std::string &what) const {
  const toml::node *value = node->table->get(key);
  node->fail(value ? value->source() : node->table->source(),
             concat(node->path, key, value ? ": " : " ", what));
}

std::string TomlTable::text(const std::string &key, std::optional<std::string> otherwise) {
  const toml::node *value = node->find(key);
  if (!value && otherwise)
    return *otherwise;
  if (!value)
    node->missing(key, "a text");
  if (auto text = value->value_exact<std::string>())
    return *text;
  wrong(key, "expected a text, but found " + describe(*value));
}

int64_t TomlTable::integer(const std::string &key, int64_t least,
                           std::optional<int64_t> otherwise) {
  const toml::node *value = node->find(key);
  if (!value && otherwise)
    return *otherwise;
  constexpr int64_t most = int64_t(1) << 40;
  std::string expected = concat("a whole number of at least ", least);
  if (!value)
    node->missing(key, expected);
  if (auto number = value->value_exact<int64_t>(); number && *number > most)
    expected += concat(", and at most ", most);
  if (auto number = value->value_exact<int64_t>(); number && *number >= least && *number <= most)
    return *number;
  wrong(key, "expected " + expected + ", but found " + describe(*value));
}

double TomlTable::number(const std::string &key, double least, std::optional<double> otherwise) {
  const toml::node *value = node->find(key);
  if (!value && otherwise)
    return *otherwise;
  std::string expected = concat("a number of at least ", least);
  if (!value)
    node->missing(key, expected);
  if (auto number = value->value<double>();
      value->is_number() && number && *number >= least && std::isfinite(*number))
    return *number;
  wrong(key, "expected " + expected + ", but found " + describe(*value));
}

bool TomlTable::truth(const std::string &key, bool otherwise) {
  const toml::node *value = node->find(key);
  if (!value)
    return otherwise;
  if (auto truth = value->value_exact<bool>())
    return *truth;
  wrong(key, "expected true or false, but found " + describe(*value));
}

std::vector<int64_t> TomlTable::integers(const std::string &key, size_t count, int64_t least,
                                         std::vector<int64_t> otherwise) {
  const toml::node *value = node->find(key);
  if (!value)
    return otherwise;
  std::vector<int64_t> all;
  if (const toml::array *list = value->as_array())
    for (const toml::node &one : *list)
      if (auto number = one.value_exact<int64_t>(); number && *number >= least)
        all.push_back(*number);
  if (all.size() == count && value->as_array()->size() == count)
    return all;
  wrong(key, concat("expected a list of ", count, " whole numbers of at least ", least,
                    ", but found ", describe(*value)));
}

std::vector<std::string> TomlTable::texts(const std::string &key) {
  const toml::node *value = node->find(key);
  std::vector<std::string> all;
  if (!value)
    return all;
  const toml::array *list = value->as_array();
  if (list)
    for (const toml::node &one : *list)
      if (auto text = one.value_exact<std::string>())
        all.push_back(*text);
  if (!list || all.size() != list->size())
    wrong(key, "expected a list of texts, but found " + describe(*value));
  return all;
}

std::string TomlTable::described(const std::string &key) { return describe(*node->find(key)); }

double TomlTable::measure(const std::string &key, Reader reader, const std::string &example,
                          std::optional<double> otherwise) {
  const toml::node *value = node->find(key);
  if (!value && otherwise)
    return *otherwise;
  std::string expected = "a number with its unit, such as \"" + example + "\"";
  if (!value)
    node->missing(key, expected);
  if (auto text = value->value_exact<std::string>())
    if (std::optional<double> number = reader(*text))
      return *number;
  wrong(key, "expected " + expected + ", but found " + describe(*value));
}

TomlTable TomlTable::table(const std::string &key) {
  static const toml::table empty;
  const toml::node *value = node->find(key);
  if (value && !value->is_table())
    wrong(key, "expected a table, but found " + describe(*value));
  return TomlTable(std::make_shared<Node>(
      Node{node->root, value ? value->as_table() : &empty, node->file, node->path + key + "."}));
}

std::vector<TomlTable> TomlTable::tables(const std::string &key) {
  const toml::node *value = node->find(key);
  if (!value)
    node->missing(key, "[[" + key + "]] at least once");
  const toml::array *list = value->as_array();
  if (!list || list->empty() || !list->is_homogeneous(toml::node_type::table))
    wrong(key, "expected [[" + key + "]], but found " + describe(*value));
  std::vector<TomlTable> all;
  for (const toml::node &one : *list)
    all.push_back(TomlTable(std::make_shared<Node>(
        Node{node->root, one.as_table(), node->file, node->path + key + "."})));
  return all;
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> all;
  for (const auto &[key, value] : *node->table)
    all.emplace_back(key.str());
  return all;
}

void TomlTable::requireAllRead() const {
  for (const auto &[key, value] : *node->table)
    if (std::string name(key.str()); !node->asked.contains(name)) {
      std::vector<std::string> known(node->asked.begin(), node->asked.end());
      std::string near = didYouMean(name, known);
      wrong(name, "there is no such key" + (near.empty() ? ": expected " + join(known) : near));
    }
}

std::string quoted(const std::string &text) {
  // Escapes controls, and keeps other characters.
  constexpr toml::format_flags flags = toml::format_flags::allow_unicode_strings;
  std::ostringstream out;
  out << toml::toml_formatter(toml::value<std::string>(text), flags);
  return out.str();
}

} // namespace weir::planner

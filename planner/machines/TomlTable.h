//===- TomlTable.h - A table of a TOML file, read key by key --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever is wrong is thrown as Failure(Exit::usage) with the file, line and column, the key, what
// was expected and what was found. A key that nobody asked for is wrong too.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_MACHINES_TOMLTABLE_H
#define WEIR_PLANNER_MACHINES_TOMLTABLE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::planner {

class TomlTable {
public:
  /// Of a whole file. Failure(Exit::usage) where it cannot be read.
  static TomlTable read(const std::string &path);
  /// Of a text, which `name` stands for in what is said of it.
  static TomlTable parse(const std::string &text, const std::string &name);

  bool has(const std::string &key);

  /// What stands there. A key that is not there is an error, without a default.
  std::string text(const std::string &key, std::optional<std::string> otherwise = std::nullopt);
  int64_t integer(const std::string &key, int64_t least,
                  std::optional<int64_t> otherwise = std::nullopt);
  double number(const std::string &key, double least,
                std::optional<double> otherwise = std::nullopt);
  bool truth(const std::string &key, bool otherwise);
  std::vector<int64_t> integers(const std::string &key, size_t count, int64_t least,
                                std::vector<int64_t> otherwise);
  std::vector<std::string> texts(const std::string &key);

  /// What stands there, which has to be, as messages have it: `2`, `"2"`, `2.0`, `a list`.
  std::string described(const std::string &key);

  /// A number with a unit in a text, as one of support/Units.h reads it; `example` is one.
  using Reader = std::optional<double> (*)(std::string_view);
  double measure(const std::string &key, Reader reader, const std::string &example,
                 std::optional<double> otherwise = std::nullopt);

  /// A table in it, empty where there is none; a list of tables, and at least one.
  TomlTable table(const std::string &key);
  std::vector<TomlTable> tables(const std::string &key);

  /// Its keys, as they stand.
  std::vector<std::string> keys() const;

  /// Throws where there is a key that was not asked for.
  void requireAllRead() const;

  /// Throws that the key's value is wrong.
  [[noreturn]] void wrong(const std::string &key, const std::string &what) const;

  /// Where the file is, for other files that it names.
  const std::string &file() const;

private:
  struct Node;
  explicit TomlTable(std::shared_ptr<Node> node) : node(std::move(node)) {}
  std::shared_ptr<Node> node;
};

/// A text as TOML has it, between quotation marks, on one line. Files are written line by line with
/// it: a toml::table sorts its keys and keeps no comments, so what people read first would not come
/// first.
std::string quoted(const std::string &text);

} // namespace weir::planner

#endif

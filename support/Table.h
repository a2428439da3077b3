//===- Table.h - Columns of text ------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_TABLE_H
#define WEIR_SUPPORT_TABLE_H

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace weir {

/// Columns as wide as their widest cell; numbers (columns named in `right`) end together.
class Table {
public:
  explicit Table(std::vector<std::string> head, std::vector<bool> right)
      : rows{std::move(head)}, right(std::move(right)) {}

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  /// The head and each row, without the ends of lines.
  std::vector<std::string> lines() const {
    std::vector<size_t> widths(right.size());
    for (const auto &row : rows)
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    std::vector<std::string> lines;
    for (const auto &row : rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        std::string pad(widths[i] - row[i].size(), ' ');
        line += "  " + (right[i] ? pad + row[i] : row[i] + pad);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      lines.push_back(std::move(line));
    }
    return lines;
  }

  void print(std::ostream &out) const {
    for (const std::string &line : lines())
      out << line << "\n";
  }

private:
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> right;
};

} // namespace weir

#endif

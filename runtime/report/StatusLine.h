//===- StatusLine.h - A line that says how far work has come --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_STATUSLINE_H
#define WEIR_RUNTIME_REPORT_STATUSLINE_H

#include <cstdio>
#include <string>

namespace weir {

/// On a terminal, one line that is rewritten; elsewhere (also under TERM=dumb), plain lines. It has
/// no colours, so NO_COLOR needs no support.
class StatusLine {
public:
  /// Whether `out` is a terminal that can rewrite a line.
  static bool isLive(std::FILE *out);

  /// `live`: lines may be rewritten.
  explicit StatusLine(std::FILE *out) : StatusLine(out, isLive(out)) {}
  StatusLine(std::FILE *out, bool live) : live(live), out(out) {}
  ~StatusLine() { erase(); }
  StatusLine(const StatusLine &) = delete;
  StatusLine &operator=(const StatusLine &) = delete;

  /// Replaces the line, or prints one.
  void show(const std::string &text);

  /// Prints a line that stays.
  void say(const std::string &text);

  const bool live;

private:
  void erase();

  std::FILE *out;
  bool drawn = false; ///< the terminal shows a line that will be rewritten
};

} // namespace weir

#endif

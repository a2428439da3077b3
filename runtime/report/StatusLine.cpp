//===- StatusLine.cpp - A line that says how far work has come ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/StatusLine.h"
#include "support/Utf8.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace weir {

bool StatusLine::isLive(std::FILE *out) {
  const char *terminal = std::getenv("TERM");
  return isatty(fileno(out)) && terminal && std::strcmp(terminal, "dumb") != 0;
}

static size_t columns(std::FILE *out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void StatusLine::erase() {
  if (drawn)
    std::fputs("\r\x1b[K", out);
  drawn = false;
}

void StatusLine::show(const std::string &text) {
  if (!live)
    return say(text);
  std::string line = printable(text);
  // A line that wraps cannot be rewritten.
  line.resize(std::min(line.size(), columns(out) - 1));
  std::fprintf(out, "\r%s\x1b[K", line.c_str());
  std::fflush(out);
  drawn = true;
}

void StatusLine::say(const std::string &text) {
  erase();
  std::fprintf(out, "%s\n", printable(text).c_str());
  std::fflush(out);
}

} // namespace weir

//===- Page.cpp - An artifact as a page -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/page/Page.h"
#include "tools/weir/page/PageParts.h"
#include <cassert>

namespace weir {
namespace {

/// Within an element of HTML: nothing that ends it, or begins a comment there.
std::string asData(const nlohmann::ordered_json &facts) {
  std::string escaped;
  for (char c : facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      escaped += "\\u003c";
    else
      escaped += c;
  return escaped;
}

} // namespace

std::string pageOf(const nlohmann::ordered_json &facts) {
  std::string page;
  std::string_view left = pageFrame;
  auto copyTo = [&](std::string_view mark) {
    size_t at = left.find(mark);
    assert(at != std::string_view::npos && "page.html has a place for each part");
    page += left.substr(0, at);
    left.remove_prefix(at + mark.size());
  };
  copyTo("{{style}}");
  page += pageStyle;
  copyTo("{{data}}");
  page += asData(facts);
  copyTo("{{script}}");
  page += pageScript;
  page += left;
  return page;
}

} // namespace weir

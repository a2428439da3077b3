//===- Page.h - An artifact as a page -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PAGE_PAGE_H
#define WEIR_TOOLS_WEIR_PAGE_PAGE_H

#include <nlohmann/json.hpp>
#include <string>

namespace weir {

/// The HTML of tools/weir/page with the facts in it (PageFacts.h), whole in itself: it loads
/// nothing. No text of the facts is anything but text to a browser.
std::string pageOf(const nlohmann::ordered_json &facts);

} // namespace weir

#endif

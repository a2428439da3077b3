//===- PageParts.h - What pages are made of -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PAGE_PAGEPARTS_H
#define WEIR_TOOLS_WEIR_PAGE_PAGEPARTS_H

#include <string_view>

namespace weir {

/// The texts of page.html, page.css and the scripts, in their order.
extern const std::string_view pageFrame, pageStyle, pageScript;

} // namespace weir

#endif

//===- Precision.cpp - What a program's products multiply -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Precision.h"
#include <iterator>

namespace weir {

static constexpr Element all[] = {Element::f32, Element::bf16, Element::f16};

llvm::ArrayRef<Element> precisions() { return all; }

std::optional<Element> precisionNamed(std::string_view name) {
  for (Element element : all)
    if (name == nameOf(element))
      return element;
  return std::nullopt;
}

std::string precisionOptions() {
  std::string text;
  for (const Element &element : all)
    text += (&element == all                 ? ""
             : &element == std::end(all) - 1 ? " or "
                                             : ", ") +
            std::string(nameOf(element));
  return text;
}

} // namespace weir

//===- ParameterDtype.h - What parameters are kept in ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A master is the copy of a parameter that a step adds its update to. One of eight significant bits
// loses most updates to rounding to nearest; rounded at random it is right on average.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PRECISION_PARAMETERDTYPE_H
#define WEIR_SUPPORT_PRECISION_PARAMETERDTYPE_H

#include "support/precision/Element.h"
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// What `--param-dtype` names; nothing where it names no type of masters.
inline std::optional<Element> parameterDtypeNamed(std::string_view name) {
  for (Element element : {Element::f32, Element::bf16})
    if (name == nameOf(element))
      return element;
  return std::nullopt;
}

/// What may be named, as messages say it.
inline std::string parameterDtypeOptions() {
  return std::string(nameOf(Element::f32)) + " or " + nameOf(Element::bf16);
}

} // namespace weir

#endif

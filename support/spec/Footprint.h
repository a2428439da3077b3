//===- Footprint.h - Which bytes of an operand an action touches ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_FOOTPRINT_H
#define WEIR_SUPPORT_SPEC_FOOTPRINT_H

#include "support/precision/Element.h"
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace weir::spec {

/// Of an operand that is of f32, whatever the others are.
constexpr uint64_t floatBytes = sizeOf(Element::f32);

/// What an action does with an operand. `update` reads and writes.
enum class Mode : uint8_t { read, write, update };

inline bool reads(Mode mode) { return mode != Mode::write; }
inline bool writes(Mode mode) { return mode != Mode::read; }

/// `count` places, `stride` bytes apart.
struct Dim {
  uint64_t count;
  int64_t stride;

  bool operator==(const Dim &) const = default;
};

/// Bytes of a buffer from the operand's place on: `bytes` without a gap, at every point of `dims`.
struct Footprint {
  std::string name; ///< the operand's, for messages: "a", "bias", "operand 3"
  Mode mode;
  uint64_t bytes;
  std::vector<Dim> dims;
  bool workspace = false;         ///< what is in it before and after is nobody's business
  Element element = Element::f32; ///< of a library call's operand

  /// From the first byte to behind the last. Strides are not negative, and what checked the spec
  /// has seen to it that nothing wraps.
  uint64_t extent() const;

  bool operator==(const Footprint &) const = default;
};

/// A tensor of such elements, its dimensions' strides in elements and not negative, as
/// few dimensions as say the same: those without gaps between them are one, and those of stride 0
/// are none.
Footprint strided(std::string name, Mode mode, Element element,
                  std::initializer_list<Dim> dimensions);

/// What an action has to do: operations on numbers, and bytes read and written once each.
struct Cost {
  uint64_t flops = 0, bytes = 0;
};

} // namespace weir::spec

#endif

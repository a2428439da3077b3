//===- ByteRanges.h - The bytes of one access -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_BYTERANGES_H
#define WEIR_SUPPORT_PLANNED_BYTERANGES_H

#include "support/planned/Plan.h"
#include <vector>

namespace weir::planned {

/// The bytes of an access at one point of its loops, from its address on, in normal form: dims have
/// positive, ascending strides, the first longer than a piece, so contiguous bytes are one piece.
/// All arithmetic wraps; for an access that passed checkBounds, none does.
struct ByteRanges {
  uint64_t begin = 0; ///< of the first piece; dims that run backwards move it before the address
  uint64_t bytes = 0; ///< of each piece
  std::vector<Dim> dims;

  /// The number of pieces, but at most `most`.
  uint64_t pieces(uint64_t most) const;
  /// From the first byte to the end of the last.
  uint64_t span() const;
};

ByteRanges byteRangesOf(uint64_t bytes, const std::vector<Dim> &dims);

} // namespace weir::planned

#endif

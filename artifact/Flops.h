//===- Flops.h - What an entry computes and moves -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Model FLOPs are what an entry's mathematics takes: an artifact has them as a number. Executed
// FLOPs are what its actions compute, a loop's as often as it goes round, with what is computed
// again for want of memory. Both count two for each multiplication with its addition of products,
// convolutions and attention, and nothing else (docs/decisions/0034), so that one may be divided by
// the other; Executed::flops has everything else too.
//
// Bytes are those of main memory, of a GPU its own: each operand of a kernel or call once, as it
// is read or written. What stays in registers, caches, scratch of threads or shared memory is not
// known and not counted, nor is what a kernel reads more than once.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_FLOPS_H
#define WEIR_ARTIFACT_FLOPS_H

#include "artifact/Artifact_generated.h"
#include "support/precision/Element.h"
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace weir::artifact {

/// What one run of an entry executes, or the part of it of a line of the model.
struct Executed {
  uint64_t products = 0; ///< FLOPs of products, convolutions and attention
  uint64_t flops = 0;    ///< all of them
  uint64_t bytes = 0;    ///< that kernels and calls read and write
  uint64_t copied = 0;   ///< bytes read and written by copies, between host and device too
  uint64_t received = 0; ///< bytes that a rank gets of others
  bool known = true;     ///< `products`: files had nothing of it once
};

/// Of a run of an entry of a verified program.
Executed executedBy(const Program &program, const Entry &entry);

/// The same of all ranks together. The sum can exceed 64 bits.
struct ExecutedByAll {
  std::optional<double> products; ///< nothing where a rank's are not known
  double received = 0;            ///< bytes
};

/// Of the entry of that name; of a program without a mesh, as above.
ExecutedByAll executedByAll(const Program &program, std::string_view entry);

/// (file, line); line 0 stands for none that is known.
using ModelLine = std::pair<uint32_t, uint32_t>;

struct LineWork {
  double model = 0;  ///< model FLOPs
  Executed executed; ///< bytes of actions of several lines in equal parts
};

/// Of every line of the model that has any; together they are the entry's.
std::map<ModelLine, LineWork> workByLine(const Program &program, const Entry &entry);

/// What most of the FLOPs of library calls multiply, in the entry of that name of all ranks; f32
/// where there are none.
Element multipliedBy(const Program &program, std::string_view entry);

/// Of a program whose entry's actions have been verified: whether its numbers fit.
constexpr uint64_t mostFlops = uint64_t(1) << 62;

} // namespace weir::artifact

#endif

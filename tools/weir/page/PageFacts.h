//===- PageFacts.h - A page's facts ---------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the page of `weir inspect --html` is drawn from, as one JSON object. To be small, what is
// there thousands of times is a row of numbers, and names stand once, in `strings`:
//
//   facts       as `weir inspect --json`, without variables and without what is alive at the peak
//   files       [{name, text, note}]: see Sources.h
//   lines       [[file, line]]
//   line_sets   [[line ..]]: lines, by their place in `lines`
//   variables   [[name, role, type, shape, bytes, offset, line]]
//   elements    for each kernel {reads [..], stores [..], computes [..]}
//   no_types    why `elements` are empty, or ""
//   strings     what labels, types and other words are places of
//   entries     [{name, buffers, pinned, actions}]
//     buffers   [[offset, bytes, first, last, label, line, type]]; those outside of the arena at -1
//     pinned    bytes of the host's side
//     actions   [[work, line set, loop, times, repeats, [reads], [writes]]], by number
//
// A line, a loop, a type or a repeat that is none is -1. A work is a place in facts.kernels, or
// behind those in facts.calls, or, of what is neither, -1 - a place in `strings`: "copy". What is
// read and written is a place in `buffers`, or -1 - a place in `variables`.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PAGE_PAGEFACTS_H
#define WEIR_TOOLS_WEIR_PAGE_PAGEFACTS_H

#include "artifact/Artifact_generated.h"
#include "tools/weir/inspect/KernelElements.h"
#include "tools/weir/page/Sources.h"
#include <nlohmann/json.hpp>

namespace weir {

struct PageTypes {
  std::map<std::string, KernelElements> kernels; ///< by the plan's names
  std::string whyNone;                           ///< why there are none, or ""
};

/// `program` has been verified (artifact/Reader.h).
nlohmann::ordered_json pageFacts(const artifact::Program &program, const PageTypes &types,
                                 const std::vector<PageSource> &sources);

} // namespace weir

#endif

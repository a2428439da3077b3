//===- Describe.h - An artifact as facts ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `weir inspect` says, as JSON: the text form prints it and adds nothing. Sizes are bytes; a
// place is "file:line".
//
//   model, target, batch, accumulate, steps, epochs, configs {name: value}
//   variables [{name, role, type, shape, bytes, at}]
//   memory {arena, persistent, thread_scratch, entries [{entry, scratch, largest_live, peak
//   [{label, bytes, at}]}]} kernels [{symbol, shape, tasks, ops, at [..], launches {entry: times},
//   flops, bytes}] products, convolutions [{entry, ..dimensions.., times, flops, bytes, at [..]}]
//   step {launches, products, convolutions, flops, bytes}: the totals of one step
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_DESCRIBE_H
#define WEIR_TOOLS_WEIR_DESCRIBE_H

#include "runtime/artifact/Artifact_generated.h"
#include <nlohmann/json.hpp>

namespace weir {

/// `program` has been verified (runtime/artifact/Reader.h): nothing is checked again here.
nlohmann::ordered_json describe(const artifact::Program &program);

} // namespace weir

#endif

//===- Describe.h - An artifact as facts ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that `weir inspect` prints, as JSON; the text form prints the same. Sizes are bytes; a
// place is "file:line".
//
//   model, target, precision, master, loss_scale, batch, accumulate, steps, epochs
//   configs {name: value}
//   strategy [{field, value, help}]: the fields that differ from their defaults, a list's once for
//     each value; help is "" of a field of a later version; null where the artifact is too old
//   variables [{name, role, type, shape, bytes, at}]
//   memory {arena, persistent, thread_scratch, pinned, host, batches (read ahead),
//     entries [{entry, scratch, largest_live, peak_action, peak [{label, bytes, at}]}]}
//   kernels [{symbol, shape, tasks, ops, at [..], launches {entry: times}, flops, bytes, share}];
//     for a GPU also threads, shared, function (its name in the code, which profilers show), and of
//     machine code registers and frame
//   calls [{entry, kind, what, fields {..}, flops, bytes, times, at [..], share}]
//   step {launches, calls, flops, bytes}: the totals of one step, all FLOPs
//   flops [{entry, ..}]: FLOPs and bytes of a run of each entry, by line (InspectFlops.h)
//
// A share is a fraction of the step's cost, from 0 to 1, and 0 outside the step. The cost of a
// launch or call is the larger of its FLOPs and machines::flopsPerByteOfCore times its bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_DESCRIBE_H
#define WEIR_TOOLS_WEIR_INSPECT_DESCRIBE_H

#include "artifact/Artifact_generated.h"
#include "support/spec/Call.h"
#include <nlohmann/json.hpp>

namespace weir {

/// `program` has been verified (artifact/Reader.h): nothing is checked again here.
nlohmann::ordered_json describe(const artifact::Program &program);

/// The fields of a call by name.
nlohmann::ordered_json fieldsOf(const spec::Call &call);

} // namespace weir

#endif

//===- Fault.cpp - Faults of a planned entry ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Fault.h"
#include <iterator>

namespace weir::planned {

static constexpr std::string_view texts[] = {
    "kind unknown",
    "misplaced part of an action",
    "unknown buffer",
    "unknown queue",
    "unknown event",
    "unknown loop",
    "two strides for one loop",
    "empty access",
    "empty loop",
    "loops nest too deep",
    "too many queues",
    "waits for an event never recorded",
    "empty buffer",
    "buffer outside its space",
    "misaligned buffer",
    "impossible lifetime",
    "buffers alive together overlap",
    "access outside its buffer",
    "write to a constant",
    "access outside its buffer's lifetime",
    "alive before a loop and dying inside its body",
    "read before it is written",
    "overwritten through another buffer before it is read",
    "queue used before it waits for queue 0",
    "input not visible",
    "read not ordered after a write",
    "write not ordered after a read",
    "write not ordered after a write",
    "written twice by one action",
    "output read before completion",
    "queue not joined",
    "too long to prove",
    "rank without a program",
    "other entries than another rank",
    "other variables than another rank",
    "other inputs than another rank",
    "other results than another rank",
    "unknown layout",
    "other layout than another rank",
    "shares overlap",
    "part of a tensor that no rank has",
    "unknown axis",
    "collectives of one axis on two queues",
    "collective that another member does not have",
    "other order of collectives than another member",
    "other axis than another member",
    "other rounds than another member",
    "other kind of collective than another member",
    "collective of another op than another member's",
    "other type than another member",
    "other size than another member",
    "deadlock",
    "transfer to no other rank",
    "receives what nobody sends",
    "sends what nobody receives",
    "sent for another microbatch",
    "sent twice",
};
static_assert(std::size(texts) == size_t(FaultKind::sentTwice) + 1);

std::string_view text(FaultKind kind) { return texts[size_t(kind)]; }

} // namespace weir::planned

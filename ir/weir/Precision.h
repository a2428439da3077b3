//===- Precision.h - What a program's products multiply -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PRECISION_H
#define WEIR_IR_WEIR_PRECISION_H

#include "ir/weir/ElementTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>

namespace weir {

/// What `--precision` may name.
llvm::ArrayRef<Element> precisions();

/// What `--precision` names; nothing where it names none.
std::optional<Element> precisionNamed(std::string_view name);

/// "f32, bf16 or f16": what it may be.
std::string precisionOptions();

} // namespace weir

#endif

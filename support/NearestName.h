//===- NearestName.h - What a misspelled name means -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every name that a user writes: in models, options, plan files, data and weights.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_NEARESTNAME_H
#define WEIR_SUPPORT_NEARESTNAME_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// The candidate that `name` most likely means, other than `name` itself; the earliest among
/// equals. Another case of the letters is no edit, and a swap of neighbours is one (the optimal
/// string alignment distance). At most a third of the letters are edited, and `more`. Of names
/// longer than 128 bytes, which nobody types, it seeks none.
std::optional<std::string> nearestName(std::string_view name,
                                       const std::vector<std::string> &candidates, size_t more = 0);

/// "; did you mean 'window'?" or "". Since it only adds to a message, it allows one edit more than
/// nearestName(), by which the frontend also decides whether a name is a mistake.
std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates);

} // namespace weir

#endif

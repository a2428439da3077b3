//===- Units.h - Numbers with units behind them ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each gives nothing where the text is not a number with one of its units right behind it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_UNITS_H
#define WEIR_SUPPORT_UNITS_H

#include <optional>
#include <string_view>

namespace weir {

/// "80GB" or "80GiB": at least one.
std::optional<double> bytesIn(std::string_view text);

/// "300GB/s": at least one a second.
std::optional<double> bytesPerSecondIn(std::string_view text);

/// "312TFLOP/s": at least one a second.
std::optional<double> flopsPerSecondIn(std::string_view text);

/// "5us", in seconds; not negative.
std::optional<double> secondsIn(std::string_view text);

} // namespace weir

#endif

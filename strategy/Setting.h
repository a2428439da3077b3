//===- Setting.h - A value, and whether somebody gave it -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STRATEGY_SETTING_H
#define WEIR_STRATEGY_SETTING_H

#include <utility>

namespace weir {

/// A value with a default. Unlike std::optional it can always be read; isGiven() tells a value that
/// was set from the default.
template <class T> class Setting {
public:
  /// A value that was given.
  Setting(T value) : value(std::move(value)) {}
  /// The value that holds where none is given.
  static Setting byDefault(T value) {
    Setting setting(std::move(value));
    setting.given = false;
    return setting;
  }

  const T &operator*() const { return value; }
  const T *operator->() const { return &value; }
  bool isGiven() const { return given; }
  bool operator==(const Setting &) const = default;

private:
  T value;
  bool given = true;
};

} // namespace weir

#endif

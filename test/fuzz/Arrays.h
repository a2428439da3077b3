//===- Arrays.h - Reading what a data file's reader believed ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_FUZZ_ARRAYS_H
#define WEIR_TEST_FUZZ_ARRAYS_H

#include "runtime/data/Readers.h"
#include "support/Error.h"
#include "test/fuzz/Target.h"
#include <algorithm>

namespace weir::fuzz {

/// `read` is one of the readers of runtime/data/Readers.h; what it accepts is read from end to end.
template <typename Reader>
void readArray(Reader read, const uint8_t *data, size_t size, const char *path) {
  Array array;
  array.path = path;
  try {
    read(array, bytesOf(data, size));
  } catch (const Failure &failure) {
    require(failure.exit == Exit::data, "what is wrong with the file is its fault");
    return;
  }
  int64_t count = array.count();
  if (count == 0)
    return;
  require(count > 0 && uint64_t(count) * sizeOf(array.element) <= std::max<size_t>(size, 1) * 4,
          "an array has no more elements than its file");
  if (isInteger(array.element))
    for (int64_t i = 0; i < count; ++i)
      integerAt(array, i);
  for (Element to : {Element::f32, Element::i32, Element::u8})
    if (converts(array.element, to)) {
      findOutside(array, 0, count, to, 10);
      std::vector<std::byte> out(size_t(count) * sizeOf(to));
      convert(array, 0, count, to, 0, out.data());
    }
}

} // namespace weir::fuzz

#endif

//===- NpyFile.cpp - An array written row by row --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/NpyFile.h"
#include "support/Text.h"

namespace weir {
namespace {

std::string headerOf(Element element, const std::vector<int64_t> &shape) {
  const char *order = sizeOf(element) == 1 ? "|" : "<";
  std::string sizes;
  for (int64_t size : shape)
    sizes += concat(size, ", ");
  if (shape.size() > 1)
    sizes.resize(sizes.size() - 2); // of one size the comma makes a tuple
  std::string text = concat("{'descr': '", order, rowOf(element).numpy,
                            "', 'fortran_order': False, 'shape': (", sizes, "), }");
  // The elements begin at a multiple of 64.
  constexpr size_t before = 10;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  const char magic[] = {'\x93',
                        'N',
                        'U',
                        'M',
                        'P',
                        'Y',
                        1,
                        0,
                        static_cast<char>(text.size() & 0xff),
                        static_cast<char>(text.size() >> 8)};
  return std::string(magic, before) + text;
}

} // namespace

NpyFile::NpyFile(std::string path, Element element, const std::vector<int64_t> &shape)
    : file(std::move(path)), given(element),
      written(rowOf(element).numpy ? element : Element::f32) {
  std::string header = headerOf(written, shape);
  file.write(reinterpret_cast<const std::byte *>(header.data()), header.size());
}

void NpyFile::write(const std::byte *data, size_t size) {
  if (given == written)
    return file.write(data, size);
  std::vector<double> numbers(size / sizeOf(given));
  std::vector<std::byte> bytes(numbers.size() * sizeOf(written));
  loadNumbers(given, data, numbers);
  storeNumbers(written, numbers, bytes.data());
  file.write(bytes.data(), bytes.size());
}

} // namespace weir

//===- NpyFile.cpp - An array written row by row --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/NpyFile.h"
#include "runtime/core/Error.h"
#include "runtime/core/Text.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace weir {
namespace {

std::string headerOf(const std::string &descr, const std::vector<int64_t> &shape) {
  std::string sizes;
  for (int64_t size : shape)
    sizes += concat(size, ", ");
  if (shape.size() > 1)
    sizes.resize(sizes.size() - 2); // of one size the comma makes a tuple
  std::string text =
      concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", sizes, "), }");
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

NpyFile::NpyFile(std::string path, const std::string &descr, const std::vector<int64_t> &shape)
    : target(std::move(path)), place(target) {
  std::error_code error;
  auto status = std::filesystem::status(target, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    file = ::open(place.c_str(), O_WRONLY | O_CLOEXEC); // a pipe or a device
  } else {
    // A link stays one: what it leads to is replaced.
    if (std::filesystem::is_symlink(target, error))
      renamed = std::filesystem::weakly_canonical(target, error).string();
    else
      renamed = target;
    for (int number = 0; number == 0 || (file < 0 && errno == EEXIST); ++number) {
      place = concat(renamed, ".", getpid(), ".", number, ".tmp");
      file = ::open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
  }
  if (file < 0)
    fail();
  made = !renamed.empty();
  std::string header = headerOf(descr, shape);
  write(reinterpret_cast<const std::byte *>(header.data()), header.size());
}

NpyFile::~NpyFile() {
  if (!finished)
    discard();
}

void NpyFile::discard() {
  if (file >= 0)
    ::close(file);
  file = -1;
  if (made)
    ::unlink(place.c_str());
  made = false;
}

void NpyFile::fail() {
  std::string why = std::strerror(errno);
  discard();
  throw Failure(Exit::storage, concat(target, ": cannot write: ", why));
}

void NpyFile::write(const std::byte *data, size_t size) {
  while (size > 0) {
    ssize_t wrote = ::write(file, data, size);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      fail();
    data += wrote;
    size -= wrote;
  }
}

void NpyFile::finish() {
  int closing = file;
  file = -1;
  if (::close(closing) != 0 || (made && ::rename(place.c_str(), renamed.c_str()) != 0))
    fail();
  finished = true;
}

} // namespace weir

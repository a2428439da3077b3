//===- TensorBoard.h - A run as TensorBoard reads it ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An event file: records of TFRecord framing (length, masked CRC32C of it, the bytes, masked CRC32C
// of them), each an Event message of protocol buffers: wall_time = 1 (double), step = 2 (int64),
// file_version = 3, summary = 5 {value = 1 {tag = 1, simple_value = 2 (float)}}.
// https://github.com/tensorflow/tensorboard
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_TENSORBOARD_H
#define WEIR_RUNTIME_REPORT_TENSORBOARD_H

#include "runtime/report/Record.h"
#include <cstdio>
#include <string_view>

namespace weir {

/// CRC-32C (Castagnoli), as in RFC 3720.
uint32_t crc32c(std::string_view bytes);

/// What a TFRecord states instead of the sum itself.
uint32_t maskedCrc32c(std::string_view bytes);

/// `bytes` as one record.
std::string framed(std::string_view bytes);

class TensorBoard {
public:
  /// Begins a new event file in `directory`, which is created. Throws Failure(Exit::storage).
  explicit TensorBoard(const std::string &directory);
  ~TensorBoard();
  TensorBoard(const TensorBoard &) = delete;
  TensorBoard &operator=(const TensorBoard &) = delete;

  void scalars(int64_t step, const Values &values);

private:
  void write(const std::string &event);
  std::string path;
  std::FILE *file;
};

} // namespace weir

#endif

//===- SafeTensors.h - Tensors in a file, by name -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: a little-endian u64 header length, a JSON header (name -> dtype, shape,
// data_offsets), the tensors' bytes without holes or overlap.
// https://github.com/huggingface/safetensors
//
// The reader believes nothing: the header is at most 100 MB and flat, every product and range is
// checked for overflow, and the tensors have to cover the rest of the file exactly.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_SAFETENSORS_H
#define WEIR_RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "runtime/checkpoint/Disk.h"
#include "support/Error.h"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir {

class MappedFile;

/// A tensor to write, or one found in a file.
struct StoredTensor {
  std::string name;
  std::string dtype; ///< as the format spells it: F32, I32, U8, BOOL, ...
  std::vector<int64_t> shape;
  const std::byte *data = nullptr; ///< null where `owned` has them
  size_t size = 0;                 ///< bytes
  /// Calls `visit` for those that this process is to save, of a tensor that does not lie here.
  using Visit = std::function<void(uint64_t from, std::span<const std::byte> bytes)>;
  std::function<void(const Visit &visit)> owned = {};
};

/// "F32[128, 64]".
std::string describe(const StoredTensor &tensor);

/// What a file begins with that has `tensors` behind it in their order. Names are distinct.
std::string safeTensorsHeader(const std::vector<StoredTensor> &tensors);

/// Writes such a file of tensors that all lie here.
void writeSafeTensors(FileWriter &file, const std::vector<StoredTensor> &tensors);

class SafeTensors {
public:
  /// Maps and checks `path`. Throws Failure with `exit`, Unreadable as MappedFile::open.
  SafeTensors(const std::string &path, Exit exit);

  const std::map<std::string, StoredTensor> &tensors() const { return found; }
  std::span<const std::byte> bytes() const { return all; }

  /// Throws Unreadable where the file was changed since: what was read of it is not to be used.
  void requireIntact() const;

private:
  std::shared_ptr<const MappedFile> file;
  std::span<const std::byte> all;
  std::map<std::string, StoredTensor> found;
};

/// The checks alone, on bytes in memory. Throws Failure(exit) whose message begins with `path`.
std::map<std::string, StoredTensor> parseSafeTensors(std::span<const std::byte> bytes,
                                                     const std::string &path, Exit exit);

} // namespace weir

#endif

//===- Saving.cpp - The files of a checkpoint while they are written ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Saving.h"
#include <filesystem>

namespace weir {

static uint64_t bytesOf(const std::vector<StoredTensor> &tensors) {
  uint64_t bytes = 0;
  for (const StoredTensor &tensor : tensors)
    bytes += tensor.size;
  return bytes;
}

Saving::Saving(Disk &disk, bool isFirst, std::string folder, Manifest manifest,
               std::vector<StoredTensor> model, std::vector<StoredTensor> state)
    : disk(disk), folder(std::move(folder)), manifest(std::move(manifest)),
      files{{modelFile, isFirst, std::move(model)}, {stateFile, isFirst, std::move(state)}} {
  for (File &file : files)
    file.size = file.header.size() + bytesOf(file.tensors);
}

Saving::~Saving() {
  for (File &file : files)
    file.writer.reset();
  if (made)
    removeCheckpoint(disk, folder);
}

std::string Saving::inside(const char *name) const {
  return (std::filesystem::path(folder) / name).string();
}

void Saving::create() {
  if (disk.makeDirectory(folder) != 0)
    failStorage(folder, "create");
  made = true;
  for (const File &file : files)
    createSized(disk, inside(file.name), file.size);
}

void Saving::open() {
  for (File &file : files)
    file.writer.emplace(disk, inside(file.name), file.size);
}

void Saving::File::write(const std::atomic<bool> &stopping) {
  if (isFirst)
    writer->write(0, std::as_bytes(std::span(header)));
  uint64_t begin = header.size();
  for (const StoredTensor &tensor : tensors) {
    auto add = [&](uint64_t from, std::span<const std::byte> bytes) {
      if (stopping)
        throw Failure(Exit::storage, "the save of the checkpoint was abandoned");
      writer->write(begin + from, bytes);
    };
    if (tensor.owned)
      tensor.owned(add);
    else if (isFirst)
      add(0, {tensor.data, tensor.size});
    begin += tensor.size;
  }
  writer->finish();
}

void Saving::write() noexcept {
  try {
    for (File &file : files)
      file.write(stopping);
  } catch (...) {
    failure = std::current_exception();
  }
  written = true;
}

void Saving::requireWritten() const {
  if (failure)
    std::rethrow_exception(failure);
}

uint64_t Saving::sumOf(const std::string &name) const {
  return (name == files[0].name ? files[0] : files[1]).writer->sum();
}

void Saving::finish(const std::map<std::string, uint64_t> &sums, const std::string &target) {
  for (const File &file : files)
    manifest.files[file.name] = {file.size, hexText(sums.at(file.name))};
  std::string text = manifest.write();
  FileWriter writer(disk, inside(manifestFile));
  writer.write(text.data(), text.size());
  writer.finish();
  if (disk.syncDirectory(folder) != 0)
    failStorage(folder, "sync");
  if (disk.rename(folder, target) != 0)
    failStorage(target, "rename into place");
  made = false;
}

} // namespace weir

//===- Module.cpp - Code of the emulated device: shared objects of the host --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Module.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Options.h"
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace weir::emulated {
namespace {

template <typename T> const T *at(const void *image, size_t offset) {
  return reinterpret_cast<const T *>(static_cast<const char *>(image) + offset);
}

bool isElf(const void *image) { return std::memcmp(image, ELFMAG, SELFMAG) == 0; }

bool hasNote(const void *image) {
  auto *header = at<Elf64_Ehdr>(image, 0);
  auto *segments = at<Elf64_Phdr>(image, header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr &segment = segments[i];
    if (segment.p_type != PT_NOTE)
      continue;
    for (size_t offset = 0; offset + sizeof(Elf64_Nhdr) <= segment.p_filesz;) {
      auto *note = at<Elf64_Nhdr>(image, segment.p_offset + offset);
      if (note->n_namesz == sizeof noteName &&
          std::memcmp(note + 1, noteName, sizeof noteName) == 0)
        return true;
      auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
      offset += sizeof *note + padded(note->n_namesz) + padded(note->n_descsz);
    }
  }
  return false;
}

/// The loader takes two libraries of one path for one, and numbers of files come again: each time
/// the path is written in another way.
std::string freshPath(int file) {
  static unsigned count = 0;
  std::string path = "/proc/self/fd/";
  for (unsigned bits = ++count, i = 0; i < 32; ++i, bits >>= 1)
    path += bits & 1 ? "./" : "/";
  return path + std::to_string(file);
}

/// Opens the image as a library of its own: each load has its own variables.
void *openImage(const void *image, size_t bytes) {
  int file = memfd_create("emulated-cubin", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *handle = nullptr;
  size_t done = 0;
  while (done < bytes) {
    ssize_t count = write(file, static_cast<const char *>(image) + done, bytes - done);
    if (count <= 0)
      break;
    done += size_t(count);
  }
  if (done == bytes)
    handle = dlopen(freshPath(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    note(std::string("cannot load a module: ") + dlerror());
  close(file);
  return handle;
}

ImageRanges rangesOf(void *handle, const void *image, const KernelTable &table) {
  ImageRanges ranges;
  link_map *map = nullptr;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  auto *header = at<Elf64_Ehdr>(image, 0);
  auto *segments = at<Elf64_Phdr>(image, header->e_phoff);
  ranges.begin = map->l_addr;
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD)
      ranges.end = map->l_addr + segments[i].p_vaddr + segments[i].p_memsz;
  ranges.sharedBegin = reinterpret_cast<uint64_t>(table.sharedBegin);
  ranges.sharedEnd = reinterpret_cast<uint64_t>(table.sharedEnd);
  return ranges;
}

} // namespace

size_t imageBytes(const void *image) {
  auto *header = at<Elf64_Ehdr>(image, 0);
  return header->e_shoff + size_t(header->e_shnum) * header->e_shentsize;
}

Module::~Module() {
  if (handle)
    dlclose(handle);
}

cuda::CUresult loadModule(const void *image, std::shared_ptr<Module> &module) {
  if (!image)
    return cuda::CUDA_ERROR_INVALID_VALUE;
  if (!isElf(image))
    return cuda::CUDA_ERROR_INVALID_IMAGE;
  if (!hasNote(image)) {
    note("a module is not of the emulated NVRTC: it has code for a real GPU");
    return cuda::CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  auto loaded = std::make_shared<Module>();
  loaded->handle = openImage(image, imageBytes(image));
  if (!loaded->handle)
    return cuda::CUDA_ERROR_INVALID_IMAGE;
  loaded->table = static_cast<const KernelTable *>(dlsym(loaded->handle, "weirEmulatedKernels"));
  if (!loaded->table || loaded->table->version != tableVersion) {
    note("a module is of another version of the emulation");
    return cuda::CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  if (options().checked && !loaded->table->checked) {
    note("a module was compiled with WEIR_EMULATED_MODE=plain: its accesses cannot be checked");
    return cuda::CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  loaded->ranges = rangesOf(loaded->handle, image, *loaded->table);
  for (unsigned i = 0; i < loaded->table->kernels; ++i) {
    auto function = std::make_unique<Function>();
    function->entry = &loaded->table->entries[i];
    function->module = loaded.get();
    loaded->functions.push_back(std::move(function));
  }
  module = std::move(loaded);
  return cuda::CUDA_SUCCESS;
}

} // namespace weir::emulated

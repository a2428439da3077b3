//===- Replay.cpp - Repeats inputs without libFuzzer --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NAME [--mutate N] FILE|FOLDER...: every file once, in the order of their names, and from each, N
// further inputs made by the target's own mutator, the same ones every time.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Target.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// A target without a mutator of its own leaves this null.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *, size_t, size_t,
                                                                unsigned);

static std::mt19937 random_;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
  if (size == 0)
    return 0;
  data[random_() % size] = static_cast<uint8_t>(random_());
  return size;
}

namespace {

std::vector<uint8_t> read(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::filesystem::path> filesOf(const std::filesystem::path &path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto &entry : std::filesystem::directory_iterator(path))
      files.push_back(entry.path());
  } else {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

int main(int argc, char **argv) {
  unsigned mutations = 0, runs = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutate") == 0 && i + 1 < argc) {
      std::from_chars(argv[i + 1], argv[i + 1] + std::strlen(argv[i + 1]), mutations);
      ++i;
      continue;
    }
    for (const std::filesystem::path &path : filesOf(argv[i])) {
      std::vector<uint8_t> input = read(path);
      std::fprintf(stderr, "%s (%zu bytes)\n", path.c_str(), input.size());
      LLVMFuzzerTestOneInput(input.data(), input.size());
      ++runs;
      if (!LLVMFuzzerCustomMutator)
        continue;
      for (unsigned seed = 0; seed < mutations; ++seed, ++runs) {
        random_.seed(seed);
        std::vector<uint8_t> changed = input;
        changed.resize(2 * input.size() + 4096);
        changed.resize(LLVMFuzzerCustomMutator(changed.data(), input.size(), changed.size(), seed));
        LLVMFuzzerTestOneInput(changed.data(), changed.size());
      }
    }
  }
  std::printf("%u inputs\n", runs);
  return runs == 0;
}

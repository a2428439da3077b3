//===- Ending.cpp - Files called what they are not ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/Ending.h"
#include "runtime/report/Say.h"
#include "support/Text.h"
#include <algorithm>
#include <filesystem>
#include <iterator>

namespace weir {

std::string wrongEnding(const std::string &option, const std::string &path,
                        std::string_view ending) {
  // Endings that say a format; any other is a name.
  static constexpr std::string_view known[] = {
      ".bin",  ".ckpt", ".csv",  ".gz",   ".h5",      ".html", ".json", ".jsonl", ".mlir",
      ".npy",  ".npz",  ".onnx", ".pkl",  ".parquet", ".pt",   ".pth",  ".py",    ".safetensors",
      ".toml", ".tsv",  ".txt",  ".weir", ".weirx",   ".xml",  ".yaml", ".yml",   ".zip"};
  std::string found = lowerCase(std::filesystem::path(path).extension().string());
  if (found == ending || std::ranges::find(known, found) == std::end(known))
    return "";
  return concat("warning: ", option, " ", path, ": Weir writes this file as ", ending,
                ", regardless of its extension");
}

std::function<void(const std::string &)> warnsOfEnding(const std::string &option,
                                                       const std::string &ending) {
  return [=](const std::string &path) {
    if (std::string warning = wrongEnding(option, path, ending); !warning.empty())
      say(warning);
  };
}

} // namespace weir

//===- KernelScan.cpp - The kernels of a program's text -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/KernelScan.h"
#include <cctype>
#include <cstdlib>

namespace weir::emulated {
namespace {

/// Names, numbers, strings, and single characters; no white space, no comments.
std::vector<std::string> tokensOf(const std::string &text) {
  std::vector<std::string> tokens;
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      i = end;
      continue;
    }
    if (text.compare(i, 2, "//") == 0) {
      i = text.find('\n', i);
      if (i == std::string::npos)
        break;
      continue;
    }
    if (text.compare(i, 2, "/*") == 0) {
      i = text.find("*/", i + 2);
      if (i == std::string::npos)
        break;
      i += 2;
      continue;
    }
    if (text[i] == '"') {
      while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else {
      while (isWord(text[i]) && end < text.size() && isWord(text[end]))
        ++end;
    }
    tokens.push_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

} // namespace

std::vector<KernelName> scanKernels(const std::string &text) {
  std::vector<KernelName> kernels;
  std::vector<std::string> tokens = tokensOf(text);
  tokens.resize(tokens.size() + 8); // so that a few can be looked at beyond any
  for (size_t i = 0; i + 8 < tokens.size(); ++i) {
    if (tokens[i] != "extern" || tokens[i + 1] != "\"C\"" || tokens[i + 2] != "__global__")
      continue;
    KernelName kernel;
    for (size_t t = i + 3; t + 8 < tokens.size() && tokens[t] != "{" && tokens[t] != ";"; ++t) {
      if (tokens[t] == "__launch_bounds__" && tokens[t + 1] == "(") {
        kernel.maxThreads = unsigned(std::strtoul(tokens[t + 2].c_str(), nullptr, 10));
        for (int depth = 0; t + 8 < tokens.size(); ++t) {
          depth += (tokens[t] == "(") - (tokens[t] == ")");
          if (tokens[t] == ")" && depth == 0)
            break;
        }
      } else if (tokens[t + 1] == "(") {
        kernel.name = tokens[t];
        break;
      }
    }
    if (!kernel.name.empty())
      kernels.push_back(kernel);
  }
  return kernels;
}

} // namespace weir::emulated

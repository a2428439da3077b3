//===- Parse.cpp - The lexer and the parser read any text ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Parser.h"
#include "test/fuzz/Target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weir::SourceManager sources;
  const weir::SourceFile &file =
      sources.add("fuzz.weir", std::string(reinterpret_cast<const char *>(data), size));
  weir::Diagnostics diagnostics;
  std::unique_ptr<weir::ast::Module> module = weir::parse(file, diagnostics);
  weir::fuzz::require(module != nullptr, "parse gives a module, with errors or without");
  diagnostics.render();
  diagnostics.renderJson();
  return 0;
}

//===- Elaborate.cpp - Any text as a model ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes changed blindly seldom parse. The mutator works on tokens and lines instead, so that most
// inputs are models with one or two mistakes.
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborate.h"
#include "frontend/Lexer.h"
#include "frontend/Parser.h"
#include "ir/weir/WeirDialect.h"
#include "test/fuzz/Target.h"
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

namespace {

// What a context interns stays until its end, and making one takes longer than most inputs.
mlir::MLIRContext &context() {
  static std::unique_ptr<mlir::MLIRContext> current;
  static int uses = 0;
  if (!current || ++uses % 256 == 0)
    current = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  return *current;
}

const char *const words[] = {
    "0",
    "1",
    "-1",
    "2147483647",
    "9223372036854775807",
    "0.0",
    "1e30",
    "true",
    "x",
    "new",
    "..",
    "[]",
    "()",
    "as",
    "for",
    "if",
    "else",
    "return",
    "param",
    "state",
    "next",
    "let",
    "config",
    "batch",
    "f32",
    "i32",
    "sum",
    "mean",
    "split",
    "concat",
    "select",
    "training",
    "step",
    "zeros_like",
    "stop_gradient",
    "attention",
    "gather",
    "moments",
    "argmax",
    "transpose",
    "split_dim",
    "merge_dims",
    "conv",
    "linear",
    "dropout",
    "ratio",
    "cross_entropy",
    "accumulate 3",
};

/// Changes of a text by pieces: tokens as the lexer cuts them, and lines.
class Mutator {
public:
  Mutator(std::string text, unsigned seed) : text(std::move(text)), random(seed) {}

  std::string run() {
    for (size_t count = 1 + pick(3); count > 0; --count)
      once();
    return text;
  }

private:
  struct Piece {
    size_t begin, end;
  };

  size_t pick(size_t count) { return random() % count; }

  std::vector<Piece> tokens() {
    weir::SourceManager sources;
    weir::Diagnostics ignored;
    std::vector<Piece> pieces;
    for (const weir::Token &token : weir::lex(sources.add("", text), ignored))
      if (token.end > token.begin)
        pieces.push_back({token.begin, token.end});
    return pieces;
  }

  std::vector<Piece> lines() {
    std::vector<Piece> pieces;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      pieces.push_back({begin, end});
      begin = end;
    }
    return pieces;
  }

  std::string at(Piece piece) { return text.substr(piece.begin, piece.end - piece.begin); }
  void replace(Piece piece, const std::string &by) {
    text.replace(piece.begin, piece.end - piece.begin, by);
  }

  void once() {
    std::vector<Piece> pieces = pick(4) == 0 ? lines() : tokens();
    if (pieces.empty()) {
      text += words[pick(std::size(words))];
      return;
    }
    Piece one = pieces[pick(pieces.size())], other = pieces[pick(pieces.size())];
    switch (pick(6)) {
    case 0:
      return replace(one, "");
    case 1:
      return replace(one, at(one) + " " + at(one));
    case 2:
      return replace(one, at(other));
    case 3:
      return replace(one, words[pick(std::size(words))]);
    case 4:
      return replace(one, at(one) + " " + at(other));
    default:
      if (one.begin > other.begin)
        std::swap(one, other);
      if (one.end > other.begin)
        return;
      std::string first = at(one), second = at(other);
      replace(other, first);
      replace(one, second);
    }
  }

  std::string text;
  std::minstd_rand random;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  if (seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::string changed =
      Mutator(std::string(reinterpret_cast<const char *>(data), size), seed).run();
  size_t length = std::min(changed.size(), most);
  std::memcpy(data, changed.data(), length);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace weir;
  SourceManager sources;
  const SourceFile &file =
      sources.add("fuzz.weir", std::string(reinterpret_cast<const char *>(data), size));
  Diagnostics diagnostics;
  std::unique_ptr<ast::Module> module = parse(file, diagnostics);
  if (diagnostics.hasErrors())
    return 0;
  ElaborateResult result = elaborate(*module, {}, sources, context(), diagnostics);
  fuzz::require(bool(result.module) != diagnostics.hasErrors(),
                "a model has a program, or errors that say why not");
  diagnostics.render();
  return 0;
}

//===- Lexer.h - Text to tokens -------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a file into tokens, reports what is none, and pairs the brackets so that the parser can
// tell an opening bracket nobody closed from a mistake between two brackets, and can step over a
// whole group when it recovers.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_LEXER_H
#define WEIR_FRONTEND_LEXER_H

#include "frontend/Diagnostics.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir {

enum class TokenKind : uint8_t {
  endOfFile,
  invalid, ///< already reported
  identifier,
  integer,
  floating,
  string,
  // Words that begin an item of a file.
  kwConfig,
  kwConst,
  kwFn,
  kwBlock,
  kwOptimizer,
  kwModel,
  kwTrain,
  // Words that begin a statement; the first one an item as well.
  kwRequire,
  kwParam,
  kwState,
  kwNext,
  kwFor,
  kwIf,
  kwReturn,
  kwLet,
  // Words inside statements and expressions.
  kwElse,
  kwIn,
  kwAs,
  kwNew,
  kwTrue,
  kwFalse,
  kwAnd,
  kwOr,
  kwNot,
  // Punctuation.
  leftParen,
  rightParen,
  leftBracket,
  rightBracket,
  leftBrace,
  rightBrace,
  comma,
  semicolon,
  colon,
  dot,
  dotDot,
  arrow,
  assign,
  plus,
  minus,
  star,
  slash,
  percent,
  caret,
  at,
  equal,
  notEqual,
  less,
  lessEqual,
  greater,
  greaterEqual,
};

/// What begins an item and stands in no body.
inline bool startsItem(TokenKind kind) {
  return kind >= TokenKind::kwConfig && kind <= TokenKind::kwTrain;
}
inline bool startsStatement(TokenKind kind) {
  return kind >= TokenKind::kwRequire && kind <= TokenKind::kwLet;
}
inline bool isKeyword(TokenKind kind) {
  return kind >= TokenKind::kwConfig && kind <= TokenKind::kwNot;
}

struct Token {
  static constexpr uint32_t unmatched = UINT32_MAX;

  TokenKind kind = TokenKind::endOfFile;
  bool startsLine = false; ///< the first token of its line, or the end of the file
  uint32_t begin = 0;      ///< bytes [begin, end) of the file
  uint32_t end = 0;
  uint32_t match = unmatched; ///< of a bracket: the index of its partner
  int64_t integer = 0;
  double floating = 0;
  std::string string; ///< a string's value, escapes resolved
};

/// All tokens of the file; the last one, and no other, is endOfFile. Keywords in dotted names and
/// behind `as` are identifiers.
std::vector<Token> lex(const SourceFile &file, Diagnostics &diagnostics);

/// The keyword or punctuation as written, `` `[` ``; "a name", "a number" for the rest.
std::string describe(TokenKind kind);

} // namespace weir

#endif

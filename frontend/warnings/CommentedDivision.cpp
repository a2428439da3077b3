//===- CommentedDivision.cpp - `x // 2` is x and a comment ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A comment is taken for a divisor where it is an expression from its first word to its last, of
// numbers and names that the file has. A sentence never is: two words without an operator between
// them. Of the comments that are, some are notes (`x = flatten(y)   // 64 * 7`), so the rest is
// judged by what is usual: see isDivisor.
//
//===----------------------------------------------------------------------===//

#include "frontend/warnings/CommentedDivision.h"

#include "frontend/Lexer.h"

#include <optional>
#include <set>

namespace weir {

namespace {

bool endsOperand(TokenKind kind) {
  return kind == TokenKind::identifier || kind == TokenKind::integer ||
         kind == TokenKind::floating || kind == TokenKind::rightParen ||
         kind == TokenKind::rightBracket;
}

/// Not a comparison: what is divided is not compared, but notes are of bounds.
bool isOperator(TokenKind kind) { return kind >= TokenKind::plus && kind <= TokenKind::at; }

/// The names that stand for values somewhere in the file, as far as tokens tell.
std::set<std::string_view> valueNames(const SourceFile &file, const std::vector<Token> &tokens) {
  std::set<std::string_view> names;
  for (size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i].kind == TokenKind::identifier && tokens[i + 1].kind != TokenKind::leftParen)
      names.insert(file.text().substr(tokens[i].begin, tokens[i].end - tokens[i].begin));
  return names;
}

/// A comment's text as code.
struct Reading {
  bool isExpression = false;
  unsigned operands = 0;
  bool closes = false; ///< a bracket that was opened before the comment
  bool beginsWithInteger = false;
};

Reading read(std::string_view comment, const std::set<std::string_view> &names) {
  SourceFile file("", std::string(comment));
  Diagnostics ignored;
  std::vector<Token> tokens = lex(file, ignored);
  Reading reading;
  reading.beginsWithInteger = tokens.front().kind == TokenKind::integer;
  bool wantsOperand = true;
  int depth = 0;
  for (size_t i = 0; tokens[i].kind != TokenKind::endOfFile; ++i) {
    const Token &token = tokens[i];
    std::string_view text = file.text().substr(token.begin, token.end - token.begin);
    if (wantsOperand && token.kind == TokenKind::leftParen) {
      ++depth;
    } else if (wantsOperand && token.kind == TokenKind::minus && i > 0) {
      continue;
    } else if (wantsOperand) {
      bool call = tokens[i + 1].kind == TokenKind::leftParen;
      bool name = token.kind == TokenKind::identifier && (call || names.count(text));
      if (!name && token.kind != TokenKind::integer && token.kind != TokenKind::floating)
        return reading;
      ++reading.operands;
      wantsOperand = call;
    } else if (isOperator(token.kind)) {
      wantsOperand = true;
    } else if (token.kind == TokenKind::comma && (depth > 0 || reading.closes || i > 0)) {
      wantsOperand = tokens[i + 1].kind != TokenKind::endOfFile;
    } else if (token.kind == TokenKind::leftBracket) {
      ++depth;
      wantsOperand = true;
    } else if (token.kind == TokenKind::rightParen || token.kind == TokenKind::rightBracket) {
      reading.closes |= --depth < 0;
    } else {
      return reading;
    }
  }
  reading.isExpression = !wantsOperand && reading.operands > 0;
  return reading;
}

/// `space` is what stands between the operand and the comment.
bool isDivisor(const Reading &reading, TokenKind before, size_t space) {
  if (!reading.isExpression)
    return false;
  if (reading.closes)
    return true;
  // People set notes apart by more than one blank; but `k   // 2` is no note of anything.
  if (space > 1)
    return reading.operands == 1 && reading.beginsWithInteger && before == TokenKind::identifier;
  // Behind a call, `// 64 * 7 * 7` is the shape of what it gives.
  return reading.operands == 1 ||
         (before != TokenKind::rightParen && before != TokenKind::rightBracket);
}

} // namespace

void warnCommentedDivision(const SourceFile &file, Diagnostics &diagnostics) {
  Diagnostics ignored;
  std::vector<Token> tokens = lex(file, ignored);
  std::optional<std::set<std::string_view>> names;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (!tokens[i + 1].startsLine || !endsOperand(token.kind))
      continue;
    size_t begin = file.text().find_first_not_of(" \t", token.end);
    if (begin == std::string_view::npos || file.text().substr(begin, 2) != "//")
      continue;
    size_t end = std::min(file.text().find_first_of("\r\n", begin), file.text().size());
    if (!names)
      names = valueNames(file, tokens);
    std::string_view comment = file.text().substr(begin + 2, end - begin - 2);
    Reading reading = read(comment, *names);
    if (!isDivisor(reading, token.kind, begin - token.end))
      continue;
    diagnostics
        .warning({&file, uint32_t(begin), uint32_t(end)}, Warning::commentedDivision,
                 "`//` begins a comment: nothing is divided here")
        .help("`div(a, b)` divides ints, rounding down");
  }
}

} // namespace weir

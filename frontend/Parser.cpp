//===- Parser.cpp ---------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Parser.h"

#include "frontend/ParserImpl.h"
#include "frontend/foreign/Foreign.h"

namespace weir {

std::unique_ptr<ast::Module> parse(const SourceFile &file, Diagnostics &diagnostics) {
  return Parser(file, diagnostics).parseModule();
}

Parser::Parser(const SourceFile &file, Diagnostics &diagnostics)
    : file(file), diagnostics(diagnostics), tokens(lex(file, diagnostics)) {}

const Token &Parser::peek(size_t ahead) const {
  return tokens[std::min(position + ahead, tokens.size() - 1)];
}

bool Parser::lineEnded() const {
  return brackets == 0 && peek().startsLine && position != continued;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind))
    return false;
  ++position;
  return true;
}

bool Parser::acceptComma() {
  if (!accept(TokenKind::comma))
    return false;
  continued = position;
  return true;
}

bool Parser::expect(TokenKind kind, const std::string &what) {
  if (accept(kind))
    return true;
  expected(what);
  return false;
}

std::string Parser::spelled(const Token &token) const {
  if (token.kind == TokenKind::endOfFile)
    return describe(token.kind);
  std::string_view text = rangeOf(token).text();
  return text.size() > 40 ? describe(token.kind) : "`" + std::string(text) + "`";
}

std::string Parser::found() const {
  const Token &token = peek();
  if (token.kind == TokenKind::endOfFile)
    return "the end of the file";
  if (lineEnded())
    return "the end of the line";
  return (isKeyword(token.kind) ? "the keyword " : "") + spelled(token);
}

Range Parser::here() const {
  if ((lineEnded() || peek().kind == TokenKind::endOfFile) && position > 0) {
    uint32_t end = tokens[position - 1].end;
    return {&file, end, end};
  }
  return rangeOf(peek());
}

Range Parser::since(uint32_t begin) const {
  uint32_t end = position > 0 ? tokens[position - 1].end : begin;
  return {&file, begin, std::max(begin, end)};
}

Diagnostic *Parser::faultAt(Range range, std::string message) {
  if (lastFault == position || abandoned)
    return nullptr;
  lastFault = position;
  if (!lineEnded() && peek().kind == TokenKind::invalid)
    return nullptr;
  return &diagnostics.error(range, std::move(message));
}

Diagnostic *Parser::fault(std::string message) { return faultAt(here(), std::move(message)); }

Diagnostic *Parser::expected(const std::string &what) {
  return fault("expected " + what + ", found " + found());
}

uint32_t Parser::open() {
  ++brackets;
  return position++;
}

bool Parser::close(TokenKind kind, uint32_t opener, const char *what) {
  if (at(kind)) {
    ++position;
    --brackets;
    return true;
  }
  if (tokens[opener].match != Token::unmatched) {
    bool single = kind == TokenKind::rightParen && std::string_view(what) == "bracket";
    expected((single ? "" : "`,` or ") + describe(kind));
    return false;
  }
  // The line goes on inside brackets, but people close them where they stopped.
  std::string stopped = peek().startsLine && peek().kind != TokenKind::endOfFile
                            ? "the line ends here"
                            : "found " + found() + " here";
  Range place = here();
  if (peek().startsLine && position > 0)
    place = {&file, tokens[position - 1].end, tokens[position - 1].end};
  if (Diagnostic *report =
          faultAt(rangeOf(tokens[opener]),
                  "expected " + describe(kind) + " to close the " + what + " opened here"))
    report->note(place, stopped);
  return false;
}

/// The next token begins a statement or item, even if it starts a line.
void Parser::beginStatement() {
  brackets = 0;
  continued = position;
}

bool Parser::endOfStatement() const {
  TokenKind kind = peek().kind;
  return lineEnded() || kind == TokenKind::semicolon || kind == TokenKind::rightBrace ||
         kind == TokenKind::endOfFile;
}

bool Parser::expectEndOfStatement() {
  if (!endOfStatement()) {
    const ForeignName *foreign =
        foreignName(Foreign::statement, rangeOf(tokens[position - 1]).text()); // `lambda x: x`
    if (Diagnostic *report = expected("the end of the line or `;`")) {
      if (at(TokenKind::kwIf))
        report->help("`select(condition, a, b)` chooses between values");
      else if (foreign)
        report->help(foreign->help());
    }
    return false;
  }
  accept(TokenKind::semicolon);
  return true;
}

/// The token after the one at `index`, or after the whole group that it opens.
size_t Parser::skipGroup(size_t index) const {
  uint32_t match = tokens[index].match;
  return match != Token::unmatched && match > index ? match + 1 : index + 1;
}

/// To the end of the statement that began at token `start` and failed at the present one.
void Parser::recover(size_t start) {
  if (abandoned)
    return;
  brackets = 0;
  size_t index = start;
  while (tokens[index].kind != TokenKind::endOfFile) {
    const Token &token = tokens[index];
    bool ends = token.kind == TokenKind::semicolon || token.kind == TokenKind::rightBrace ||
                (token.startsLine && token.kind != TokenKind::kwElse);
    if (ends && index >= position && index > start)
      break;
    index = skipGroup(index);
  }
  position = index;
  accept(TokenKind::semicolon);
  if (peek().kind != TokenKind::endOfFile) // what is missing there is a consequence
    lastFault = SIZE_MAX;
}

/// To the `{` of what began at token `start` with a faulty head, so that its body is still checked;
/// false if there is none.
bool Parser::recoverToBody(size_t start) {
  if (abandoned)
    return false;
  brackets = 0;
  for (size_t index = start; tokens[index].kind != TokenKind::endOfFile;) {
    const Token &token = tokens[index];
    if (index >= position && token.kind == TokenKind::leftBrace) {
      position = index;
      return true;
    }
    if (index >= position && index > start &&
        (token.startsLine || token.kind == TokenKind::semicolon ||
         token.kind == TokenKind::rightBrace))
      return false;
    index = token.kind == TokenKind::leftBrace ? index + 1 : skipGroup(index);
  }
  return false;
}

/// To the next line that begins an item.
void Parser::recoverToItem() {
  brackets = 0;
  if (peek().kind != TokenKind::endOfFile && !(peek().startsLine && startsItem(peek().kind)))
    ++position;
  while (peek().kind != TokenKind::endOfFile && !(peek().startsLine && startsItem(peek().kind)))
    ++position;
}

bool Parser::Nesting::tooDeep() {
  if (parser.nesting <= ast::maxNesting)
    return false;
  parser.fault("expression is nested more than " + std::to_string(ast::maxNesting) + " deep");
  return true;
}

/// Half of what expressions have, so that there is room for theirs. A file like that is no model,
/// so nothing else in it need be understood.
bool Parser::Nesting::tooDeepForStatements() {
  if (parser.nesting <= ast::maxNesting / 2)
    return false;
  parser.fault("statements are nested too deep");
  parser.abandoned = true;
  parser.position = parser.tokens.size() - 1;
  return true;
}

} // namespace weir

//===- Lexer.cpp ----------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Lexer.h"

#include <algorithm>
#include <charconv>

namespace weir {

namespace {

struct Spelling {
  TokenKind kind;
  std::string_view text;
};

constexpr Spelling keywords[] = {
    {TokenKind::kwConfig, "config"}, {TokenKind::kwRequire, "require"},
    {TokenKind::kwConst, "const"},   {TokenKind::kwFn, "fn"},
    {TokenKind::kwBlock, "block"},   {TokenKind::kwOptimizer, "optimizer"},
    {TokenKind::kwModel, "model"},   {TokenKind::kwTrain, "train"},
    {TokenKind::kwParam, "param"},   {TokenKind::kwState, "state"},
    {TokenKind::kwNext, "next"},     {TokenKind::kwFor, "for"},
    {TokenKind::kwIf, "if"},         {TokenKind::kwReturn, "return"},
    {TokenKind::kwLet, "let"},       {TokenKind::kwElse, "else"},
    {TokenKind::kwIn, "in"},         {TokenKind::kwAs, "as"},
    {TokenKind::kwNew, "new"},       {TokenKind::kwTrue, "true"},
    {TokenKind::kwFalse, "false"},   {TokenKind::kwAnd, "and"},
    {TokenKind::kwOr, "or"},         {TokenKind::kwNot, "not"},
};

/// Longer ones first, so that the first that fits is the right one.
constexpr Spelling punctuation[] = {
    {TokenKind::dotDot, ".."},      {TokenKind::arrow, "->"},     {TokenKind::equal, "=="},
    {TokenKind::notEqual, "!="},    {TokenKind::lessEqual, "<="}, {TokenKind::greaterEqual, ">="},
    {TokenKind::leftParen, "("},    {TokenKind::rightParen, ")"}, {TokenKind::leftBracket, "["},
    {TokenKind::rightBracket, "]"}, {TokenKind::leftBrace, "{"},  {TokenKind::rightBrace, "}"},
    {TokenKind::comma, ","},        {TokenKind::semicolon, ";"},  {TokenKind::colon, ":"},
    {TokenKind::dot, "."},          {TokenKind::assign, "="},     {TokenKind::plus, "+"},
    {TokenKind::minus, "-"},        {TokenKind::star, "*"},       {TokenKind::slash, "/"},
    {TokenKind::percent, "%"},      {TokenKind::caret, "^"},      {TokenKind::at, "@"},
    {TokenKind::less, "<"},         {TokenKind::greater, ">"},
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isWord(char c) { return isWordStart(c) || isDigit(c); }

class Lexer {
public:
  Lexer(const SourceFile &file, Diagnostics &diagnostics)
      : file(file), text(file.text()), diagnostics(diagnostics) {}

  std::vector<Token> run() {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") // a byte-order mark
      position = 3;
    if (size_t zero = text.find('\0'); zero != text.npos) {
      position = zero;
      error(zero, "this is no text: it has a byte of value 0 here");
      text = text.substr(0, 0);
      position = 0;
    }
    while (skipBlanks(), position < text.size())
      token();
    startsLine = true;
    push(TokenKind::endOfFile, position);
    pairBrackets();
    return std::move(tokens);
  }

private:
  char peek(size_t ahead = 0) const {
    return position + ahead < text.size() ? text[position + ahead] : '\0';
  }

  void skipBlanks() {
    while (position < text.size()) {
      char c = text[position];
      if (c == '\n')
        startsLine = true;
      else if (c == '/' && peek(1) == '/')
        position = std::min(text.find('\n', position), text.size()) - 1;
      else if (c != ' ' && c != '\t' && c != '\r')
        return;
      ++position;
    }
  }

  Token &push(TokenKind kind, size_t begin) {
    Token &token = tokens.emplace_back();
    token.kind = kind;
    token.startsLine = startsLine;
    token.begin = begin;
    token.end = position;
    startsLine = false;
    return token;
  }

  Diagnostic &error(size_t begin, std::string message) {
    return diagnostics.error({&file, uint32_t(begin), uint32_t(position)}, std::move(message));
  }

  void token() {
    if (isWordStart(peek()))
      return word();
    if (isDigit(peek()))
      return number();
    if (peek() == '"')
      return string();
    for (const Spelling &spelling : punctuation)
      if (text.substr(position, spelling.text.size()) == spelling.text) {
        size_t begin = position;
        position += spelling.text.size();
        push(spelling.kind, begin);
        return;
      }
    stray();
  }

  void word() {
    size_t begin = position;
    while (isWord(peek()))
      ++position;
    std::string_view name = text.substr(begin, position - begin);
    TokenKind kind = TokenKind::identifier;
    for (const Spelling &keyword : keywords)
      if (keyword.text == name && !isInPath(begin))
        kind = keyword.kind;
    push(kind, begin);
  }

  /// Whether the word from `begin` to here is a part of a dotted name, `model.layers` or `attn.in`,
  /// or follows `as`: there a keyword is a name like any other, as in the names of published
  /// weights.
  bool isInPath(size_t begin) const {
    if (peek() == '.' && isWordStart(peek(1)))
      return true;
    if (tokens.empty())
      return false;
    const Token &last = tokens.back();
    return (last.kind == TokenKind::dot && last.end == begin) ||
           (last.kind == TokenKind::kwAs && !startsLine);
  }

  void digits() {
    while (isDigit(peek()))
      ++position;
  }

  void number() {
    size_t begin = position;
    bool isInteger = true;
    digits();
    if (peek() == '.' && isDigit(peek(1))) { // not the `..` of a range
      isInteger = false;
      ++position;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      if (isDigit(peek(sign))) {
        isInteger = false;
        position += sign;
        digits();
      }
    }
    if (isWord(peek())) {
      while (isWord(peek()))
        ++position;
      error(begin, "`" + std::string(text.substr(begin, position - begin)) +
                       "` is neither a number nor a name");
      push(TokenKind::invalid, begin);
      return;
    }
    Token &token = push(isInteger ? TokenKind::integer : TokenKind::floating, begin);
    const char *first = text.data() + begin, *last = text.data() + position;
    std::errc fault = isInteger ? std::from_chars(first, last, token.integer).ec
                                : std::from_chars(first, last, token.floating).ec;
    if (fault != std::errc()) {
      token.kind = TokenKind::invalid;
      error(begin, isInteger ? "integer is beyond the 64-bit range"
                             : "number is beyond the range of a 64-bit float");
    }
  }

  void string() {
    size_t begin = position++;
    std::string value;
    bool valid = true;
    while (peek() != '"') {
      if (position >= text.size() || peek() == '\n') {
        error(begin, "expected `\"` to close the string opened here");
        push(TokenKind::invalid, begin);
        return;
      }
      char c = text[position++];
      if (c == '\\' && position < text.size() && peek() != '\n') {
        char escape = text[position++];
        c = escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
        if (escape != 'n' && escape != 't' && escape != '"' && escape != '\\') {
          error(position - 2, "unknown escape; a string has \\n, \\t, \\\" and \\\\");
          valid = false;
        }
      }
      value += c;
    }
    ++position;
    push(valid ? TokenKind::string : TokenKind::invalid, begin).string = std::move(value);
  }

  /// One report for a whole run of characters that begin no token.
  void stray() {
    size_t begin = position;
    auto isStray = [&](char c) {
      if (c == '\0' && position >= text.size())
        return false;
      if (isWord(c) || c == '"' || c == ' ' || c == '\t' || c == '\r' || c == '\n')
        return false;
      for (const Spelling &spelling : punctuation)
        if (spelling.text[0] == c && (c != '!' || peek(1) == '='))
          return false;
      return true;
    };
    do
      ++position;
    while (isStray(peek()));
    // Several runs with nothing but blanks between them are one mistake.
    bool goesOn = !tokens.empty() && tokens.size() == afterStray;
    afterStray = tokens.size() + 1;
    if (goesOn) {
      push(TokenKind::invalid, begin);
      return;
    }
    std::string_view run = text.substr(begin, position - begin);
    bool printable = run.size() <= 16;
    for (unsigned char c : run)
      printable = printable && c > 0x20 && c != 0x7F;
    Diagnostic &report =
        error(begin, printable ? "`" + std::string(run) + "` means nothing here"
                               : std::string("these characters mean nothing here"));
    if (run == "!")
      report.help("negation is written `not`");
    else if (run == "&" || run == "&&")
      report.help("conjunction is written `and`");
    else if (run == "|" || run == "||")
      report.help("disjunction is written `or`");
    else if (run == "#")
      report.help("a comment begins with `//`");
    else if (run[0] == '\'')
      report.help("a string is in double quotes");
    if (run[0] == '\'') { // was meant as a string
      position = std::min(text.find_first_of("'\n", position), text.size());
      position += peek() == '\'';
    }
    if (run[0] == '#') // whatever follows was meant as a comment
      position = std::min(text.find('\n', position), text.size());
    push(TokenKind::invalid, begin);
  }

  /// Round and square brackets do not reach over a brace or a line that begins with a keyword of
  /// statements; braces not over a line that begins an item. What they would enclose there is the
  /// next statement or item, not theirs.
  void pairBrackets() {
    std::vector<uint32_t> open;
    auto dropDownTo = [&](bool braces) {
      while (!open.empty() && (braces || tokens[open.back()].kind != TokenKind::leftBrace))
        open.pop_back();
    };
    for (uint32_t i = 0; i < tokens.size(); ++i) {
      TokenKind kind = tokens[i].kind;
      if (tokens[i].startsLine && startsItem(kind))
        dropDownTo(true);
      else if (tokens[i].startsLine && startsStatement(kind))
        dropDownTo(false);
      switch (kind) {
      case TokenKind::leftBrace:
        dropDownTo(false);
        [[fallthrough]];
      case TokenKind::leftParen:
      case TokenKind::leftBracket:
        open.push_back(i);
        break;
      case TokenKind::rightBrace:
        dropDownTo(false);
        pair(open, TokenKind::leftBrace, i);
        break;
      case TokenKind::rightParen:
        pair(open, TokenKind::leftParen, i);
        break;
      case TokenKind::rightBracket:
        pair(open, TokenKind::leftBracket, i);
        break;
      default:
        break;
      }
    }
  }

  /// Closes the innermost bracket of that kind, if it is in the same braces; those opened in
  /// between stay unmatched.
  void pair(std::vector<uint32_t> &open, TokenKind opener, uint32_t closer) {
    // Deeper than the parser goes nothing needs a partner, and the search stays linear.
    constexpr size_t reach = 256;
    for (size_t i = open.size(); i-- > 0 && open.size() - i <= reach;) {
      TokenKind kind = tokens[open[i]].kind;
      if (kind == opener) {
        tokens[open[i]].match = closer;
        tokens[closer].match = open[i];
        open.resize(i);
        return;
      }
      if (kind == TokenKind::leftBrace)
        return;
    }
  }

  const SourceFile &file;
  std::string_view text;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t position = 0;
  size_t afterStray = 0; ///< the number of tokens after the last stray one
  bool startsLine = true;
};

} // namespace

std::vector<Token> lex(const SourceFile &file, Diagnostics &diagnostics) {
  return Lexer(file, diagnostics).run();
}

std::string describe(TokenKind kind) {
  for (const Spelling &spelling : punctuation)
    if (spelling.kind == kind)
      return "`" + std::string(spelling.text) + "`";
  for (const Spelling &spelling : keywords)
    if (spelling.kind == kind)
      return "`" + std::string(spelling.text) + "`";
  switch (kind) {
  case TokenKind::endOfFile:
    return "the end of the file";
  case TokenKind::identifier:
    return "a name";
  case TokenKind::string:
    return "a string";
  case TokenKind::integer:
  case TokenKind::floating:
    return "a number";
  default:
    return "something else";
  }
}

} // namespace weir

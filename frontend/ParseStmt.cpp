//===- ParseStmt.cpp - Statements -----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/ParserImpl.h"
#include "frontend/foreign/Foreign.h"
#include "support/NearestName.h"

namespace weir {

using namespace ast;

/// Braces, calling parseOne at each statement until they close. False only where there are too many
/// around them.
bool Parser::parseBraces(Range &range, const char *what, const std::function<bool()> &parseOne) {
  Nesting nesting(*this);
  if (nesting.tooDeepForStatements())
    return false;
  size_t opener = position++;
  for (;;) {
    const Token &token = peek();
    if (token.kind == TokenKind::rightBrace) {
      ++position;
      break;
    }
    if (token.kind == TokenKind::semicolon) {
      ++position;
      continue;
    }
    if (token.kind == TokenKind::endOfFile || (token.startsLine && startsItem(token.kind))) {
      if (Diagnostic *report =
              faultAt(rangeOf(tokens[opener]),
                      std::string("expected `}` to close the ") + what + " opened here"))
        report->note(rangeOf(token), "found " + spelled(token) + " here");
      braceMissing = true;
      // The item that follows is read on its own; the braces around this one are missing likewise.
      break;
    }
    size_t start = position;
    beginStatement();
    if (!parseOne() || !expectEndOfStatement())
      recover(start);
  }
  range = since(tokens[opener].begin);
  return true;
}

/// The body of what began at token `start`; `headed` unless its head was faulty, in which case the
/// body is looked for. False where there is none.
bool Parser::parseBody(size_t start, bool headed, Body &body, const char *what) {
  if (headed && peek().kind != TokenKind::leftBrace) {
    Diagnostic *report = expected("`{`");
    if (report && at(TokenKind::colon))
      report->help("bodies are in braces: `{ … }`");
    headed = false;
  }
  if (!headed && !recoverToBody(start))
    return false;
  return parseBraces(body.range, what, [&] { return parseStatement(body.statements); });
}

/// False: reported, and the rest of the statement is to be skipped.
bool Parser::parseStatement(std::vector<StmtPtr> &into) {
  static const std::vector<std::string> words = {"param", "state",  "next", "for",
                                                 "if",    "return", "let",  "require"};
  StmtPtr statement;
  switch (peek().kind) {
  case TokenKind::kwFor:
    return parseFor(into);
  case TokenKind::kwIf:
    return parseIf(into);
  case TokenKind::kwParam:
    statement = parseParam();
    break;
  case TokenKind::kwState:
    statement = parseState();
    break;
  case TokenKind::kwNext:
    statement = parseNext();
    break;
  case TokenKind::kwReturn:
    statement = parseReturn();
    break;
  case TokenKind::kwLet:
    statement = parseLet();
    break;
  case TokenKind::kwRequire:
    statement = parseRequireStatement();
    break;
  case TokenKind::identifier:
    statement = parseAssign(words);
    break;
  case TokenKind::kwElse:
    fault("`else` without an `if` before it");
    break;
  default:
    expected("a statement");
    break;
  }
  if (!statement)
    return false;
  into.push_back(std::move(statement));
  return true;
}

/// `words` begin the other statements that are allowed here: one of them, misspelled, looks like a
/// target.
std::unique_ptr<AssignStmt> Parser::parseAssign(const std::vector<std::string> &words) {
  auto node = std::make_unique<AssignStmt>();
  uint32_t begin = offset();
  do {
    Identifier target;
    if (!parseName(target, "a name to assign to"))
      return nullptr;
    node->targets.push_back(std::move(target));
  } while (acceptComma());

  const Identifier &first = node->targets.front();
  if (!at(TokenKind::assign)) {
    auto meant = nearestName(first.text, words);
    if (const ForeignName *foreign = foreignName(Foreign::statement, first.text);
        foreign && node->targets.size() == 1) {
      if (Diagnostic *report = faultAt(first.range, "unknown statement `" + first.text + "`"))
        report->help(foreign->help());
      return nullptr;
    }
    if (meant && node->targets.size() == 1 && !at(TokenKind::leftParen)) {
      if (Diagnostic *report = faultAt(first.range, "unknown statement `" + first.text + "`"))
        report->suggest(meant);
      return nullptr;
    }
    bool isUpdate = !lineEnded() && peek(1).kind == TokenKind::assign &&
                    (at(TokenKind::plus) || at(TokenKind::minus) || at(TokenKind::star) ||
                     at(TokenKind::slash));
    bool isCall = at(TokenKind::leftParen);
    std::string op = spelled(peek());
    if (Diagnostic *report = expected("`=` after `" + node->targets.back().text + "`")) {
      if (isUpdate)
        report->help("write `" + first.text + " = " + first.text + " " + op.substr(1, 1) + " …`");
      else if (isCall)
        report->help("a call does nothing by itself: give its result a name");
      else if (at(TokenKind::leftBracket))
        report->help("no value changes: `select` and `concat` make another");
    }
    return nullptr;
  }
  ++position;
  do {
    ExprPtr value = parseExpr();
    if (!value)
      return nullptr;
    node->values.push_back(std::move(value));
  } while (acceptComma());
  node->range = since(begin);
  if (node->values.size() != 1 && node->values.size() != node->targets.size()) {
    faultAt(join(node->values.front()->range, node->values.back()->range),
            std::to_string(node->values.size()) + " values for " +
                std::to_string(node->targets.size()) +
                (node->targets.size() == 1 ? " name" : " names"));
    return nullptr;
  }
  return node;
}

StmtPtr Parser::parseParam() {
  auto node = std::make_unique<ParamStmt>();
  uint32_t begin = offset();
  ++position;
  if (!parseDottedName(node->name, "the parameter's name") ||
      !expect(TokenKind::colon, "`:` and the parameter's type") || !(node->type = parseType()) ||
      !expect(TokenKind::assign, "`=` and the parameter's initial value") ||
      !(node->init = parseExpr()))
    return nullptr;
  node->range = since(begin);
  return node;
}

StmtPtr Parser::parseState() {
  auto node = std::make_unique<StateStmt>();
  uint32_t begin = offset();
  ++position;
  if (!parseDottedName(node->name, "the state's name") ||
      (accept(TokenKind::colon) && !(node->type = parseType())) ||
      !expect(TokenKind::assign, "`=` and the state's initial value") ||
      !(node->init = parseExpr()))
    return nullptr;
  node->range = since(begin);
  return node;
}

StmtPtr Parser::parseNext() {
  auto node = std::make_unique<NextStmt>();
  uint32_t begin = offset();
  ++position;
  if (!parseDottedName(node->name, "the name of a state") ||
      !expect(TokenKind::assign, "`=` and the next value") || !(node->value = parseExpr()))
    return nullptr;
  node->range = since(begin);
  return node;
}

StmtPtr Parser::parseReturn() {
  auto node = std::make_unique<ReturnStmt>();
  uint32_t begin = offset();
  ++position;
  if (endOfStatement()) {
    expected("a value to return");
    return nullptr;
  }
  do {
    ExprPtr value = parseExpr();
    if (!value)
      return nullptr;
    node->values.push_back(std::move(value));
  } while (acceptComma());
  node->range = since(begin);
  return node;
}

StmtPtr Parser::parseLet() {
  auto node = std::make_unique<LetStmt>();
  uint32_t begin = offset();
  ++position;
  if (!parseName(node->name, "the instance's name") ||
      !expect(TokenKind::assign, "`=` and a block") || !parseName(node->callee, "a block's name") ||
      (at(TokenKind::leftParen) && !parseArguments(node->arguments, "arguments")))
    return nullptr;
  for (const Argument &argument : node->arguments)
    if (!argument.name) {
      if (Diagnostic *report = faultAt(argument.range, "arguments of an instance are named"))
        report->help("what it is called with is given to each call");
      return nullptr;
    }
  if (accept(TokenKind::kwAs) && !parsePath(node->path.emplace()))
    return nullptr;
  node->range = since(begin);
  return node;
}

StmtPtr Parser::parseRequireStatement() {
  auto node = std::make_unique<RequireStmt>();
  uint32_t begin = offset();
  if (!parseRequirement(node->requirement))
    return nullptr;
  node->range = since(begin);
  return node;
}

bool Parser::parseEndOfRange(ForStmt &loop) {
  if (accept(TokenKind::dotDot))
    return (loop.end = parseExpr()) != nullptr;
  if (Diagnostic *report = expected("`..` and the end of the range"))
    if (CallExpr::classof(loop.begin.get()) &&
        static_cast<const CallExpr &>(*loop.begin).callee.text == "range")
      report->help(foreignName(Foreign::call, "range")->help());
  return false;
}

bool Parser::parseFor(std::vector<StmtPtr> &into) {
  auto node = std::make_unique<ForStmt>();
  size_t start = position;
  uint32_t begin = offset();
  ++position;
  bool headed = parseName(node->variable, "the loop's variable") &&
                expect(TokenKind::kwIn, "`in`") && (node->begin = parseExpr()) &&
                parseEndOfRange(*node);
  if (!parseBody(start, headed, node->body, "loop"))
    return false;
  node->range = since(begin);
  if (headed)
    into.push_back(std::move(node));
  return true;
}

bool Parser::parseIf(std::vector<StmtPtr> &into) {
  Nesting nesting(*this);
  if (nesting.tooDeepForStatements())
    return false;
  auto node = std::make_unique<IfStmt>();
  size_t start = position;
  uint32_t begin = offset();
  ++position;
  bool headed = (node->condition = parseExpr()) != nullptr;
  if (!parseBody(start, headed, node->then, "branch"))
    return false;
  if (peek().kind == TokenKind::kwElse) {
    size_t elseStart = position++;
    Body &otherwise = node->otherwise.emplace();
    if (peek().kind == TokenKind::kwIf && !lineEnded()) {
      otherwise.range = rangeOf(peek());
      if (!parseIf(otherwise.statements))
        return false;
      otherwise.range = since(otherwise.range.begin);
    } else if (!parseBody(elseStart, true, otherwise, "branch")) {
      return false;
    }
  }
  node->range = since(begin);
  if (headed)
    into.push_back(std::move(node));
  return true;
}

} // namespace weir

//===- ParseItem.cpp - Items of a file and the recipe ---------------------===//
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

std::unique_ptr<Module> Parser::parseModule() {
  auto module = std::make_unique<Module>();
  module->file = &file;
  while (peek().kind != TokenKind::endOfFile) {
    if (peek().kind == TokenKind::semicolon) {
      ++position;
      continue;
    }
    beginStatement();
    if (peek().kind == TokenKind::rightBrace) {
      if (!braceMissing)
        fault("`}` closes nothing");
      braceMissing = true;
      ++position;
      continue;
    }
    if (!parseItem(module->items) || !expectEndOfStatement())
      recoverToItem();
  }
  return module;
}

/// False: reported, and everything up to the next item is to be skipped.
bool Parser::parseItem(std::vector<ItemPtr> &into) {
  static const std::vector<std::string> words = {"config",    "require", "const", "fn",  "block",
                                                 "optimizer", "model",   "train", "plan"};
  ItemPtr item;
  switch (peek().kind) {
  case TokenKind::kwConfig:
    item = parseConfig();
    break;
  case TokenKind::kwRequire:
    item = parseRequire();
    break;
  case TokenKind::kwConst:
    item = parseConst();
    break;
  case TokenKind::kwFn:
  case TokenKind::kwBlock:
  case TokenKind::kwOptimizer:
  case TokenKind::kwModel:
    return parseCallable(into);
  case TokenKind::kwTrain:
    return parseTrain(into);
  default: {
    std::string_view word = rangeOf(peek()).text();
    if (word == "plan" && peek(1).kind == TokenKind::leftBrace)
      return parsePlan(into);
    if (Diagnostic *report = expected("config, require, const, fn, block, optimizer, model, train "
                                      "or plan")) {
      if (const ForeignName *foreign = foreignName(Foreign::statement, word))
        report->help(foreign->help());
      else
        report->suggest(nearestName(word, words));
    }
    return false;
  }
  }
  if (!item)
    return false;
  into.push_back(std::move(item));
  return true;
}

bool Parser::parseNamedValues(std::vector<NamedValue> &values, const char *what) {
  do {
    NamedValue &entry = values.emplace_back();
    if (!parseName(entry.name, std::string("the ") + what + "'s name") ||
        !expect(TokenKind::assign, std::string("`=` and the ") + what + "'s value") ||
        !(entry.value = parseExpr()))
      return false;
  } while (acceptComma());
  return true;
}

ItemPtr Parser::parseConfig() {
  auto node = std::make_unique<ConfigItem>();
  uint32_t begin = offset();
  ++position;
  if (!parseNamedValues(node->entries, "config"))
    return nullptr;
  node->range = since(begin);
  return node;
}

ItemPtr Parser::parseConst() {
  auto node = std::make_unique<ConstItem>();
  uint32_t begin = offset();
  ++position;
  if (!parseNamedValues(node->entries, "const"))
    return nullptr;
  node->range = since(begin);
  return node;
}

/// After the keyword.
bool Parser::parseRequirement(Requirement &requirement) {
  ++position;
  if (!(requirement.condition = parseExpr()))
    return false;
  bool comma = acceptComma();
  if (!comma || !at(TokenKind::string)) {
    expected(comma ? "the message, a string" : "`,` and the message, a string");
    return false;
  }
  requirement.message = peek().string;
  ++position;
  return true;
}

ItemPtr Parser::parseRequire() {
  auto node = std::make_unique<RequireItem>();
  uint32_t begin = offset();
  if (!parseRequirement(node->requirement))
    return nullptr;
  node->range = since(begin);
  return node;
}

bool Parser::parseCallable(std::vector<ItemPtr> &into) {
  auto node = std::make_unique<CallableItem>();
  size_t start = position;
  uint32_t begin = offset();
  switch (peek().kind) {
  case TokenKind::kwBlock:
    node->callableKind = CallableKind::block;
    break;
  case TokenKind::kwOptimizer:
    node->callableKind = CallableKind::optimizer;
    break;
  case TokenKind::kwModel:
    node->callableKind = CallableKind::model;
    break;
  default:
    node->callableKind = CallableKind::function;
    break;
  }
  const char *what = spelling(node->callableKind);
  ++position;
  bool headed =
      parseName(node->name, std::string("the ") + what + "'s name") && parseSignature(*node);
  node->signature = since(begin);
  if (!parseBody(start, headed, node->body, what))
    return false;
  node->range = since(begin);
  if (headed)
    into.push_back(std::move(node));
  return true;
}

bool Parser::parseSignature(CallableItem &item) {
  if (!at(TokenKind::leftParen)) {
    expected("`(` and the parameters");
    return false;
  }
  uint32_t opener = open();
  while (!at(TokenKind::rightParen)) {
    if (!parseParameter(item.parameters.emplace_back()))
      return false;
    if (!accept(TokenKind::comma))
      break;
  }
  if (!close(TokenKind::rightParen, opener, "parameters"))
    return false;

  if (peek().kind != TokenKind::arrow)
    return true;
  ++position;
  bool several = at(TokenKind::leftParen);
  if (several)
    opener = open();
  size_t bracket = 0;
  do {
    if (bracket < position)
      bracket = nextBracket(position);
    // Dimensions without the `[` that begins them.
    if (tokens[bracket].kind == TokenKind::rightBracket) {
      expected("`[` before a result's dimensions");
      return false;
    }
    TypePtr type = parseType();
    if (!type)
      return false;
    item.results.push_back(std::move(type));
  } while (several && accept(TokenKind::comma));
  return !several || close(TokenKind::rightParen, opener, "results");
}

size_t Parser::nextBracket(size_t from) const {
  auto isBracket = [](TokenKind kind) {
    return kind == TokenKind::leftBracket || kind == TokenKind::rightBracket ||
           kind == TokenKind::rightParen || kind == TokenKind::leftBrace ||
           kind == TokenKind::endOfFile;
  };
  while (!isBracket(tokens[from].kind))
    ++from;
  return from;
}

bool Parser::parseParameter(Parameter &parameter) {
  uint32_t begin = offset();
  if (!parseName(parameter.name, "a parameter's name") ||
      (accept(TokenKind::colon) && !(parameter.type = parseType())) ||
      (accept(TokenKind::assign) && !(parameter.defaultValue = parseExpr())))
    return false;
  parameter.range = since(begin);
  return true;
}

//===----------------------------------------------------------------------===//
// The recipe
//===----------------------------------------------------------------------===//

template <class Block, class Entry>
bool Parser::parseEntries(std::unique_ptr<Block> block, const char *what,
                          std::unique_ptr<Entry> (Parser::*parseOne)(),
                          std::vector<ItemPtr> &into) {
  bool braced = parseBraces(block->range, what, [&] {
    std::unique_ptr<Entry> entry = (this->*parseOne)();
    if (!entry)
      return false;
    block->entries.push_back(std::move(entry));
    return true;
  });
  if (!braced)
    return false;
  block->range = since(block->keyword.begin);
  into.push_back(std::move(block));
  return true;
}

bool Parser::parseTrain(std::vector<ItemPtr> &into) {
  auto node = std::make_unique<TrainItem>();
  size_t start = position;
  node->keyword = rangeOf(peek());
  ++position;
  if (peek().kind != TokenKind::leftBrace) {
    expected("`{`");
    if (!recoverToBody(start))
      return false;
  }
  return parseEntries(std::move(node), "recipe", &Parser::parseEntry, into);
}

namespace {

/// Words of a recipe; they are ordinary names everywhere else.
struct EntryWord {
  std::string_view word;
  Kind kind;
};

constexpr EntryWord entryWords[] = {
    {"input", Kind::input}, {"loss", Kind::loss},       {"metric", Kind::metric},
    {"clip", Kind::clip},   {"lr", Kind::learningRate}, {"accumulate", Kind::accumulate},
    {"steps", Kind::steps}, {"epochs", Kind::epochs},   {"update", Kind::update},
};

} // namespace

std::unique_ptr<Node> Parser::parseEntry() {
  if (peek().kind != TokenKind::identifier) {
    expected("an entry of the recipe");
    return nullptr;
  }
  std::string_view word = rangeOf(peek()).text();
  for (const EntryWord &entry : entryWords) {
    if (entry.word != word)
      continue;
    if (entry.kind == Kind::input)
      return parseInput();
    if (entry.kind == Kind::metric)
      return parseMetric();
    if (entry.kind == Kind::update)
      return parseUpdate();
    return parseValueEntry(entry.kind);
  }
  std::vector<std::string> words;
  for (const EntryWord &entry : entryWords)
    words.emplace_back(entry.word);
  return parseAssign(words);
}

std::unique_ptr<Node> Parser::parseInput() {
  auto node = std::make_unique<InputEntry>();
  uint32_t begin = offset();
  ++position;
  if (!parseName(node->name, "the input's name") ||
      !expect(TokenKind::colon, "`:` and the input's type") || !(node->type = parseType()))
    return nullptr;
  node->range = since(begin);
  return node;
}

std::unique_ptr<Node> Parser::parseMetric() {
  auto node = std::make_unique<MetricEntry>();
  uint32_t begin = offset();
  ++position;
  if (!parseName(node->name, "the metric's name") ||
      !expect(TokenKind::assign, "`=` and the metric") || !(node->value = parseExpr()))
    return nullptr;
  node->range = since(begin);
  return node;
}

std::unique_ptr<Node> Parser::parseValueEntry(Kind kind) {
  auto node = std::make_unique<ValueEntry>(kind);
  node->keyword = rangeOf(peek());
  std::string word(node->keyword.text());
  ++position;
  if (kind == Kind::learningRate) {
    if (!expect(TokenKind::assign, "`=` after `lr`"))
      return nullptr;
  } else if (at(TokenKind::assign)) {
    fault("`" + word + "` is followed by its value, without `=`");
    return nullptr;
  }
  if (!(node->value = parseExpr()))
    return nullptr;
  node->range = since(node->keyword.begin);
  return node;
}

std::unique_ptr<Node> Parser::parseUpdate() {
  auto node = std::make_unique<UpdateEntry>();
  uint32_t begin = offset();
  ++position;
  auto call = std::make_unique<CallExpr>();
  if (!parseName(call->callee, "an optimizer"))
    return nullptr;
  if (!at(TokenKind::leftParen)) {
    expected("`(` and the optimizer's arguments");
    return nullptr;
  }
  if (!parseArguments(call->arguments, "call"))
    return nullptr;
  call->range = since(call->callee.range.begin);
  node->optimizer = std::move(call);
  if (!parseWhere(node->where))
    return nullptr;
  node->range = since(begin);
  return node;
}

bool Parser::parseWhere(ExprPtr &where) {
  if (!at(TokenKind::identifier))
    return true;
  std::string word(rangeOf(peek()).text());
  if (word != "where") {
    if (Diagnostic *report = expected("`where`, or the end of the line"))
      report->suggest(nearestName(word, {"where"}));
    return false;
  }
  ++position;
  return (where = parseExpr()) != nullptr;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// `plan` is an ordinary name everywhere else.
bool Parser::parsePlan(std::vector<ItemPtr> &into) {
  auto node = std::make_unique<PlanItem>();
  node->keyword = rangeOf(peek());
  ++position;
  return parseEntries(std::move(node), "plan", &Parser::parsePlanEntry, into);
}

std::unique_ptr<Node> Parser::parsePlanEntry() {
  std::string word(rangeOf(peek()).text());
  if (at(TokenKind::identifier) && word == "precision")
    return parsePin();
  if (at(TokenKind::identifier) && word == "recompute")
    return parseRecompute();
  if (at(TokenKind::identifier) && word == "shard")
    return parseShard();
  if (Diagnostic *report = expected("`precision`, `recompute` or `shard`"))
    report->suggest(nearestName(word, {"precision", "recompute", "shard"}));
  return nullptr;
}

/// A word that is an ordinary name elsewhere.
bool Parser::parseWord(const char *word) {
  if (at(TokenKind::identifier) && rangeOf(peek()).text() == word) {
    ++position;
    return true;
  }
  expected(std::string("`") + word + "`");
  return false;
}

std::unique_ptr<Node> Parser::parseShard() {
  auto node = std::make_unique<ShardEntry>();
  uint32_t begin = offset();
  ++position;
  if (!(node->pattern = parseExpr()) || !parseWord("on") ||
      !parseName(node->axis, "an axis of a mesh, such as tp") || !parseWord("dim") ||
      !(node->dimension = parseExpr()))
    return nullptr;
  node->range = since(begin);
  return node;
}

std::unique_ptr<Node> Parser::parseRecompute() {
  auto node = std::make_unique<RecomputeEntry>();
  uint32_t begin = offset();
  ++position;
  if (!parseWhere(node->where))
    return nullptr;
  node->range = since(begin);
  return node;
}

std::unique_ptr<Node> Parser::parsePin() {
  auto node = std::make_unique<PinEntry>();
  uint32_t begin = offset();
  ++position;
  if (!parseName(node->precision, "a precision") || !parseWhere(node->where))
    return nullptr;
  node->range = since(begin);
  return node;
}

} // namespace weir

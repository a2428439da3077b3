//===- ParseExpr.cpp - Expressions and types ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/ParserImpl.h"
#include "frontend/foreign/Foreign.h"
#include "support/NearestName.h"

#include <algorithm>

namespace weir {

using namespace ast;

namespace {

/// Binding strengths; a power binds tighter still, and to the right.
enum Strength { logicalOr = 1, logicalAnd, logicalNot, comparison, sum, product };

struct Operator {
  TokenKind token;
  BinaryOp op;
  Strength strength;
};

constexpr Operator operators[] = {
    {TokenKind::kwOr, BinaryOp::logicalOr, logicalOr},
    {TokenKind::kwAnd, BinaryOp::logicalAnd, logicalAnd},
    {TokenKind::equal, BinaryOp::eq, comparison},
    {TokenKind::notEqual, BinaryOp::ne, comparison},
    {TokenKind::less, BinaryOp::lt, comparison},
    {TokenKind::lessEqual, BinaryOp::le, comparison},
    {TokenKind::greater, BinaryOp::gt, comparison},
    {TokenKind::greaterEqual, BinaryOp::ge, comparison},
    {TokenKind::plus, BinaryOp::add, sum},
    {TokenKind::minus, BinaryOp::sub, sum},
    {TokenKind::star, BinaryOp::mul, product},
    {TokenKind::slash, BinaryOp::div, product},
    {TokenKind::percent, BinaryOp::mod, product},
    {TokenKind::at, BinaryOp::matmul, product},
};

const Operator *findOperator(TokenKind token) {
  for (const Operator &op : operators)
    if (op.token == token)
      return &op;
  return nullptr;
}

unsigned heightOf(const ExprPtr &expr) { return expr ? expr->height : 0; }

unsigned heightOf(const std::vector<Argument> &arguments) {
  unsigned height = 0;
  for (const Argument &argument : arguments)
    height = std::max(height, heightOf(argument.value));
  return height;
}

unsigned heightOf(const Path &path) {
  unsigned height = 0;
  for (const Path::Component &component : path.components)
    for (const ExprPtr &index : component.indices)
      height = std::max(height, heightOf(index));
  return height;
}

} // namespace

/// Null, with a report, where the tree would become too high to be walked recursively.
template <typename Node>
ExprPtr Parser::finish(std::unique_ptr<Node> node, Range range, unsigned heightBelow) {
  node->range = range;
  node->height = heightBelow + 1;
  if (node->height > maxHeight) {
    if (Diagnostic *report = faultAt(range, "expression is too long"))
      report->help("give a part of it a name");
    return nullptr;
  }
  return node;
}

ExprPtr Parser::parseBinary(int minimum) {
  ExprPtr lhs = parseUnary(minimum);
  const Operator *previous = nullptr;
  while (lhs && !lineEnded()) {
    const Operator *op = findOperator(peek().kind);
    if (!op || op->strength < minimum)
      return lhs;
    Range opRange = rangeOf(peek());
    if (op->strength == comparison && previous && previous->strength == comparison) {
      if (Diagnostic *report = fault("comparisons do not chain"))
        report->help("write `a < b and b < c`");
      return nullptr;
    }
    ++position;
    ExprPtr rhs = parseBinary(op->strength + 1);
    if (!rhs)
      return nullptr;
    auto node = std::make_unique<BinaryExpr>();
    node->op = op->op;
    node->opRange = opRange;
    Range range = join(lhs->range, rhs->range);
    unsigned height = std::max(lhs->height, rhs->height);
    node->lhs = std::move(lhs);
    node->rhs = std::move(rhs);
    lhs = finish(std::move(node), range, height);
    previous = op;
  }
  return lhs;
}

ExprPtr Parser::parseUnary(int minimum) {
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return nullptr;
  bool isNot = at(TokenKind::kwNot);
  if (!isNot && !at(TokenKind::minus))
    return parsePower();
  if (isNot && minimum > logicalNot) {
    fault("`not` needs brackets here");
    return nullptr;
  }
  auto node = std::make_unique<UnaryExpr>();
  node->op = isNot ? UnaryOp::logicalNot : UnaryOp::negate;
  node->opRange = rangeOf(peek());
  ++position;
  node->operand = isNot ? parseBinary(logicalNot) : parseUnary(product + 1);
  if (!node->operand)
    return nullptr;
  Range range = join(node->opRange, node->operand->range);
  unsigned height = node->operand->height;
  return finish(std::move(node), range, height);
}

ExprPtr Parser::parsePower() {
  ExprPtr base = parsePostfix();
  if (!base || !at(TokenKind::caret))
    return base;
  auto node = std::make_unique<BinaryExpr>();
  node->op = BinaryOp::pow;
  node->opRange = rangeOf(peek());
  ++position;
  node->rhs = parseUnary(product + 1);
  if (!node->rhs)
    return nullptr;
  Range range = join(base->range, node->rhs->range);
  unsigned height = std::max(base->height, node->rhs->height);
  node->lhs = std::move(base);
  return finish(std::move(node), range, height);
}

ExprPtr Parser::parsePostfix() {
  ExprPtr expr = parsePrimary();
  while (expr && at(TokenKind::leftBracket))
    expr = parseIndex(std::move(expr));
  if (!expr)
    return nullptr;
  if (at(TokenKind::kwAs)) {
    if (Diagnostic *report = fault("`as` must follow a call"))
      report->help("it names where the block that is called keeps its parameters, "
                   "`linear(x, n) as head`");
    return nullptr;
  }
  if (at(TokenKind::leftParen)) {
    fault("only a name can be called");
    return nullptr;
  }
  if (at(TokenKind::dot)) {
    std::string member(rangeOf(peek(1)).text());
    const ForeignName *foreign = foreignName(Foreign::call, member);
    foreign = foreign ? foreign : foreignName(Foreign::value, member);
    Diagnostic *report = fault("tensors have no methods or attributes");
    if (report && foreign)
      report->help(foreign->help());
    else if (report && peek(1).kind == TokenKind::identifier)
      report->help("write `" + member + "(…)`, with the tensor as its first argument");
    return nullptr;
  }
  return expr;
}

ExprPtr Parser::parsePrimary() {
  const Token &token = peek();
  if (!lineEnded()) {
    switch (token.kind) {
    case TokenKind::integer: {
      auto node = std::make_unique<IntegerExpr>();
      node->value = token.integer;
      ++position;
      return finish(std::move(node), rangeOf(token), 0);
    }
    case TokenKind::floating: {
      auto node = std::make_unique<FloatingExpr>();
      node->value = token.floating;
      ++position;
      return finish(std::move(node), rangeOf(token), 0);
    }
    case TokenKind::kwTrue:
    case TokenKind::kwFalse: {
      auto node = std::make_unique<BooleanExpr>();
      node->value = token.kind == TokenKind::kwTrue;
      ++position;
      return finish(std::move(node), rangeOf(token), 0);
    }
    case TokenKind::string: {
      auto node = std::make_unique<StringExpr>();
      node->value = token.string;
      ++position;
      return finish(std::move(node), rangeOf(token), 0);
    }
    case TokenKind::identifier:
      return parseNameOrCall();
    case TokenKind::leftBracket:
      return parseList();
    case TokenKind::leftParen: {
      uint32_t opener = open();
      ExprPtr inner = parseExpr();
      if (inner && at(TokenKind::comma)) {
        if (Diagnostic *report = fault("a tuple is no value"))
          report->help("a list is written in square brackets");
        return nullptr;
      }
      if (!inner || !close(TokenKind::rightParen, opener, "bracket"))
        return nullptr;
      inner->range = since(token.begin);
      return inner;
    }
    case TokenKind::kwNew:
    case TokenKind::colon:
    case TokenKind::dotDot:
      fault(spelled(token) + " belongs inside an index" +
            (token.kind == TokenKind::dotDot ? ", a tensor type or a `for`" : ""));
      return nullptr;
    default:
      break;
    }
  }
  bool power = at(TokenKind::star) && position > 0 &&
               tokens[position - 1].kind == TokenKind::star &&
               tokens[position - 1].end == token.begin;
  if (Diagnostic *report = expected("an expression"))
    if (power)
      report->help("a power is written `x ^ 2`");
  return nullptr;
}

bool Parser::parseName(Identifier &name, const std::string &what) {
  if (!at(TokenKind::identifier)) {
    expected(what);
    return false;
  }
  name.range = rangeOf(peek());
  name.text = name.range.text();
  ++position;
  return true;
}

bool Parser::parseDottedName(Identifier &name, const std::string &what) {
  if (!parseName(name, what))
    return false;
  while (accept(TokenKind::dot)) {
    Identifier part;
    if (!parseName(part, "a name after `.`"))
      return false;
    name.text += "." + part.text;
    name.range = join(name.range, part.range);
  }
  return true;
}

ExprPtr Parser::parseNameOrCall() {
  Identifier name;
  if (!parseDottedName(name, "a name"))
    return nullptr;
  if (!at(TokenKind::leftParen)) {
    auto node = std::make_unique<NameExpr>();
    node->name = std::move(name.text);
    return finish(std::move(node), name.range, 0);
  }
  auto node = std::make_unique<CallExpr>();
  node->callee = name;
  if (!parseArguments(node->arguments, "call"))
    return nullptr;
  unsigned height = heightOf(node->arguments);
  if (accept(TokenKind::kwAs)) {
    if (!parsePath(node->path.emplace()))
      return nullptr;
    height = std::max(height, heightOf(*node->path));
  }
  return finish(std::move(node), since(name.range.begin), height);
}

bool Parser::parseArguments(std::vector<Argument> &arguments, const char *what) {
  uint32_t opener = open();
  bool named = false;
  while (!at(TokenKind::rightParen)) {
    Argument argument;
    uint32_t begin = offset();
    if (at(TokenKind::identifier) && peek(1).kind == TokenKind::assign) {
      parseName(argument.name.emplace(), "a name");
      ++position;
      named = true;
    } else if (named) {
      expected("a named argument, `name = value`");
      return false;
    }
    argument.value = parseExpr();
    if (!argument.value)
      return false;
    argument.range = since(begin);
    arguments.push_back(std::move(argument));
    if (!accept(TokenKind::comma))
      break;
  }
  return close(TokenKind::rightParen, opener, what);
}

bool Parser::parsePath(Path &path) {
  uint32_t begin = offset();
  do {
    Path::Component &component = path.components.emplace_back();
    if (!parseName(component.name,
                   path.components.size() == 1 ? "a path after `as`" : "a name after `.`"))
      return false;
    while (at(TokenKind::leftBracket)) {
      uint32_t opener = open();
      ExprPtr index = parseExpr();
      if (!index || !close(TokenKind::rightBracket, opener, "index"))
        return false;
      component.indices.push_back(std::move(index));
    }
  } while (accept(TokenKind::dot));
  path.range = since(begin);
  return true;
}

ExprPtr Parser::parseList() {
  uint32_t begin = offset(), opener = open();
  auto node = std::make_unique<ListExpr>();
  unsigned height = 0;
  while (!at(TokenKind::rightBracket)) {
    ExprPtr element = parseExpr();
    if (!element)
      return nullptr;
    height = std::max(height, element->height);
    node->elements.push_back(std::move(element));
    if (!accept(TokenKind::comma))
      break;
  }
  if (!close(TokenKind::rightBracket, opener, "list"))
    return nullptr;
  return finish(std::move(node), since(begin), height);
}

ExprPtr Parser::parseIndex(ExprPtr base) {
  uint32_t begin = base->range.begin, opener = open();
  auto node = std::make_unique<IndexExpr>();
  unsigned height = base->height;
  node->base = std::move(base);
  do {
    if (at(TokenKind::rightBracket) && !node->items.empty())
      break;
    IndexItem item;
    uint32_t itemBegin = offset();
    if (!parseIndexItem(item))
      return nullptr;
    item.range = since(itemBegin);
    height = std::max({height, heightOf(item.begin), heightOf(item.end), heightOf(item.value)});
    node->items.push_back(std::move(item));
  } while (accept(TokenKind::comma));
  if (!close(TokenKind::rightBracket, opener, "index"))
    return nullptr;
  return finish(std::move(node), since(begin), height);
}

bool Parser::parseIndexItem(IndexItem &item) {
  if (accept(TokenKind::kwNew)) {
    item.kind = IndexItem::Kind::newAxis;
    return true;
  }
  if (accept(TokenKind::dotDot)) {
    if (at(TokenKind::dot)) {
      fault("dimensions that stay are written `..`, with two dots");
      return false;
    }
    item.kind = IndexItem::Kind::ellipsis;
    return true;
  }
  if (at(TokenKind::rightBracket)) {
    expected("an index");
    return false;
  }
  ExprPtr first;
  if (!at(TokenKind::colon) && !(first = parseExpr()))
    return false;
  if (!accept(TokenKind::colon)) {
    item.value = std::move(first);
    return true;
  }
  item.kind = IndexItem::Kind::slice;
  item.begin = std::move(first);
  if (!at(TokenKind::comma) && !at(TokenKind::rightBracket) && !at(TokenKind::colon) &&
      !(item.end = parseExpr()))
    return false;
  if (at(TokenKind::colon)) {
    fault("a slice has no step");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TypePtr Parser::parseType() {
  uint32_t begin = offset();
  if (at(TokenKind::leftBracket))
    return parseTensorType(Element::f32, begin);
  Identifier name;
  if (!parseName(name, "a type"))
    return nullptr;

  bool isTensor = at(TokenKind::leftBracket);
  int count = isTensor ? int(programElements) : 6, found = count;
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i) {
    known.push_back(isTensor ? nameOf(static_cast<Element>(i)) : spelling(static_cast<Scalar>(i)));
    if (known.back() == name.text)
      found = i;
  }
  if (found == count) {
    std::string list;
    for (const std::string &word : known)
      list += (list.empty() ? "" : ", ") + word;
    --position; // the name is the token at fault
    if (Diagnostic *report =
            fault((isTensor ? "unknown element type `" : "unknown type `") + name.text + "`")) {
      report->suggest(nearestName(name.text, known));
      if (report->helps.empty())
        report->help(isTensor ? "element types are " + list
                              : "types are " + list + ", and tensors such as `[n, 3]`");
    }
    ++position;
    // Nothing depends on which it is: go on to find what else is wrong.
    found = 0;
  }
  if (isTensor)
    return parseTensorType(static_cast<Element>(found), begin);
  auto type = std::make_unique<ScalarType>();
  type->scalar = static_cast<Scalar>(found);
  type->range = name.range;
  return type;
}

TypePtr Parser::parseTensorType(Element element, uint32_t begin) {
  uint32_t opener = open();
  auto type = std::make_unique<TensorType>();
  type->element = element;
  bool hasEllipsis = false;
  while (!at(TokenKind::rightBracket)) {
    ExprPtr dim;
    if (at(TokenKind::dotDot)) {
      if (hasEllipsis) {
        fault("a tensor type has at most one `..`");
        return nullptr;
      }
      hasEllipsis = true;
      ++position;
      dim = finish(std::make_unique<EllipsisExpr>(), rangeOf(tokens[position - 1]), 0);
    } else {
      dim = parseExpr();
    }
    if (!dim)
      return nullptr;
    type->dims.push_back(std::move(dim));
    if (!accept(TokenKind::comma))
      break;
  }
  if (!close(TokenKind::rightBracket, opener, "type"))
    return nullptr;
  type->range = since(begin);
  return type;
}

} // namespace weir

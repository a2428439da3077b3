//===- ParserImpl.h - The parser's own parts ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recursive-descent parser with one token of lookahead (two for named arguments). A function that
// finds a mistake reports it and returns null or false; its callers pass that on, without reporting
// anything, up to the statement or item, which recovers. Functions are in ParseExpr.cpp,
// ParseStmt.cpp and ParseItem.cpp, the machinery in Parser.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_PARSERIMPL_H
#define WEIR_FRONTEND_PARSERIMPL_H

#include "frontend/AST.h"
#include "frontend/Diagnostics.h"
#include "frontend/Lexer.h"

#include <functional>
#include <string>
#include <vector>

namespace weir {

class Parser {
public:
  Parser(const SourceFile &file, Diagnostics &diagnostics);
  std::unique_ptr<ast::Module> parseModule();

private:
  // Tokens.
  const Token &peek(size_t ahead = 0) const;
  /// A newline ends a statement, except inside round and square brackets and after a comma.
  bool lineEnded() const;
  bool at(TokenKind kind) const { return !lineEnded() && peek().kind == kind; }
  bool accept(TokenKind kind);
  /// accept(comma), after which the list may go on in the next line.
  bool acceptComma();
  bool expect(TokenKind kind, const std::string &what);
  std::string spelled(const Token &token) const;
  std::string found() const;
  Range here() const;
  Range rangeOf(const Token &token) const { return {&file, token.begin, token.end}; }
  Range since(uint32_t begin) const; ///< from a byte offset to the end of the last token taken
  uint32_t offset() const { return peek().begin; }

  // Mistakes. A second one at the same token is a consequence of the first and is dropped.
  Diagnostic *fault(std::string message);
  Diagnostic *faultAt(Range range, std::string message);
  Diagnostic *expected(const std::string &what);

  // Brackets: open takes the opening token, close the closing one or says which was not closed.
  uint32_t open();
  bool close(TokenKind kind, uint32_t opener, const char *what);

  // Recovery.
  void beginStatement();
  bool endOfStatement() const;
  bool expectEndOfStatement();
  size_t skipGroup(size_t index) const;
  void recover(size_t start);
  bool recoverToBody(size_t start);
  void recoverToItem();

  // Expressions.
  ast::ExprPtr parseExpr() { return parseBinary(0); }
  ast::ExprPtr parseBinary(int minimum);
  ast::ExprPtr parseUnary(int minimum);
  ast::ExprPtr parsePower();
  ast::ExprPtr parsePostfix();
  ast::ExprPtr parsePrimary();
  ast::ExprPtr parseNameOrCall();
  ast::ExprPtr parseList();
  ast::ExprPtr parseIndex(ast::ExprPtr base);
  bool parseIndexItem(ast::IndexItem &item);
  bool parseArguments(std::vector<ast::Argument> &arguments, const char *what);
  bool parsePath(ast::Path &path);
  bool parseName(ast::Identifier &name, const std::string &what);
  bool parseDottedName(ast::Identifier &name, const std::string &what);
  template <typename Node>
  ast::ExprPtr finish(std::unique_ptr<Node> node, Range range, unsigned heightBelow);

  // Types.
  ast::TypePtr parseType();
  ast::TypePtr parseTensorType(Element element, uint32_t begin);

  // Statements.
  bool parseBraces(Range &range, const char *what, const std::function<bool()> &parseOne);
  bool parseBody(size_t start, bool headed, ast::Body &body, const char *what);
  bool parseStatement(std::vector<ast::StmtPtr> &into);
  bool parseEndOfRange(ast::ForStmt &loop);
  bool parseFor(std::vector<ast::StmtPtr> &into);
  bool parseIf(std::vector<ast::StmtPtr> &into);
  std::unique_ptr<ast::AssignStmt> parseAssign(const std::vector<std::string> &words);
  ast::StmtPtr parseParam();
  ast::StmtPtr parseState();
  ast::StmtPtr parseNext();
  ast::StmtPtr parseReturn();
  ast::StmtPtr parseLet();
  ast::StmtPtr parseRequireStatement();

  // Items and the recipe.
  bool parseItem(std::vector<ast::ItemPtr> &into);
  bool parseNamedValues(std::vector<ast::NamedValue> &values, const char *what);
  ast::ItemPtr parseConfig();
  ast::ItemPtr parseRequire();
  bool parseRequirement(ast::Requirement &requirement);
  ast::ItemPtr parseConst();
  bool parseCallable(std::vector<ast::ItemPtr> &into);
  bool parseSignature(ast::CallableItem &item);
  /// The first token at or after `from` that is a bracket of types, ends a list, or begins a body.
  size_t nextBracket(size_t from) const;
  bool parseParameter(ast::Parameter &parameter);
  bool parseTrain(std::vector<ast::ItemPtr> &into);
  std::unique_ptr<ast::Node> parseEntry();
  std::unique_ptr<ast::Node> parseInput();
  std::unique_ptr<ast::Node> parseMetric();
  std::unique_ptr<ast::Node> parseValueEntry(ast::Kind kind);
  std::unique_ptr<ast::Node> parseUpdate();
  /// `where` and what stands after it, if it is there.
  bool parseWhere(ast::ExprPtr &where);
  bool parsePlan(std::vector<ast::ItemPtr> &into);
  /// The entries of a block in braces, in the order written; `what` names it in messages.
  template <class Block, class Entry>
  bool parseEntries(std::unique_ptr<Block> block, const char *what,
                    std::unique_ptr<Entry> (Parser::*parseOne)(), std::vector<ast::ItemPtr> &into);
  std::unique_ptr<ast::Node> parsePlanEntry();
  std::unique_ptr<ast::Node> parsePin();
  std::unique_ptr<ast::Node> parseRecompute();
  std::unique_ptr<ast::Node> parseShard();
  bool parseWord(const char *word);

  /// Bounds the parser's own recursion; counts as long as it lives.
  class Nesting {
  public:
    explicit Nesting(Parser &parser) : parser(parser) { ++parser.nesting; }
    ~Nesting() { --parser.nesting; }
    bool tooDeep();
    bool tooDeepForStatements();

  private:
    Parser &parser;
  };

  const SourceFile &file;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t position = 0;
  size_t continued = SIZE_MAX; ///< the token after a comma, which may start a line
  size_t lastFault = SIZE_MAX; ///< the token at which a mistake was reported
  unsigned brackets = 0;       ///< round and square ones open here
  unsigned nesting = 0;
  bool abandoned = false;
  bool braceMissing = false; ///< reported: a brace too many at the end is its consequence
};

} // namespace weir

#endif

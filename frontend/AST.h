//===- AST.h - The syntax tree of a .weir file ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parser understood, before any name is looked up (docs/reference/language.md has the
// grammar). A node owns its children and has the range of its text; kinds are told apart with
// llvm::isa/cast/dyn_cast. Nothing that a parse returned without errors is null unless its comment
// says so. Trees are at most maxHeight nodes high, so recursion over them is safe.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_AST_H
#define WEIR_FRONTEND_AST_H

#include "frontend/Source.h"
#include "support/precision/Element.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::ast {

/// No expression is higher than maxHeight. Brackets, operands and statements, each inside the
/// other, nest at most maxNesting deep.
constexpr unsigned maxHeight = 1000;
constexpr unsigned maxNesting = 200;

enum class Kind {
  // Expressions.
  integer,
  floating,
  boolean,
  string,
  name,
  list,
  call,
  index,
  unary,
  binary,
  ellipsis,
  // Types.
  tensorType,
  scalarType,
  // Statements.
  assign,
  param,
  state,
  next,
  forLoop,
  ifElse,
  returnValues,
  let,
  requirement,
  // Entries of a recipe; a binding is an `assign`.
  input,
  loss,
  metric,
  clip,
  learningRate,
  accumulate,
  steps,
  epochs,
  update,
  // Entries of a plan.
  pin,
  recompute,
  shard,
  // Items of a file.
  config,
  require,
  constants,
  callable,
  train,
  plan,
};

class Node {
public:
  virtual ~Node() = default;
  Kind kind() const { return nodeKind; }
  Range range;

protected:
  explicit Node(Kind kind) : nodeKind(kind) {}

private:
  Kind nodeKind;
};

/// A node class of one kind: its constructor and classof.
#define WEIR_AST_NODE(Class, Base, kindName)                                                       \
  Class() : Base(Kind::kindName) {}                                                                \
  static bool classof(const Node *node) { return node->kind() == Kind::kindName; }

/// A name where it is declared or used; may be dotted (`wte.weight`), its range covers all of it.
struct Identifier {
  std::string text;
  Range range;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

class Expr : public Node {
public:
  static bool classof(const Node *node) { return node->kind() <= Kind::ellipsis; }
  unsigned height = 1; ///< nodes on the longest way down; kept by the parser to bound the tree

protected:
  using Node::Node;
};
using ExprPtr = std::unique_ptr<Expr>;

/// `h[i].ln_1`: where a block's parameters live in the checkpoint.
struct Path {
  struct Component {
    Identifier name;              ///< never dotted
    std::vector<ExprPtr> indices; ///< static integers, usually none or one
  };
  std::vector<Component> components;
  Range range;
};

class IntegerExpr : public Expr {
public:
  WEIR_AST_NODE(IntegerExpr, Expr, integer)
  int64_t value = 0; ///< never negative: a sign is a UnaryExpr
};

class FloatingExpr : public Expr {
public:
  WEIR_AST_NODE(FloatingExpr, Expr, floating)
  double value = 0;
};

class BooleanExpr : public Expr {
public:
  WEIR_AST_NODE(BooleanExpr, Expr, boolean)
  bool value = false;
};

class StringExpr : public Expr {
public:
  WEIR_AST_NODE(StringExpr, Expr, string)
  std::string value; ///< escapes resolved
};

class NameExpr : public Expr {
public:
  WEIR_AST_NODE(NameExpr, Expr, name)
  std::string name; ///< `x`, or dotted: `wte.weight`
};

/// `[0, 2, 3]`
class ListExpr : public Expr {
public:
  WEIR_AST_NODE(ListExpr, Expr, list)
  std::vector<ExprPtr> elements;
};

struct Argument {
  std::optional<Identifier> name; ///< named arguments follow the positional ones
  ExprPtr value;
  Range range;
};

/// `f(x, axis = 1) as h[i].c_fc`: a call of a function, operator, block, model or instance.
class CallExpr : public Expr {
public:
  WEIR_AST_NODE(CallExpr, Expr, call)
  Identifier callee;
  std::vector<Argument> arguments;
  std::optional<Path> path; ///< after `as`
};

struct IndexItem {
  enum class Kind { slice, newAxis, value, ellipsis };
  Kind kind = Kind::value;
  ExprPtr begin; ///< slices: null for the axis's beginning
  ExprPtr end;   ///< slices: null for the axis's end
  ExprPtr value; ///< values only
  Range range;
};

/// `x[:, 1:, new, ids]`
class IndexExpr : public Expr {
public:
  WEIR_AST_NODE(IndexExpr, Expr, index)
  ExprPtr base;
  std::vector<IndexItem> items; ///< at least one
};

enum class UnaryOp { negate, logicalNot };

class UnaryExpr : public Expr {
public:
  WEIR_AST_NODE(UnaryExpr, Expr, unary)
  UnaryOp op = UnaryOp::negate;
  Range opRange;
  ExprPtr operand;
};

enum class BinaryOp {
  add,
  sub,
  mul,
  div,
  mod,
  pow,
  matmul,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logicalAnd,
  logicalOr
};

class BinaryExpr : public Expr {
public:
  WEIR_AST_NODE(BinaryExpr, Expr, binary)
  BinaryOp op = BinaryOp::add;
  Range opRange;
  ExprPtr lhs, rhs;
};

/// As written: "+", "@", "and" …
const char *spelling(UnaryOp op);
const char *spelling(BinaryOp op);

/// `..` among the dimensions of a tensor type, and nowhere else.
class EllipsisExpr : public Expr {
public:
  WEIR_AST_NODE(EllipsisExpr, Expr, ellipsis)
};

/// The expression and every expression inside it, paths included, from the outside in.
void visit(const Expr &expr, const std::function<void(const Expr &)> &each);
void visitNames(const Expr &expr, const std::function<void(const NameExpr &)> &each);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Type : public Node {
public:
  static bool classof(const Node *node) {
    return node->kind() >= Kind::tensorType && node->kind() <= Kind::scalarType;
  }

protected:
  using Node::Node;
};
using TypePtr = std::unique_ptr<Type>;

/// `[b, .., 4 * width]`, `i32[b, t]`, `[]`
class TensorType : public Type {
public:
  WEIR_AST_NODE(TensorType, Type, tensorType)
  Element element = Element::f32;
  std::vector<ExprPtr> dims; ///< expressions, and at most one EllipsisExpr
};

/// float, int and bool are known at compile time; f32 and i32 are scalars of the run; a ratio is
/// (sum, count).
enum class Scalar { floating, integer, boolean, f32, i32, ratio };
const char *spelling(Scalar scalar);

class ScalarType : public Type {
public:
  WEIR_AST_NODE(ScalarType, Type, scalarType)
  Scalar scalar = Scalar::floating;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

class Stmt : public Node {
public:
  static bool classof(const Node *node) {
    return node->kind() >= Kind::assign && node->kind() <= Kind::requirement;
  }

protected:
  using Node::Node;
};
using StmtPtr = std::unique_ptr<Stmt>;

/// `{ … }`
struct Body {
  std::vector<StmtPtr> statements;
  Range range; ///< braces included
};

/// `a, b = f(x)` or `a, b = c, d`: one value, or as many as targets.
class AssignStmt : public Stmt {
public:
  WEIR_AST_NODE(AssignStmt, Stmt, assign)
  std::vector<Identifier> targets; ///< at least one, not dotted
  std::vector<ExprPtr> values;
};

/// `param wte.weight: [vocab, width] = small`
class ParamStmt : public Stmt {
public:
  WEIR_AST_NODE(ParamStmt, Stmt, param)
  Identifier name; ///< may be dotted
  TypePtr type;
  ExprPtr init;
};

/// `state m = zeros_like(p)`
class StateStmt : public Stmt {
public:
  WEIR_AST_NODE(StateStmt, Stmt, state)
  Identifier name; ///< may be dotted
  TypePtr type;    ///< null where it is the initial value's
  ExprPtr init;
};

/// `next m = m1`
class NextStmt : public Stmt {
public:
  WEIR_AST_NODE(NextStmt, Stmt, next)
  Identifier name; ///< may be dotted
  ExprPtr value;
};

/// `for i in begin..end { … }`
class ForStmt : public Stmt {
public:
  WEIR_AST_NODE(ForStmt, Stmt, forLoop)
  Identifier variable;
  ExprPtr begin, end;
  Body body;
};

/// `if c { … } else { … }`; `else if` is an IfStmt alone in `otherwise`.
class IfStmt : public Stmt {
public:
  WEIR_AST_NODE(IfStmt, Stmt, ifElse)
  ExprPtr condition;
  Body then;
  std::optional<Body> otherwise;
};

class ReturnStmt : public Stmt {
public:
  WEIR_AST_NODE(ReturnStmt, Stmt, returnValues)
  std::vector<ExprPtr> values; ///< at least one
};

/// `let e = encoder(width = 64) as enc`: one instance, called `e(x)` as often as wanted.
class LetStmt : public Stmt {
public:
  WEIR_AST_NODE(LetStmt, Stmt, let)
  Identifier name;
  Identifier callee;
  std::vector<Argument> arguments; ///< named, given to every call
  std::optional<Path> path;        ///< none: the block's name
};

/// `width % heads == 0, "heads must divide width"`
struct Requirement {
  ExprPtr condition;
  std::string message;
};

/// `require` in a body: of every call.
class RequireStmt : public Stmt {
public:
  WEIR_AST_NODE(RequireStmt, Stmt, requirement)
  Requirement requirement;
};

/// Every statement of a body, however deep, from the outside in.
void visit(const Body &body, const std::function<void(const Stmt &)> &each);

//===----------------------------------------------------------------------===//
// Items of a file
//===----------------------------------------------------------------------===//

class Item : public Node {
public:
  static bool classof(const Node *node) { return node->kind() >= Kind::config; }

protected:
  using Node::Node;
};
using ItemPtr = std::unique_ptr<Item>;

struct NamedValue {
  Identifier name; ///< not dotted
  ExprPtr value;
};

/// `config vocab = 65, width = 128`: values that `--set` may replace.
class ConfigItem : public Item {
public:
  WEIR_AST_NODE(ConfigItem, Item, config)
  std::vector<NamedValue> entries;
};

/// `require` outside bodies: of the configs.
class RequireItem : public Item {
public:
  WEIR_AST_NODE(RequireItem, Item, require)
  Requirement requirement;
};

/// `const small = normal(std = 0.02)`
class ConstItem : public Item {
public:
  WEIR_AST_NODE(ConstItem, Item, constants)
  std::vector<NamedValue> entries;
};

struct Parameter {
  Identifier name;
  TypePtr type;         ///< null where none is written
  ExprPtr defaultValue; ///< null where none is written
  Range range;
};

enum class CallableKind { function, block, optimizer, model };
const char *spelling(CallableKind kind); ///< "fn", "block" …

class CallableItem : public Item {
public:
  WEIR_AST_NODE(CallableItem, Item, callable)
  CallableKind callableKind = CallableKind::function;
  Identifier name;
  std::vector<Parameter> parameters;
  std::vector<TypePtr> results; ///< empty where none is written
  Range signature;              ///< from the keyword to the end of the results
  Body body;
};

//===----------------------------------------------------------------------===//
// The recipe
//===----------------------------------------------------------------------===//

/// `input window: i32[batch, context + 1]`
class InputEntry : public Node {
public:
  WEIR_AST_NODE(InputEntry, Node, input)
  Identifier name;
  TypePtr type;
};

/// `loss E`, `clip E`, `lr = E`, `accumulate E`, `steps E`, `epochs E`
class ValueEntry : public Node {
public:
  explicit ValueEntry(Kind kind) : Node(kind) {}
  static bool classof(const Node *node) {
    return node->kind() == Kind::loss ||
           (node->kind() >= Kind::clip && node->kind() <= Kind::epochs);
  }
  Range keyword;
  ExprPtr value;
};

/// `metric accuracy = accuracy(logits, labels)`
class MetricEntry : public Node {
public:
  WEIR_AST_NODE(MetricEntry, Node, metric)
  Identifier name;
  ExprPtr value;
};

/// `update adamw(lr, decay = 0.1) where rank >= 2`
class UpdateEntry : public Node {
public:
  WEIR_AST_NODE(UpdateEntry, Node, update)
  std::unique_ptr<CallExpr> optimizer; ///< without the parameter and gradient, without a path
  ExprPtr where;                       ///< null: every parameter
};

class TrainItem : public Item {
public:
  WEIR_AST_NODE(TrainItem, Item, train)
  /// In the order written: an AssignStmt or one of the entries above. What may occur how often is
  /// the elaborator's to say.
  std::vector<std::unique_ptr<Node>> entries;
  Range keyword;
};

/// `precision f32 where contains(name, "router")`
class PinEntry : public Node {
public:
  WEIR_AST_NODE(PinEntry, Node, pin)
  Identifier precision;
  ExprPtr where; ///< null: every op
};

/// `recompute where matches(path, "h.*.mlp")`
class RecomputeEntry : public Node {
public:
  WEIR_AST_NODE(RecomputeEntry, Node, recompute)
  ExprPtr where; ///< null: every block
};

/// `shard "h.*.mlp.c_fc.weight" on tp dim 0`
class ShardEntry : public Node {
public:
  WEIR_AST_NODE(ShardEntry, Node, shard)
  ExprPtr pattern; ///< of parameters' names
  Identifier axis; ///< of a mesh
  ExprPtr dimension;
};

/// `plan { … }`: choices that are otherwise the compiler's.
class PlanItem : public Item {
public:
  WEIR_AST_NODE(PlanItem, Item, plan)
  std::vector<std::unique_ptr<Node>> entries; ///< of the three above
  Range keyword;
};

/// One file. A parse that reported errors leaves out what it could not understand.
struct Module {
  const SourceFile *file = nullptr;
  std::vector<ItemPtr> items;
};

#undef WEIR_AST_NODE

} // namespace weir::ast

#endif

//===- Statements.cpp - Bodies, loops and branches ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "support/NearestName.h"

namespace weir::elab {

/// Loops are unrolled; more rounds than this are a mistake.
constexpr uint64_t maxRounds = 100000;
/// Statements and rounds of one walk over the recipe: a few seconds of work.
constexpr uint64_t maxWork = 1000000;

static const char inOneBranch[] = "is bound in only one branch of an `if`";

void Elaborator::execute(const ast::Body &body) {
  for (size_t i = 0; i < body.statements.size(); ++i) {
    const ast::Stmt &stmt = *body.statements[i];
    if (i > 0 && llvm::isa<ast::ReturnStmt>(body.statements[i - 1].get()))
      error(stmt.range, "this is never reached: the `return` above ends the body");
    if (current->returned || reporter.stopped)
      return; // a branch taken above returned
    countWork(stmt.range);
    execute(stmt);
  }
}

void Elaborator::countWork(Range range) {
  if (++work > maxWork && !reporter.stopped)
    reporter
        .stop(range, "the model unrolls into more than " + std::to_string(maxWork) + " statements")
        .help("every loop is unrolled and every call walked when compiling; put more into each "
              "tensor and less into loops");
}

void Elaborator::execute(const ast::Stmt &stmt) {
  if (const auto *node = llvm::dyn_cast<ast::AssignStmt>(&stmt))
    return assign(*node);
  if (const auto *node = llvm::dyn_cast<ast::ParamStmt>(&stmt))
    return declareParam(*node);
  if (const auto *node = llvm::dyn_cast<ast::StateStmt>(&stmt))
    return declareState(*node);
  if (const auto *node = llvm::dyn_cast<ast::NextStmt>(&stmt))
    return setNext(*node);
  if (const auto *node = llvm::dyn_cast<ast::ForStmt>(&stmt))
    return forLoop(*node);
  if (const auto *node = llvm::dyn_cast<ast::IfStmt>(&stmt))
    return ifElse(*node);
  if (const auto *node = llvm::dyn_cast<ast::ReturnStmt>(&stmt))
    return returnValues(*node);
  if (const auto *node = llvm::dyn_cast<ast::LetStmt>(&stmt))
    return let(*node);
  if (const auto *node = llvm::dyn_cast<ast::RequireStmt>(&stmt)) {
    // What follows would only repeat it in other words.
    if (!requirementHolds(node->requirement, *this))
      current->returned = current->refused = true;
    return;
  }
  llvm_unreachable("a statement of no kind");
}

//===----------------------------------------------------------------------===//
// Binding names
//===----------------------------------------------------------------------===//

void Elaborator::assign(const ast::AssignStmt &stmt) {
  std::vector<Value> values;
  std::vector<std::string> configs;
  for (const ast::ExprPtr &expr : stmt.values) {
    values.push_back(evaluate(*expr));
    configs.push_back(current->configOf(*expr));
  }
  size_t targets = stmt.targets.size();
  if (values.size() == 1 && targets > 1) {
    const std::vector<Value> *members = values.front().members();
    if (members && members->size() == targets) {
      values = std::vector<Value>(*members);
    } else {
      if (!values.front().isPoison())
        error(stmt.range, std::to_string(targets) + " names, but " +
                              (members ? values.front().describe()
                                       : "one value: " + values.front().describe()));
      values.assign(targets, Value());
    }
    configs.assign(targets, "");
  } else if (values.size() != targets) {
    error(stmt.range, std::to_string(targets) + (targets == 1 ? " name" : " names") + ", but " +
                          std::to_string(values.size()) + " values");
    values.assign(targets, Value());
    configs.assign(targets, "");
  } else if (targets == 1 && values.front().members()) {
    error(stmt.range, "one name, but " + values.front().describe())
        .help("`a, b = …` takes several values");
    values.front() = Value();
  }
  for (size_t i = 0; i < targets; ++i)
    bind(stmt.targets[i], values[i], configs[i],
         stmt.values[std::min(i, stmt.values.size() - 1)]->range);
}

static std::string kindName(const Value &value) {
  if (value.get<int64_t>())
    return "an int";
  if (value.get<double>())
    return "a float";
  return value.describe();
}

/// Whether a name may hold first the one and then the other after a loop or branch.
static bool sameType(const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison())
    return true;
  const Tensor *x = a.get<Tensor>(), *y = b.get<Tensor>();
  if (x && y)
    return x->element() == y->element() && sameSizes(x->dims, y->dims);
  return !x && !y && a.kind() == b.kind();
}

void Elaborator::bind(const ast::Identifier &target, Value value, std::string config, Range given) {
  Binding binding{std::move(value), target.range, std::move(config), {}, false};
  Scope *scope = current->scope;
  // In a loop or branch a name from outside is carried out; its type may not change on the way.
  for (Scope *outer = scope->outer; outer && !scope->names.count(target.text);
       outer = outer->outer) {
    auto found = outer->names.find(target.text);
    if (found == outer->names.end())
      continue;
    if (!sameType(found->second.value, binding.value)) {
      error(target.range, "`" + target.text + "` is " + kindName(found->second.value) +
                              " outside and would become " + kindName(binding.value) +
                              " here; a loop or branch may not change a name's type")
          .note(found->second.range, "bound here")
          .note(given, "becomes this")
          .help("use another name");
      binding.value = Value();
    }
    found->second = std::move(binding);
    return;
  }
  scope->names[target.text] = std::move(binding);
}

void Elaborator::let(const ast::LetStmt &stmt) {
  std::vector<CallArgument> options = evaluateArguments(stmt.arguments);
  const ast::CallableItem *callable = findCallable(stmt.callee.text);
  if (!callable) {
    reporter.unknown(stmt.callee.range, "unknown block `" + stmt.callee.text + "`")
        .suggest(nearestName(stmt.callee.text, visibleCallables()));
    return bind(stmt.name, {});
  }
  if (callable->callableKind != ast::CallableKind::block &&
      callable->callableKind != ast::CallableKind::model) {
    error(stmt.callee.range,
          "`let` makes an instance of a block; `" + stmt.callee.text + "` is " +
              (callable->callableKind == ast::CallableKind::function ? "a fn" : "an optimizer"))
        .note(callable->name.range, "declared here");
    return bind(stmt.name, {});
  }
  std::shared_ptr<Instance> instance =
      instances.instantiate(*callable, stmt.path, stmt.callee.range, entry());
  if (!instance)
    return bind(stmt.name, {});
  for (CallArgument &option : options) {
    if (!option.name) {
      error(option.range, "a `let` takes named arguments only; tensors are given to its calls");
      continue;
    }
    instance->options.push_back(std::move(option));
  }
  bind(stmt.name, instance);
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

void Elaborator::forLoop(const ast::ForStmt &stmt) {
  auto begin = evaluateInt(*stmt.begin, "the beginning of a range");
  auto end = evaluateInt(*stmt.end, "the end of a range");
  // Unsigned, since a range may span more than half of the ints.
  uint64_t rounds = begin && end && *begin < *end ? uint64_t(*end) - uint64_t(*begin) : 0;
  if (rounds > maxRounds) {
    error(stmt.begin->range, "a loop of " + std::to_string(rounds) +
                                 " rounds; loops are unrolled and have at most " +
                                 std::to_string(maxRounds));
    end = *begin;
  }
  auto round = [&](Value index) {
    InnerScope scope(*current);
    current->bind(stmt.variable, std::move(index));
    execute(stmt.body);
  };
  if (!begin || !end)
    return round({}); // once, for what else is wrong inside
  for (int64_t i = *begin; i < *end && !current->returned && !reporter.stopped; ++i) {
    countWork(stmt.begin->range);
    round(i);
  }
}

/// The names that every way through `body` binds.
static std::map<std::string, Range> boundNames(const ast::Body &body) {
  std::map<std::string, Range> names;
  for (const ast::StmtPtr &stmt : body.statements) {
    if (const auto *assign = llvm::dyn_cast<ast::AssignStmt>(stmt.get())) {
      for (const ast::Identifier &target : assign->targets)
        names.emplace(target.text, target.range);
    } else if (const auto *param = llvm::dyn_cast<ast::ParamStmt>(stmt.get())) {
      names.emplace(param->name.text, param->name.range);
    } else if (const auto *state = llvm::dyn_cast<ast::StateStmt>(stmt.get())) {
      names.emplace(state->name.text, state->name.range);
    } else if (const auto *branch = llvm::dyn_cast<ast::IfStmt>(stmt.get())) {
      if (!branch->otherwise)
        continue;
      auto then = boundNames(branch->then), otherwise = boundNames(*branch->otherwise);
      for (auto &[name, range] : then)
        if (otherwise.count(name))
          names.emplace(name, range);
    }
  }
  return names;
}

void Elaborator::executeBranch(const ast::Body &body, const ast::Body *other) {
  std::map<std::string, Range> elsewhere;
  if (other)
    elsewhere = boundNames(*other);
  Scope scope, *outer = current->scope;
  scope.outer = outer;
  current->scope = &scope;
  execute(body);
  current->scope = outer;
  for (auto &[name, binding] : scope.names) {
    if (elsewhere.count(name))
      outer->names[name] = std::move(binding);
    else
      outer->hidden[name] = {binding.range, inOneBranch};
  }
  for (auto &[name, range] : elsewhere)
    if (!scope.names.count(name))
      outer->hidden[name] = {range, inOneBranch};
}

static bool mayReturn(const ast::Body &body) {
  bool found = false;
  visit(body, [&](const ast::Stmt &stmt) { found |= llvm::isa<ast::ReturnStmt>(stmt); });
  return found;
}

static bool mustReturn(const ast::Body &body) {
  return llvm::any_of(body.statements, [](const ast::StmtPtr &stmt) {
    const auto *branch = llvm::dyn_cast<ast::IfStmt>(stmt.get());
    if (!branch)
      return llvm::isa<ast::ReturnStmt>(stmt.get());
    return branch->otherwise && mustReturn(branch->then) && mustReturn(*branch->otherwise);
  });
}

void Elaborator::ifElse(const ast::IfStmt &stmt) {
  auto condition = evaluateCondition(*stmt.condition, "the condition of an `if`");
  const ast::Body *otherwise = stmt.otherwise ? &*stmt.otherwise : nullptr;
  if (!condition) {
    // Which branch is unknown after an error; what both bind is unknown too.
    if (otherwise) {
      auto then = boundNames(stmt.then);
      for (const auto &[name, range] : boundNames(*otherwise))
        if (then.count(name))
          bind({name, range}, {});
    }
    current->undecided |= mayReturn(stmt.then) || (otherwise && mayReturn(*otherwise));
    current->returned |= mustReturn(stmt.then) && otherwise && mustReturn(*otherwise);
    return;
  }
  if (*condition)
    executeBranch(stmt.then, otherwise);
  else if (otherwise)
    executeBranch(*otherwise, &stmt.then);
  else
    for (const auto &[name, range] : boundNames(stmt.then))
      if (!current->scope->find(name))
        current->scope->hidden[name] = {range, inOneBranch};
}

void Elaborator::returnValues(const ast::ReturnStmt &stmt) {
  std::vector<Value> values;
  for (const ast::ExprPtr &expr : stmt.values)
    values.push_back(evaluate(*expr));
  current->resultRanges.clear();
  for (const ast::ExprPtr &expr : stmt.values)
    current->resultRanges.push_back(expr->range);
  if (!current->callable || current->callable->callableKind == ast::CallableKind::optimizer) {
    error(stmt.range, current->callable
                          ? "an optimizer returns nothing; `next p = …` changes the parameter"
                          : "`return` stands in a fn, block or model");
    return;
  }
  current->result = values.size() == 1 ? values.front() : Value::tuple(std::move(values));
  current->returned = true;
}

} // namespace weir::elab

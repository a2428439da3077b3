//===- Unused.cpp - What a file says and nothing uses -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/warnings/Unused.h"

#include <map>
#include <set>

namespace weir {

using namespace ast;

namespace {

using Names = std::set<std::string>;

template <typename To> const To *as(const Node *node) {
  return node && To::classof(node) ? static_cast<const To *>(node) : nullptr;
}

bool isMeantUnused(const Identifier &name) { return name.text[0] == '_'; }

/// What a definition is called among the names that are read: it may share one with a value.
std::string asCallee(const std::string &name) { return name + "("; }

/// The names that an expression reads, and what it calls: a definition, or an instance, which is
/// read by calling it.
void addReads(const Expr &expr, Names &names) {
  visit(expr, [&](const Expr &inner) {
    if (const auto *name = as<NameExpr>(&inner))
      names.insert(name->name);
    else if (const auto *call = as<CallExpr>(&inner))
      names.insert({call->callee.text, asCallee(call->callee.text)});
  });
}

void addReads(const ExprPtr &expr, Names &names) {
  if (expr)
    addReads(*expr, names);
}

void addReads(const std::vector<Argument> &arguments, const std::optional<Path> &path,
              Names &names) {
  for (const Argument &argument : arguments)
    addReads(*argument.value, names);
  if (path)
    for (const Path::Component &component : path->components)
      for (const ExprPtr &index : component.indices)
        addReads(*index, names);
}

void addReads(const Type *type, Names &names) {
  if (const auto *tensor = as<TensorType>(type))
    for (const ExprPtr &dim : tensor->dims)
      addReads(*dim, names);
}

/// What a statement itself reads, not the statements inside it.
void addReads(const Stmt &stmt, Names &names) {
  if (const auto *node = as<AssignStmt>(&stmt)) {
    for (const ExprPtr &value : node->values)
      addReads(value, names);
  } else if (const auto *node = as<ParamStmt>(&stmt)) {
    addReads(node->type.get(), names);
    addReads(node->init, names);
  } else if (const auto *node = as<StateStmt>(&stmt)) {
    addReads(node->type.get(), names);
    addReads(node->init, names);
  } else if (const auto *node = as<NextStmt>(&stmt)) {
    addReads(node->value, names);
  } else if (const auto *node = as<RequireStmt>(&stmt)) {
    addReads(node->requirement.condition, names);
  } else if (const auto *node = as<LetStmt>(&stmt)) {
    addReads(node->arguments, node->path, names);
  } else if (const auto *node = as<ReturnStmt>(&stmt)) {
    for (const ExprPtr &value : node->values)
      addReads(value, names);
  } else if (const auto *node = as<ForStmt>(&stmt)) {
    addReads(node->begin, names);
    addReads(node->end, names);
  } else if (const auto *node = as<IfStmt>(&stmt)) {
    addReads(node->condition, names);
  }
}

//===----------------------------------------------------------------------===//
// Bindings: which names are read after a statement, from the last one backwards
//===----------------------------------------------------------------------===//

class Liveness {
public:
  explicit Liveness(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  /// Turns what is live after the body into what is before it.
  void body(const Body &body, Names &live) {
    for (size_t i = body.statements.size(); i-- > 0;)
      statement(*body.statements[i], live);
  }

  /// Warns of what the assignment binds and nothing after it reads.
  void check(const AssignStmt &stmt, const Names &live) {
    // Several results come together: what needs one of them has to take them all.
    bool together = stmt.values.size() != stmt.targets.size();
    bool used = false;
    for (const Identifier &target : stmt.targets)
      used |= live.count(target.text) != 0;
    for (const Identifier &target : stmt.targets)
      if (together ? !used : live.count(target.text) == 0)
        unused(target);
  }

private:
  void assign(const AssignStmt &stmt, Names &live) {
    check(stmt, live);
    for (const Identifier &target : stmt.targets)
      live.erase(target.text);
    addReads(static_cast<const Stmt &>(stmt), live);
  }

  void unused(const Identifier &name) {
    if (!isMeantUnused(name))
      diagnostics.warning(name.range, Warning::unusedBinding,
                          "the value bound to `" + name.text + "` here is never used");
  }

  void statement(const Stmt &stmt, Names &live) {
    if (const auto *node = as<AssignStmt>(&stmt))
      return assign(*node, live);
    if (const auto *node = as<ForStmt>(&stmt))
      return loop(*node, live);
    if (const auto *node = as<ParamStmt>(&stmt))
      live.erase(node->name.text);
    else if (const auto *node = as<StateStmt>(&stmt))
      live.erase(node->name.text);
    else if (const auto *node = as<LetStmt>(&stmt); node && live.erase(node->name.text) == 0)
      unused(node->name);
    else if (as<ReturnStmt>(&stmt))
      live.clear();
    else if (const auto *node = as<IfStmt>(&stmt)) {
      Names otherwise = live;
      if (node->otherwise)
        body(*node->otherwise, otherwise);
      body(node->then, live);
      live.merge(otherwise);
    }
    addReads(stmt, live);
  }

  void loop(const ForStmt &stmt, Names &live) {
    // What a round reads, the round before it may have bound.
    Names round = live;
    visit(stmt.body, [&](const Stmt &inner) { addReads(inner, round); });
    body(stmt.body, round);
    round.erase(stmt.variable.text);
    live.merge(round);
    addReads(static_cast<const Stmt &>(stmt), live);
  }

  Diagnostics &diagnostics;
};

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

void warnStates(const Body &body, Diagnostics &diagnostics) {
  std::map<std::string, Range> states;
  Names nexts, reads;
  visit(body, [&](const Stmt &stmt) {
    Names read;
    addReads(stmt, read);
    if (const auto *state = as<StateStmt>(&stmt); state && !isMeantUnused(state->name))
      states[state->name.text] = state->name.range;
    if (const auto *next = as<NextStmt>(&stmt)) {
      nexts.insert(next->name.text);
      read.erase(next->name.text); // that is no use of it
    }
    reads.merge(read);
  });
  for (const auto &[name, range] : states) {
    if (!reads.count(name))
      diagnostics.warning(range, Warning::unusedState,
                          "the state `" + name + "` is never read" +
                              (nexts.count(name) ? " but for its own next value" : ""));
    else if (!nexts.count(name))
      diagnostics
          .warning(range, Warning::unusedState,
                   "the state `" + name + "` always keeps its first value")
          .help("`next " + name + " = …` says what it is after the step");
  }
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Names readsOf(const CallableItem &callable) {
  Names names;
  for (const Parameter &parameter : callable.parameters) {
    addReads(parameter.type.get(), names);
    addReads(parameter.defaultValue, names);
  }
  for (const TypePtr &result : callable.results)
    addReads(result.get(), names);
  visit(callable.body, [&](const Stmt &stmt) {
    addReads(stmt, names);
    if (const auto *next = as<NextStmt>(&stmt))
      names.insert(next->name.text);
    else if (const auto *let = as<LetStmt>(&stmt))
      names.insert(asCallee(let->callee.text));
  });
  return names;
}

/// What an entry of the recipe reads.
void addReadsOfEntry(const Node &entry, Names &names) {
  if (const auto *assign = as<AssignStmt>(&entry)) {
    addReads(static_cast<const Stmt &>(*assign), names);
  } else if (const auto *input = as<InputEntry>(&entry)) {
    addReads(input->type.get(), names);
  } else if (const auto *value = as<ValueEntry>(&entry)) {
    addReads(value->value, names);
  } else if (const auto *metric = as<MetricEntry>(&entry)) {
    addReads(metric->value, names);
  } else if (const auto *update = as<UpdateEntry>(&entry)) {
    addReads(*update->optimizer, names);
    addReads(update->where, names);
  }
}

class File {
public:
  File(const Module &module, Diagnostics &diagnostics) : module(module), diagnostics(diagnostics) {
    for (const ItemPtr &item : module.items) {
      if (const auto *callable = as<CallableItem>(item.get()))
        reads[callable] = readsOf(*callable);
      else if (as<TrainItem>(item.get()))
        train = as<TrainItem>(item.get());
    }
  }

  void warn() {
    for (const auto &[callable, names] : reads)
      warnCallable(*callable, names);
    if (train) {
      warnRecipe();
      warnDefinitions();
    }
    warnConfigs();
  }

private:
  Diagnostic &unused(Warning warning, const Identifier &name, const std::string &message) {
    return diagnostics.warning(name.range, warning, message);
  }

  void warnCallable(const CallableItem &callable, const Names &names) {
    Names live;
    Liveness(diagnostics).body(callable.body, live);
    warnStates(callable.body, diagnostics);
    if (callable.body.statements.empty())
      return; // what does nothing, as `frozen` does, needs nothing
    for (const Parameter &parameter : callable.parameters)
      if (!names.count(parameter.name.text) && !isMeantUnused(parameter.name))
        unused(Warning::unusedArgument, parameter.name,
               "the argument `" + parameter.name.text + "` of `" + callable.name.text +
                   "` is never used");
  }

  void warnRecipe() {
    Names live;
    // Where these stand among the others does not matter.
    for (const auto &entry : train->entries)
      if (!as<AssignStmt>(entry.get()))
        addReadsOfEntry(*entry, live);
    Liveness liveness(diagnostics);
    for (size_t i = train->entries.size(); i-- > 0;)
      if (const auto *assign = as<AssignStmt>(train->entries[i].get())) {
        // What it binds stays live: a metric above may read what is bound again below.
        liveness.check(*assign, live);
        addReads(static_cast<const Stmt &>(*assign), live);
      }
    for (const auto &entry : train->entries) {
      if (const auto *input = as<InputEntry>(entry.get())) {
        if (!live.count(input->name.text) && !isMeantUnused(input->name))
          unused(Warning::unusedInput, input->name,
                 "the input `" + input->name.text + "` is never used");
      } else if (entry->kind() == Kind::learningRate && !live.count("lr")) {
        diagnostics
            .warning(as<ValueEntry>(entry.get())->keyword, Warning::unusedBinding,
                     "the learning rate `lr` is given to no optimizer")
            .help("`update sgd(lr)` gives it");
      }
    }
  }

  /// What the recipe, configs, consts, requirements and the plan reach, directly or through what is
  /// called.
  void warnDefinitions() {
    std::map<std::string, const CallableItem *> known;
    for (const auto &[callable, names] : reads)
      known[asCallee(callable->name.text)] = callable;
    Names open, reached;
    for (const auto &entry : train->entries)
      addReadsOfEntry(*entry, open);
    addReadsOfItems(open);
    while (!open.empty()) {
      std::string name = *open.begin();
      open.erase(open.begin());
      auto found = known.find(name);
      if (found != known.end() && reached.insert(name).second)
        open.insert(reads[found->second].begin(), reads[found->second].end());
    }
    for (const auto &[callable, names] : reads)
      if (!reached.count(asCallee(callable->name.text)) && !isMeantUnused(callable->name))
        unused(Warning::unusedDefinition, callable->name,
               std::string("the ") + spelling(callable->callableKind) + " `" + callable->name.text +
                   "` is called by nothing that the recipe reaches");
  }

  /// What the values of configs and consts, the requirements and the plan of the file read.
  void addReadsOfItems(Names &names) const {
    for (const ItemPtr &item : module.items) {
      if (const auto *config = as<ConfigItem>(item.get()))
        for (const NamedValue &entry : config->entries)
          addReads(entry.value, names);
      else if (const auto *constants = as<ConstItem>(item.get()))
        for (const NamedValue &entry : constants->entries)
          addReads(entry.value, names);
      else if (const auto *require = as<RequireItem>(item.get()))
        addReads(require->requirement.condition, names);
      else if (const auto *plan = as<PlanItem>(item.get()))
        for (const auto &entry : plan->entries) {
          if (const auto *pin = as<PinEntry>(entry.get()))
            addReads(pin->where, names);
          if (const auto *recompute = as<RecomputeEntry>(entry.get()))
            addReads(recompute->where, names);
          if (const auto *shard = as<ShardEntry>(entry.get())) {
            addReads(shard->pattern, names);
            addReads(shard->dimension, names);
          }
        }
    }
  }

  void warnConfigs() {
    Names used;
    for (const auto &[callable, names] : reads)
      used.insert(names.begin(), names.end());
    addReadsOfItems(used);
    if (train)
      for (const auto &entry : train->entries)
        addReadsOfEntry(*entry, used);
    auto warn = [&](const std::vector<NamedValue> &entries, const char *what) {
      for (const NamedValue &entry : entries)
        if (!used.count(entry.name.text) && !isMeantUnused(entry.name))
          unused(Warning::unusedConfig, entry.name,
                 std::string("the ") + what + " `" + entry.name.text + "` is never used");
    };
    for (const ItemPtr &item : module.items) {
      if (const auto *config = as<ConfigItem>(item.get()))
        warn(config->entries, "config");
      else if (const auto *constants = as<ConstItem>(item.get()))
        warn(constants->entries, "const");
    }
  }

  const Module &module;
  Diagnostics &diagnostics;
  const TrainItem *train = nullptr;
  std::map<const CallableItem *, Names> reads;
};

} // namespace

void warnUnused(const Module &module, Diagnostics &diagnostics) {
  File(module, diagnostics).warn();
}

} // namespace weir

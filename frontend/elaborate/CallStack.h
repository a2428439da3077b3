//===- CallStack.h - The calls in progress --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The elaborator walks into every call, so the calls in progress form a stack of frames. It answers
// what a name means in the innermost call, and where in the model file a range of the prelude was
// reached from.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_CALLSTACK_H
#define WEIR_FRONTEND_ELABORATE_CALLSTACK_H

#include "frontend/elaborate/Scope.h"

#include <set>

namespace weir::elab {

struct OptimizerTarget;
struct Variable;

/// A call in progress.
struct Frame {
  Frame *caller = nullptr;
  const ast::CallableItem *callable = nullptr; ///< null: the file or the recipe
  FileScope *file = nullptr;
  std::shared_ptr<Instance>
      instance;   ///< what owns its parameters; in a fn the caller's, for its random draws
  Range callSite; ///< in the caller
  Scope *scope = nullptr;
  std::set<std::string> dimensions;      ///< names that are dimensions here, bound or not
  std::map<std::string, Dim> callerDims; ///< dimensions bound here, as the caller knows them
  std::optional<Dims> ellipsis;          ///< what `..` stands for
  bool hasEllipsis = false;              ///< `..` would be known but for an error
  bool faulty = false;    ///< an argument was wrong: what it would have bound is unknown
  bool undecided = false; ///< what an unknown condition chooses may have returned
  OptimizerTarget *target = nullptr;
  struct Declared {
    Variable *variable; ///< null after an error
    Range range;
  };
  std::map<std::string, Declared> declared; ///< parameters and states of this call
  bool returned = false;
  bool refused = false; ///< a requirement does not hold
  Value result;
  std::vector<Range> resultRanges;
  unsigned depth = 0;
  uint64_t execution = 0; ///< tells the runs through bodies apart
  bool again = false;     ///< a `let`'s instance that was called before

  /// What a name is bound to here: in the scopes, then among the file's configs and consts.
  Binding *find(const std::string &name);
  /// Whether a name is bound here, or is a dimension.
  bool isValue(const std::string &name);
  /// The config whose value an expression is; empty where it is none's.
  std::string configOf(const ast::Expr &expr);
  /// Binds a name of the innermost scope.
  void bind(const ast::Identifier &name, Value value, std::string config = {});
};

/// The innermost call in progress; null outside of all. Used like a pointer to its frame.
class CallStack {
public:
  CallStack &operator=(Frame *frame) {
    innermost = frame;
    return *this;
  }
  Frame *get() const { return innermost; }
  Frame *operator->() const { return innermost; }
  Frame &operator*() const { return *innermost; }
  explicit operator bool() const { return innermost; }

  /// Where in the model file a range is: itself, or the call that led into the prelude.
  Range userPlace(Range range) const;
  /// Where an instance is called again by the calls in progress; invalid where none is.
  Range repeatedCall() const;
  /// The calls since the innermost one of `callable`, that one left out, from the innermost on;
  /// empty where it is not in progress.
  std::vector<const Frame *> callsSince(const ast::CallableItem &callable) const;

private:
  Frame *innermost = nullptr;
};

/// Whether a frame or one of its callers is a call of `callable`.
bool isInProgress(const Frame *frame, const ast::CallableItem *callable);

/// A scope inside the innermost one of a frame, for as long as this lives.
class InnerScope : public Scope {
public:
  explicit InnerScope(Frame &frame) : frame(frame) {
    outer = frame.scope;
    frame.scope = this;
  }
  ~InnerScope() { frame.scope = outer; }
  InnerScope(const InnerScope &) = delete;

private:
  Frame &frame;
};

} // namespace weir::elab

#endif

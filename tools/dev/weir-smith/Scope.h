//===- Scope.h - The material a program is built from ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program grows in a scope: the block of an entry, or the body of its microbatches. The scope has
// a pool of values that rules (Rules.h) take operands from and give results to. Each op is tried
// (Trial.h) on the program's own data the moment it is made, so that what f32 cannot decide or hold
// never enters a program.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_SCOPE_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_SCOPE_H

#include "ir/weir/ElementTypes.h"
#include "ir/weir/program/Variable.h"
#include "tools/dev/weir-smith/Trial.h"
#include <random>

namespace weir::smith {

/// Thrown in a rule that cannot go on; what it has made so far is taken back.
struct Refused {};

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t limit) { return static_cast<int64_t>(engine() % uint64_t(limit)); }
  bool chance(double probability) { return unit() < probability; }
  double unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }
  template <class T> T one(std::initializer_list<T> of) { return of.begin()[below(of.size())]; }

private:
  std::mt19937_64 engine;
};

/// A module that grows.
struct Program {
  Program(mlir::MLIRContext &context, uint64_t seed);

  /// A new variable of data in [low, high).
  VariableOp variable(const std::string &name, Role role, mlir::RankedTensorType type, double low,
                      double high);
  std::string newName(const std::string &prefix);

  mlir::MLIRContext &context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Random random;
  bool large;      ///< has tensors that take several tasks
  int ordinal = 0; ///< of names and lines

private:
  VariableOp lastVariable;
};

class Scope {
public:
  /// The scope of an entry.
  Scope(Program &program, mlir::func::FuncOp function);
  /// The scope of a body of `count` microbatches in it; no op holds its block yet.
  Scope(Scope &outer, int64_t count);

  /// Runs a rule, whole or not at all.
  bool attempt(llvm::function_ref<void(Scope &)> rule);

  /// Makes an op and tries it. Throws Refused.
  template <class Op, class... Arguments> Op make(Arguments &&...arguments) {
    Op op = Op::create(builder, location(), std::forward<Arguments>(arguments)...);
    admit(op);
    return op;
  }
  /// A unary or binary elementwise op.
  template <class Op> mlir::Value map(mlir::Value a) { return make<Op>(a); }
  template <class Op> mlir::Value map(mlir::Value a, mlir::Value b) { return make<Op>(a, b); }

  /// Puts a value into the pool, scaled where it would grow too large.
  void give(mlir::Value value);

  // What rules take. Each throws Refused where there is nothing.
  mlir::Value any(llvm::function_ref<bool(mlir::Value)> accept);
  mlir::Value any(Element element, int64_t leastRank = 0, int64_t mostRank = 5);
  mlir::Value number(); ///< f32, or now and then i32
  mlir::Value like(mlir::RankedTensorType type);
  mlir::Value like(mlir::Value value) { return like(tensorType(value)); }
  mlir::Value shaped(llvm::ArrayRef<int64_t> shape, Element element = Element::f32) {
    return like(type(shape, element));
  }
  /// Whole numbers in [0, limit).
  mlir::Value indices(llvm::ArrayRef<int64_t> shape, int64_t limit);
  /// The absolute values are at least 0.2.
  mlir::Value awayFromZero(mlir::Value value);
  mlir::Value positive(mlir::Value value);
  mlir::Value constant(mlir::Type type, double value);
  /// value * factor + offset
  mlir::Value scaled(mlir::Value value, double factor, double offset = 0);
  /// A value that no op makes: a parameter, an input, a state.
  mlir::Value source(mlir::RankedTensorType type);
  mlir::Value fresh(mlir::RankedTensorType type);
  mlir::Value parameter(mlir::RankedTensorType type);
  mlir::Value input(mlir::RankedTensorType type, double low, double high);
  mlir::Value state(mlir::RankedTensorType type);
  mlir::Value runScalar(llvm::StringRef name);
  mlir::Value read(llvm::StringRef name);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  Shape shape(int64_t leastRank, int64_t mostRank, int64_t mostElements = 0);
  int64_t size(int64_t most = 0);
  /// Of a result that grows out of its operands.
  int64_t mostElements() const { return program.large ? 60000 : 4000; }
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape, Element element = Element::f32);
  const Known &known(mlir::Value value) { return trial->values.find(value)->second; }

  /// Whether the loss's gradient may go through the value to a parameter; `blocked` where it would
  /// meet an op without one.
  bool isActive(mlir::Value value) const { return active.contains(value); }
  bool isBlocked(mlir::Value value) const {
    return blocked.contains(value) || (outer && outer->isBlocked(value));
  }

  mlir::Location location();
  Random &random() { return program.random; }

  struct State {
    std::string variable;
    mlir::Value old;
  };

  Program &program;
  mlir::func::FuncOp function;
  Scope *outer = nullptr;
  int64_t microbatches = 1;
  mlir::Block *block;
  mlir::OpBuilder builder;
  std::shared_ptr<Trial> trial;
  std::vector<mlir::Value> pool;
  std::vector<State> states;                ///< of this scope
  std::vector<mlir::Value> sliced;          ///< what the body's arguments are parts of
  std::vector<std::string> parameters;      ///< read in this scope or its body
  std::vector<std::string> sharedVariables; ///< parameters that exist before the entry
  std::map<std::string, mlir::Value> reads; ///< of an entry
  mlir::Value round;
  bool trying = true; ///< ops are tried; not so behind a weir.gradient

private:
  void admit(mlir::Operation *op);
  mlir::Value reshaped(llvm::ArrayRef<int64_t> shape, Element element);
  Scope &top() { return outer ? *outer : *this; }

  llvm::DenseSet<mlir::Value> active, blocked;
};

Element elementOf(mlir::Value value);

/// One of the floats of low precision.
Element lowElement(Random &random);

} // namespace weir::smith

#endif

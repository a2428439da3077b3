//===- Update.cpp - Clipping, optimizers, states --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/recipe/Recipe.h"
#include "tools/dev/weir-smith/Step.h"

using namespace mlir;

namespace weir::smith {
namespace {

Value spread(Scope &s, Value scalar, Type like) {
  auto type = cast<RankedTensorType>(like);
  return type.getRank() == 0 ? scalar : s.broadcast(scalar, type.getShape());
}

/// factor * value
Value times(Scope &s, double factor, Value value) {
  return s.map<MulOp>(value, s.constant(value.getType(), factor));
}

Value learningRate(Scope &s) {
  Type scalar = s.type({});
  switch (s.random().below(3)) {
  case 0:
    return s.constant(scalar, 0.125);
  case 1: { // falls with the step
    Value step = s.make<CastOp>(scalar, s.runScalar("step"));
    Value all = s.make<CastOp>(scalar, s.runScalar("total_steps"));
    return times(s, 0.25, s.map<CosOp>(s.map<DivOp>(step, all)));
  }
  default: { // warms up
    Value step = s.make<CastOp>(scalar, s.runScalar("step"));
    Value early = s.make<CompareOp>(Predicate::lt, step, s.constant(scalar, 8));
    Value rising = times(s, 0.0625, s.map<AddOp>(step, s.constant(scalar, 1)));
    return s.make<SelectOp>(scalar, early, rising, s.constant(scalar, 0.5));
  }
  }
}

enum class OptimizerRule { sgd, momentum, adam };

class Updater {
public:
  Updater(Scope &s, Value rate) : s(s), rate(rate) {}

  void write(const std::string &name, Value next) { writes.emplace_back(name, next); }

  /// Writes all, where all that is written and the scalars are finite. Returns whether they are.
  Value commit(ArrayRef<Value> scalars) {
    SmallVector<Value> deciding(scalars);
    for (auto &[name, next] : writes)
      if (elementOf(next) == Element::f32)
        deciding.push_back(next);
    Value finite = AllFiniteOp::create(s.builder, s.location(), deciding);
    for (auto &[name, next] : writes)
      WriteOp::create(s.builder, s.location(), name, next, finite);
    return finite;
  }

  void update(const Trained &one, OptimizerRule rule) {
    Value p = s.read(one.name), g = one.gradient, step = g;
    if (rule == OptimizerRule::momentum) {
      std::string name = state("momentum.m/" + one.name, p, -1, 1);
      step = s.map<AddOp>(times(s, 0.9, s.read(name)), g);
      write(name, step);
    } else if (rule == OptimizerRule::adam) {
      step = adam(one, p, g);
    }
    write(one.name, s.map<SubOp>(p, s.map<MulOp>(spread(s, rate, p.getType()), step)));
  }

private:
  std::string state(const std::string &name, Value like, double low, double high) {
    s.program.variable(name, Role::optimizer, tensorType(like), low, high);
    return name;
  }

  Value adam(const Trained &one, Value p, Value g) {
    constexpr double beta1 = 0.75, beta2 = 0.875;
    // Far from zero, so that noise in a gradient is not divided by noise.
    std::string m = state("adam.m/" + one.name, p, -1, 1);
    std::string v = state("adam.v/" + one.name, p, 0.5, 1.5);
    Value m1 = s.map<AddOp>(times(s, beta1, s.read(m)), times(s, 1 - beta1, g));
    Value v1 = s.map<AddOp>(times(s, beta2, s.read(v)), times(s, 1 - beta2, s.map<MulOp>(g, g)));
    write(m, m1);
    write(v, v1);
    Type scalar = s.type({});
    Value t = s.make<CastOp>(
        scalar, s.map<AddOp>(s.runScalar("step"), s.constant(s.type({}, Element::i32), 1)));
    auto corrected = [&](Value moment, double beta) {
      Value rest = s.map<SubOp>(s.constant(scalar, 1), s.map<PowOp>(s.constant(scalar, beta), t));
      return s.map<DivOp>(moment, spread(s, rest, p.getType()));
    };
    Value below = s.map<SqrtOp>(corrected(v1, beta2));
    Value step =
        s.map<DivOp>(corrected(m1, beta1), s.map<AddOp>(below, s.constant(p.getType(), 1e-8)));
    return s.random().chance(0.5) ? s.map<AddOp>(step, times(s, 0.0625, p)) : step;
  }

  Scope &s;
  Value rate;
  std::vector<std::pair<std::string, Value>> writes;
};

} // namespace

Value nextState(Scope &s, const Scope::State &state) {
  Value old = state.old, other = s.like(old);
  if (elementOf(old) == Element::f32)
    return s.map<AddOp>(s.scaled(old, 0.75), s.scaled(other, 0.25));
  return s.random().chance(0.5) ? s.map<AddOp>(old, s.constant(old.getType(), 1)) : other;
}

void makeUpdate(Scope &s, Value loss, std::vector<Trained> trained,
                ArrayRef<std::pair<std::string, Value>> nexts, std::vector<Output> &outputs) {
  Type scalar = s.type({});
  Value limit;
  SmallVector<Value> gradients =
      llvm::map_to_vector(trained, [](const Trained &one) { return one.gradient; });
  SmallVector<Type> types;
  if (s.random().chance(0.4)) {
    limit = s.constant(scalar, 0.75);
    llvm::append_range(types, ValueRange(gradients).getTypes());
  }
  auto clip = ClipOp::create(s.builder, s.location(), scalar, types, gradients, limit);
  for (auto [one, clipped] : llvm::zip(trained, clip.getClipped()))
    one.gradient = clipped;
  Value rate = learningRate(s);
  Updater updater(s, rate);
  for (auto &[name, next] : nexts)
    updater.write(name, next);
  OptimizerRule most =
      s.random().one({OptimizerRule::sgd, OptimizerRule::momentum, OptimizerRule::adam});
  for (const Trained &one : trained)
    updater.update(one, s.random().chance(0.7) ? most : OptimizerRule::sgd);
  Value finite = updater.commit({loss, clip.getNorm(), rate});
  Value step = s.runScalar("step");
  WriteOp::create(s.builder, s.location(), runStepName,
                  s.map<AddOp>(step, s.constant(step.getType(), 1)));
  outputs.push_back({"lr", "scalar", rate});
  outputs.push_back({"grad_norm", "scalar", clip.getNorm()});
  outputs.push_back({"skipped", "scalar", s.make<CastOp>(scalar, s.map<NotOp>(finite))});
}

} // namespace weir::smith

//===- BuiltinsProgram.cpp - Initial values, randomness, ratios -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "ir/weir/requests/Blocks.h"

namespace weir::elab {

static Value zeros(BuiltinCall &) { return Initializer{Initializer::Kind::constant, 0, 0}; }
static Value ones(BuiltinCall &) { return Initializer{Initializer::Kind::constant, 1, 0}; }

static Value zerosLike(BuiltinCall &call) {
  const Tensor *x = call.tensor(0);
  if (!x)
    return {};
  if (x->isByte())
    return call.wrong(0, "a tensor of floats or i32");
  Elaborator &elaborator = call.elaborator;
  Value zero = elaborator.tensors.constant(0, x->isLow() ? elaborator.tensors.f32() : x->element(),
                                           x->dims, call.range);
  return elaborator.tensors.cast(*zero.get<Tensor>(), x->element(), call.range);
}

static Value normal(BuiltinCall &call) {
  auto std = call.number(0, 1.0), mean = call.number(1, 0.0);
  if (!std || !mean)
    return {};
  if (*std < 0 || !fitsFloat(*std))
    return call.wrong(0, "at least 0 and an f32");
  if (!fitsFloat(*mean))
    return call.wrong(1, "an f32");
  return Initializer{Initializer::Kind::normal, *mean, *std};
}

static Value uniform(BuiltinCall &call) {
  auto low = call.number(0, 0.0), high = call.number(1, 1.0);
  if (!low || !high)
    return {};
  if (*high < *low) {
    call.error("`uniform` from " + describe(*low) + " to " + describe(*high) + " is empty");
    return {};
  }
  if (!fitsFloat(*low) || !fitsFloat(*high - *low)) {
    call.error("`uniform` from " + describe(*low) + " to " + describe(*high) +
               " is wider than an f32");
    return {};
  }
  return Initializer{Initializer::Kind::uniform, *low, *high};
}

static Value randomLike(BuiltinCall &call, Distribution distribution) {
  const Tensor *x = call.tensor(0);
  if (!x)
    return {};
  if (call.elaborator.entry())
    return call.elaborator.draw(x->dims, distribution, call.range);
  call.error(std::string("`") + call.builtin.name +
             "` belongs to a run; configs, consts and requirements do not know it");
  return {};
}
static Value randomUniform(BuiltinCall &call) { return randomLike(call, Distribution::uniform); }
static Value randomNormal(BuiltinCall &call) { return randomLike(call, Distribution::normal); }

static Value ratio(BuiltinCall &call) {
  Elaborator &e = call.elaborator;
  Value first = call.value(0);
  const Tensor *sum = e.tensors.asTensor(first, e.tensors.f32(), call.rangeOf(0));
  if (first.isPoison())
    return {};
  if (!sum || sum->rank() != 0 || !sum->isFloat())
    return call.wrong(0, "a scalar f32");
  RatioTerm term;
  term.sum = sum->value;
  term.range = call.range;
  if (call.value(1).isNumber()) {
    term.staticCount = call.value(1).number();
    if (!(term.staticCount > 0) || !fitsFloat(term.staticCount * double(INT32_MAX)))
      return call.wrong(1, "positive and at most 1e29");
  } else {
    const auto *count = call.value(1).get<Tensor>();
    if (!count || count->rank() != 0 || count->isByte())
      return call.wrong(1, "a number or a scalar");
    term.count = e.tensors.cast(*count, e.tensors.f32(), call.rangeOf(1)).value;
  }
  return Ratio{{term}};
}

static bool startsWith(llvm::StringRef text, llvm::StringRef part) {
  return text.starts_with(part);
}
static bool endsWith(llvm::StringRef text, llvm::StringRef part) { return text.ends_with(part); }
static bool contains(llvm::StringRef text, llvm::StringRef part) { return text.contains(part); }

template <bool (*test)(llvm::StringRef, llvm::StringRef)> static Value textTest(BuiltinCall &call) {
  const auto *text = call.value(0).get<std::string>(), *part = call.value(1).get<std::string>();
  if (!text || !part)
    return call.wrong(text ? 1 : 0, "a text");
  return test(*text, *part);
}

const std::vector<Builtin> programBuiltins = {
    {"zeros", "", zeros},
    {"ones", "", ones},
    {"zeros_like", "x", zerosLike},
    {"normal", "std=, mean=", normal},
    {"uniform", "low=, high=", uniform},
    {"random_uniform", "like", randomUniform},
    {"random_normal", "like", randomNormal},
    {"ratio", "sum, count", ratio},
    {"starts_with", "text, part", textTest<startsWith>},
    {"ends_with", "text, part", textTest<endsWith>},
    {"contains", "text, part", textTest<contains>},
    {"matches", "text, pattern", textTest<matchesPath>},
};

} // namespace weir::elab

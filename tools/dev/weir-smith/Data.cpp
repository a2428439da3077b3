//===- Data.cpp - The numbers a program runs on ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Variable.h"
#include "tools/dev/weir-smith/Trial.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <random>

using namespace mlir;

namespace weir::smith {

Tensor draw(ModuleOp module, StringRef name, Type type, DictionaryAttr attributes) {
  auto bound = [&](StringRef key, double fallback) {
    auto found = attributes ? dyn_cast_or_null<FloatAttr>(attributes.get(key)) : FloatAttr();
    return found ? found.getValueAsDouble() : fallback;
  };
  auto seed = module->getAttrOfType<IntegerAttr>("smith.seed");
  std::mt19937_64 random((seed ? seed.getInt() : 0) ^ llvm::xxh3_64bits(name));
  auto tensor = cast<RankedTensorType>(type);
  Element element = *elementOf(tensor.getElementType());
  bool whole = rowOf(element).kind != ElementKind::real;
  double low = bound("smith.low", whole ? 0 : -1), high = bound("smith.high", whole ? 2 : 1);
  Tensor result(tensor.getShape());
  for (double &value : result.values) {
    // 53 bits by hand: what a distribution makes of them is the library's business.
    double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    value = low + unit * (high - low);
    value = whole ? std::floor(value) : rounded(element, value);
  }
  return result;
}

Tensors drawInputs(func::FuncOp function) {
  Tensors inputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto name = function.getArgAttrOfType<StringAttr>(i, inputAttrName);
    inputs.push_back(draw(function->getParentOfType<ModuleOp>(),
                          name ? name.getValue() : StringRef("input"), type,
                          function.getArgAttrDict(i)));
  }
  return inputs;
}

std::map<std::string, Tensor> drawVariables(ModuleOp module) {
  std::map<std::string, Tensor> variables;
  for (auto variable : module.getOps<VariableOp>())
    variables[variable.getSymName().str()] =
        draw(module, variable.getSymName(), variable.getType(), variable->getAttrDictionary());
  return variables;
}

} // namespace weir::smith

//===- Strategy.cpp - The strategy of a module ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Strategy.h"
#include "mlir/IR/DialectImplementation.h"
#include "strategy/Fields.h"

using namespace mlir;

namespace weir {

llvm::hash_code hash_value(const Strategy &strategy) {
  return llvm::hash_value(strategy::textOf(strategy));
}

void StrategyAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << strategy::textOf(getValue()) << "\">";
}

Attribute StrategyAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  Strategy strategy;
  if (std::string wrong = strategy::valueOf(text, strategy); !wrong.empty()) {
    parser.emitError(at) << wrong;
    return {};
  }
  return get(parser.getContext(), strategy);
}

void setStrategy(ModuleOp module, const Strategy &strategy) {
  module->setAttr(strategyAttrName, StrategyAttr::get(module.getContext(), strategy));
}

const Strategy &strategyOf(ModuleOp module) {
  static const Strategy standard;
  auto attribute = module->getAttrOfType<StrategyAttr>(strategyAttrName);
  return attribute ? attribute.getValue() : standard;
}

} // namespace weir

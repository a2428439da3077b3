//===- Strategy.cpp - weir-strategy: sets the module's strategy -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Strategy.h"
#include "passes/Passes.h"
#include "strategy/Fields.h"

namespace weir {
#define GEN_PASS_DEF_STRATEGY
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;

namespace {

/// Its options are the fields of a strategy, whatever these are.
struct SetStrategy : weir::impl::StrategyBase<SetStrategy> {
  SetStrategy() { addOptions(); }
  SetStrategy(const SetStrategy &other) : StrategyBase(other) { addOptions(); }

  /// The same errors as of the attribute's text. The base class ignores "=1", lets the last of two
  /// values stand, and says nothing of a field without one.
  LogicalResult
  initializeOptions(StringRef text,
                    llvm::function_ref<LogicalResult(const llvm::Twine &)> report) override {
    weir::Strategy strategy;
    if (std::string wrong = weir::strategy::valueOf(text, strategy); !wrong.empty())
      return report("weir-strategy: " + wrong);
    return StrategyBase::initializeOptions(text, report);
  }

  void runOnOperation() override {
    weir::Strategy strategy;
    auto set = [&](StringRef name, const std::string &text) -> LogicalResult {
      if (std::string wrong = weir::strategy::field(name).set(strategy, text); !wrong.empty())
        return getOperation().emitError() << name << ": " << wrong;
      return success();
    };
    for (const auto &option : options)
      if (option->getNumOccurrences() && failed(set(option->getArgStr(), *option)))
        return signalPassFailure();
    for (const auto &list : lists)
      for (const std::string &text : *list)
        if (failed(set(list->getArgStr(), text)))
          return signalPassFailure();
    weir::setStrategy(getOperation(), strategy);
  }

private:
  void addOptions() {
    for (const weir::strategy::Field &field : weir::strategy::fields())
      if (field.form == weir::strategy::Field::Form::list)
        lists.push_back(std::make_unique<ListOption<std::string>>(*this, field.name,
                                                                  llvm::cl::desc(field.help)));
      else
        options.push_back(
            std::make_unique<Option<std::string>>(*this, field.name, llvm::cl::desc(field.help)));
  }

  std::vector<std::unique_ptr<Option<std::string>>> options;
  std::vector<std::unique_ptr<ListOption<std::string>>> lists;
};

} // namespace

std::unique_ptr<Pass> weir::createStrategy() { return std::make_unique<SetStrategy>(); }

//===- PreludeProgram.cpp - A test's model as a module --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/prelude/PreludeProgram.h"
#include "frontend/Parser.h"
#include "frontend/prelude/Prelude.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "test/passes/autodiff/GradientCheck.h"
#include <gtest/gtest.h>
#include <stdexcept>

namespace weir::test {

PreludeProgram::PreludeProgram(const std::string &text) {
  prepareContext(context);
  auto model = parse(sources.add("test.weir", text), diagnostics);
  if (!diagnostics.hasErrors())
    module = elaborate(*model, {}, sources, context, diagnostics).module;
  // A step of one microbatch is plain ops then.
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(createAccumulateGradients());
  EXPECT_TRUE(module && mlir::succeeded(manager.run(*module)));
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render() << text;
}

TwoRuns::TwoRuns(PreludeProgram &source) : source(source) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = source.module->clone();
  auto artifact = compileModule(*copy, "cpu");
  if (mlir::failed(artifact))
    throw std::runtime_error("the compiler failed");
  program = std::make_unique<CompiledProgram>(std::move(*artifact));
}

void TwoRuns::set(const std::string &variable, const Tensor &value) {
  interpreter.variables[variable] = value;
  program->setVariables({{variable, value}});
}

TwoRuns::Outputs TwoRuns::named(llvm::StringRef entry, const Tensors &results) const {
  Outputs outputs;
  mlir::func::FuncOp function = source.entry(entry);
  for (auto [i, tensor] : llvm::enumerate(results)) {
    std::string name = function.getResultAttrOfType<mlir::StringAttr>(i, "weir.output").str();
    llvm::StringRef part = function.getResultAttrOfType<mlir::StringAttr>(i, "weir.part");
    outputs[part == "sum" || part == "count" ? name + "/" + part.str() : name] = tensor;
  }
  return outputs;
}

std::pair<TwoRuns::Outputs, TwoRuns::Outputs> TwoRuns::run(llvm::StringRef entry,
                                                           llvm::ArrayRef<Tensor> inputs) {
  auto results = interpreter.run(source.entry(entry), inputs);
  if (mlir::failed(results))
    throw std::runtime_error("the interpreter failed");
  return {named(entry, *results), named(entry, program->run(entry, inputs))};
}

std::vector<Definition> preludeDefinitions() {
  std::vector<Definition> definitions;
  SourceManager sources;
  Diagnostics diagnostics;
  for (const PreludeFile &file : preludeFiles()) {
    auto parsed = parse(sources.add(file.name, file.text), diagnostics);
    for (const ast::ItemPtr &item : parsed->items)
      if (const auto *callable = llvm::dyn_cast<ast::CallableItem>(item.get())) {
        Definition definition{callable->name.text, {}};
        for (const ast::Parameter &parameter : callable->parameters)
          if (parameter.defaultValue)
            definition.options.push_back(parameter.name.text);
        definitions.push_back(std::move(definition));
      }
  }
  EXPECT_EQ(diagnostics.render(), "");
  return definitions;
}

std::vector<std::string>
uncovered(const std::vector<Definition> &definitions,
          const std::vector<std::pair<std::string, std::string>> &definitionsAndCalls) {
  std::vector<std::string> missing;
  std::map<std::string, std::string> calls;
  for (const auto &[definition, call] : definitionsAndCalls)
    calls[definition] += call + "\n";
  for (const Definition &definition : definitions) {
    auto found = calls.find(definition.name);
    if (found == calls.end()) {
      missing.push_back(definition.name + " has no case");
      continue;
    }
    for (const std::string &option : definition.options)
      if (found->second.find(option + " = ") == std::string::npos)
        missing.push_back("no case of " + definition.name + " sets " + option);
  }
  for (const auto &[name, call] : calls)
    if (llvm::none_of(definitions, [&](const Definition &one) { return one.name == name; }))
      missing.push_back(name + " has cases, but is not in the prelude");
  return missing;
}

} // namespace weir::test

//===- RecipeReader.h - The recipe before anything runs -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a model's `train { … }` as far as it does not depend on tensors: its inputs, its counts,
// and which of its entries are there. Needs an Evaluator for sizes and counts, and emits nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_RECIPEREADER_H
#define WEIR_FRONTEND_ELABORATE_RECIPEREADER_H

#include "frontend/elaborate/ShapeMatcher.h"

namespace weir::elab {

/// The recipe, as far as it does not depend on tensors.
struct Recipe {
  const ast::TrainItem *item = nullptr; ///< null where the model has none
  struct Input {
    const ast::InputEntry *entry;
    mlir::Type element;
    Dims dims; ///< empty after an error
  };
  std::vector<Input> inputs;
  int64_t batch = 0, accumulate = 1, steps = 0, epochs = 0, warmup = 0;
  const ast::ValueEntry *loss = nullptr, *clip = nullptr, *learningRate = nullptr;
  std::vector<const ast::UpdateEntry *> updates;
};

class RecipeReader {
public:
  RecipeReader(Evaluator &evaluator, ShapeMatcher &shapes, mlir::MLIRContext &context)
      : evaluator(evaluator), shapes(shapes), reporter(evaluator.reporter), context(context) {}

  Recipe read(const ast::Module &model);

private:
  void findItem(const ast::Module &model);
  Recipe::Input readInput(const ast::InputEntry &entry);
  void readValue(const ast::ValueEntry &entry);
  int64_t readCount(const ast::ValueEntry &entry, int64_t most);
  bool isFirst(const ast::ValueEntry &entry);
  void requireEntries();
  void checkInputs();

  Evaluator &evaluator;
  ShapeMatcher &shapes;
  Reporter &reporter;
  mlir::MLIRContext &context;
  Recipe recipe;
  std::map<ast::Kind, Range> seen;
};

} // namespace weir::elab

#endif

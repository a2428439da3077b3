//===- Globals.h - Configs, consts and requirements -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_GLOBALS_H
#define WEIR_FRONTEND_ELABORATE_GLOBALS_H

#include "frontend/elaborate/Evaluator.h"

namespace weir::elab {

/// Evaluates the configs and consts of the model file into its scope, and checks its requirements.
class Globals {
public:
  Globals(Evaluator &evaluator, FileScope &file)
      : evaluator(evaluator), reporter(evaluator.reporter), file(file) {}

  /// `sets` are the `--set name=value`. False where one has no config, or where a requirement does
  /// not hold: the rest would only repeat that in other words.
  bool evaluate(const std::map<std::string, std::string> &sets);

  std::map<std::string, std::string> configTexts; ///< the configs' values, as they are written

private:
  void checkNames();
  bool checkSets(const std::map<std::string, std::string> &sets);
  Value evaluateStatic(const ast::NamedValue &entry, const char *what);
  void evaluateConfig(const ast::NamedValue &entry, const std::string *set);
  bool overrideConfig(const std::string &text, Value &value, const std::string &name);

  Evaluator &evaluator;
  Reporter &reporter;
  FileScope &file;
};

/// Whether a requirement of the innermost call, or of the file, holds; where not, it is reported at
/// the call that was made, or at a file's requirement itself. True after an error in its condition.
bool requirementHolds(const ast::Requirement &requirement, Evaluator &evaluator);

} // namespace weir::elab

#endif

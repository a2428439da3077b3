//===- Elaborate.cpp - A model file as a program --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborate.h"

#include "frontend/Parser.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/prelude/Prelude.h"
#include "frontend/warnings/CommentedDivision.h"
#include "frontend/warnings/Unused.h"

namespace weir {

ElaborateResult elaborate(const ast::Module &model, const std::map<std::string, std::string> &sets,
                          SourceManager &sources, mlir::MLIRContext &context,
                          Diagnostics &diagnostics, const ElaborateOptions &options) {
  context.loadDialect<WeirDialect, mlir::func::FuncDialect>();
  std::vector<std::unique_ptr<ast::Module>> parsed;
  std::vector<const ast::Module *> prelude;
  for (const PreludeFile &file : preludeFiles()) {
    parsed.push_back(parse(sources.add(file.name, file.text), diagnostics));
    prelude.push_back(parsed.back().get());
  }
  if (diagnostics.hasErrors())
    return {};
  diagnostics.silence(options.warnings.silenced);
  ElaborateResult result =
      elab::Elaborator(model, prelude, options, context, diagnostics).run(sets);
  // Beside another error it may be the cause; beside an unknown name it is most likely what was
  // meant.
  if (result.wrong == ElaborateResult::Wrong::model)
    warnUnused(model, diagnostics);
  if (options.warnings.areErrors)
    diagnostics.makeWarningsErrors();
  if (diagnostics.hasErrors())
    result.module = nullptr;
  return result;
}

ElaborateResult elaborate(const std::string &path, const std::map<std::string, std::string> &sets,
                          SourceManager &sources, mlir::MLIRContext &context,
                          Diagnostics &diagnostics, const ElaborateOptions &options) {
  std::string reason;
  const SourceFile *file = sources.load(path, reason);
  if (!file) {
    diagnostics.error({}, reason);
    return {nullptr, ElaborateResult::Wrong::options};
  }
  diagnostics.silence(options.warnings.silenced);
  std::unique_ptr<ast::Module> model = parse(*file, diagnostics);
  warnCommentedDivision(*file, diagnostics);
  if (diagnostics.hasErrors())
    return {};
  return elaborate(*model, sets, sources, context, diagnostics, options);
}

} // namespace weir

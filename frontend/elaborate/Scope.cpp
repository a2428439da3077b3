//===- Scope.cpp - Names and the values bound to them ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Scope.h"

namespace weir::elab {

Binding *Scope::find(const std::string &name) {
  for (Scope *scope = this; scope; scope = scope->outer) {
    auto found = scope->names.find(name);
    if (found != scope->names.end())
      return &found->second;
  }
  return nullptr;
}

const Scope::Hidden *Scope::findHidden(const std::string &name) const {
  for (const Scope *scope = this; scope; scope = scope->outer) {
    auto found = scope->hidden.find(name);
    if (found != scope->hidden.end())
      return &found->second;
  }
  return nullptr;
}

FileScope::FileScope(const ast::Module &module, bool prelude) : module(&module), prelude(prelude) {
  for (const ast::ItemPtr &item : module.items)
    if (const auto *callable = llvm::dyn_cast<ast::CallableItem>(item.get()))
      callables.emplace(callable->name.text, callable);
}

Files::Files(const ast::Module &model, const std::vector<const ast::Module *> &prelude)
    : model(model, /*prelude=*/false) {
  for (const ast::Module *module : prelude) {
    preludeFiles.push_back(std::make_unique<FileScope>(*module, /*prelude=*/true));
    const CallablesByName &callables = preludeFiles.back()->callables;
    preludeCallables.insert(callables.begin(), callables.end());
  }
}

FileScope &Files::fileOf(const ast::CallableItem &callable) {
  for (auto &file : preludeFiles)
    if (file->module->file == callable.range.file)
      return *file;
  assert(callable.range.file == model.module->file && "a callable of no file");
  return model;
}

const ast::CallableItem *Files::findCallable(const std::string &name, const FileScope &from) const {
  if (!from.prelude) {
    auto own = model.callables.find(name);
    if (own != model.callables.end())
      return own->second;
  }
  auto found = preludeCallables.find(name);
  return found == preludeCallables.end() ? nullptr : found->second;
}

std::vector<const ast::CallableItem *> Files::callablesSeen(const FileScope &from) const {
  std::vector<const ast::CallableItem *> seen;
  if (!from.prelude)
    for (const auto &[name, callable] : model.callables)
      seen.push_back(callable);
  for (const auto &[name, callable] : preludeCallables)
    seen.push_back(callable);
  return seen;
}

} // namespace weir::elab

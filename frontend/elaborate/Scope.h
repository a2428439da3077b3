//===- Scope.h - Names and the values bound to them -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scope is the names of one body; scopes nest. A file has a scope of its configs and consts, and
// its callables. Nothing here evaluates or reports.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_SCOPE_H
#define WEIR_FRONTEND_ELABORATE_SCOPE_H

#include "frontend/AST.h"
#include "frontend/elaborate/Value.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weir::elab {

struct Binding {
  Value value;
  Range range;
  std::string config;  ///< the config whose value it is, if one is
  std::string boundBy; ///< of dimensions: "argument `tokens`"
  bool isDimension = false;
};

/// The names of a body, inside those of the bodies around it.
struct Scope {
  Scope *outer = nullptr;
  std::map<std::string, Binding> names;
  struct Hidden {
    Range range;
    const char *why; ///< "is bound in only one branch of an `if`"
  };
  std::map<std::string, Hidden> hidden; ///< names that exist but cannot be used here

  /// The innermost binding of a name; null where there is none.
  Binding *find(const std::string &name);
  /// Why a name cannot be used here, of the innermost scope that hides it; null where none does.
  const Hidden *findHidden(const std::string &name) const;
};

using CallablesByName = std::map<std::string, const ast::CallableItem *>;

/// A file and its configs and consts.
struct FileScope {
  const ast::Module *module = nullptr;
  bool prelude = false;
  Scope globals;
  CallablesByName callables;

  FileScope(const ast::Module &module, bool prelude);
};

/// The model file and the prelude's files, and which callables each of them sees: the model file
/// its own first and then the prelude's, a file of the prelude those of the prelude.
class Files {
public:
  Files(const ast::Module &model, const std::vector<const ast::Module *> &prelude);

  /// The file that declares a callable.
  FileScope &fileOf(const ast::CallableItem &callable);
  /// What a name calls in `from`; null where it calls nothing.
  const ast::CallableItem *findCallable(const std::string &name, const FileScope &from) const;
  /// The callables that `from` sees, its own first.
  std::vector<const ast::CallableItem *> callablesSeen(const FileScope &from) const;

  FileScope model;

private:
  std::vector<std::unique_ptr<FileScope>> preludeFiles;
  CallablesByName preludeCallables;
};

} // namespace weir::elab

#endif

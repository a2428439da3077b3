//===- Instances.cpp - Instances of blocks, and their paths ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Instances.h"

namespace weir::elab {

bool ownsVariables(const ast::CallableItem *callable) {
  return callable && (callable->callableKind == ast::CallableKind::block ||
                      callable->callableKind == ast::CallableKind::model);
}

std::optional<ModelPath> Instances::resolvePath(const std::optional<ast::Path> &path,
                                                const std::string &fallback) {
  std::string text = fallback;
  if (path) {
    text.clear();
    for (const ast::Path::Component &component : path->components) {
      text += (text.empty() ? "" : ".") + component.name.text;
      for (const ast::ExprPtr &index : component.indices) {
        auto number = evaluator.evaluateInt(*index, "an index in a path");
        if (!number)
          return std::nullopt;
        if (*number < 0) {
          reporter.error(index->range, "an index in a path is not negative, but this is " +
                                           std::to_string(*number));
          return std::nullopt;
        }
        text += "." + std::to_string(*number);
      }
    }
  }
  return current->instance->path.inner(text);
}

void Instances::reportTaken(const std::string &path, Range range, const std::string &name,
                            Range other) {
  if (path.empty() && !current->callable && other.text() != name) {
    reporter
        .error(range, "`" + std::string(other.text()) + "` and `" + name +
                          "` both keep their parameters at the root")
        .note(other, "the other one")
        .help("name one of them with `as`: `" + name + "(…) as head`");
    return;
  }
  if (path.empty() && !current->callable) {
    reporter.error(range, "`" + name + "` is called twice")
        .note(other, "the other one")
        .help("call it once and bind the result; for calls that share parameters, write a model "
              "that names the instance with `let`");
    return;
  }
  std::string place = path.empty() ? "the root of the parameters" : "the path `" + path + "`";
  Diagnostic &report =
      reporter.error(range, "`" + name + "` is at " + place + ", where another is already");
  if (other == range) {
    report.help("in a loop the path needs the loop's variable: `as h[i]`");
    return;
  }
  report.note(other, "the other one");
  report.help(path.empty() ? "name this one with `as`" : "name one of them with `as`");
}

std::shared_ptr<Instance> Instances::instantiate(const ast::CallableItem &callable,
                                                 const std::optional<ast::Path> &path, Range range,
                                                 Entry *entry) {
  const std::string &name = callable.name.text;
  if (current->callable && !ownsVariables(current->callable)) {
    const char *kind =
        current->callable->callableKind == ast::CallableKind::function ? "a fn" : "an optimizer";
    reporter
        .error(range, std::string(kind) + " may not use a block: `" + current->callable->name.text +
                          "` is " + kind + ", `" + name + "` may own parameters")
        .note(current->callable->name.range, "declared here")
        .help(std::string("make `") + current->callable->name.text + "` a block");
    return nullptr;
  }
  auto full = resolvePath(path, callable.callableKind == ast::CallableKind::model ? "" : name);
  if (!full)
    return nullptr;
  auto [place, isNew] = entry->paths.try_emplace(full->symbol);
  PathClaim &claim = place->second;
  // Made before by the same instance, but not in this run through its body.
  bool kept = !isNew && claim.owner == current->instance && claim.execution != current->execution &&
              claim.instance->callable == &callable;
  if (kept) {
    claim.instance->range = range;
    claim.instance->options.clear();
  }
  auto instance = kept ? claim.instance
                       : std::make_shared<Instance>(Instance{&callable, *full, range, {}, false});
  if (isNew || kept) {
    claim = {current->instance, range, instance, current->execution};
    return instance;
  }
  // A second one at the same path is reported, and checked all the same.
  // What is wrong in it is wrong in the other too, with the same path: it is told of once.
  reportTaken(full->path, range, name, claim.range);
  instance->path.symbol += "'" + std::to_string(++misplaced); // no name has a quote
  return instance;
}

bool Instances::claimPath(const ModelPath &path, const ast::Identifier &name, Entry &entry) {
  auto [place, isNew] = entry.variablePaths.try_emplace(
      path.symbol, PathClaim{current->instance, name.range, nullptr, current->execution});
  bool owns = isNew || place->second.owner == current->instance;
  if (!owns)
    reportTaken(path.path, name.range, name.text, place->second.range);
  return owns;
}

} // namespace weir::elab

//===- CallStack.cpp - The calls in progress ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/CallStack.h"

namespace weir::elab {

Binding *Frame::find(const std::string &name) {
  if (Binding *binding = scope->find(name))
    return binding;
  auto global = file->globals.names.find(name);
  return global == file->globals.names.end() ? nullptr : &global->second;
}

bool Frame::isValue(const std::string &name) { return find(name) || dimensions.count(name); }

std::string Frame::configOf(const ast::Expr &expr) {
  const auto *node = llvm::dyn_cast<ast::NameExpr>(&expr);
  Binding *binding = node ? find(node->name) : nullptr;
  return binding ? binding->config : std::string();
}

void Frame::bind(const ast::Identifier &name, Value value, std::string config) {
  scope->names[name.text] =
      Binding{std::move(value), name.range, std::move(config), {}, /*isDimension=*/false};
}

Range CallStack::userPlace(Range range) const {
  for (const Frame *frame = innermost; frame && frame->file->prelude && frame->caller;
       frame = frame->caller)
    range = frame->callSite;
  return range;
}

Range CallStack::repeatedCall() const {
  Range range;
  for (const Frame *frame = innermost; frame; frame = frame->caller)
    if (frame->again)
      range = frame->callSite;
  return range;
}

bool isInProgress(const Frame *frame, const ast::CallableItem *callable) {
  for (; frame; frame = frame->caller)
    if (frame->callable == callable)
      return true;
  return false;
}

std::vector<const Frame *> CallStack::callsSince(const ast::CallableItem &callable) const {
  std::vector<const Frame *> calls;
  if (isInProgress(innermost, &callable))
    for (const Frame *frame = innermost; frame->callable != &callable; frame = frame->caller)
      calls.push_back(frame);
  return calls;
}

} // namespace weir::elab

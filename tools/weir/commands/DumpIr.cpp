//===- DumpIr.cpp - The IR after every pass, in files ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/DumpIr.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/program/Variable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "support/Error.h"
#include "support/system/NewFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weir {
namespace {

class WriteAfterPass : public PassInstrumentation {
public:
  explicit WriteAfterPass(DumpIr &dump) : dump(dump) {}

  void runAfterPass(Pass *pass, Operation *op) override { write(pass, op, ""); }
  void runAfterPassFailed(Pass *pass, Operation *op) override { write(pass, op, ".failed"); }

private:
  void write(Pass *pass, Operation *op, llvm::StringRef suffix) {
    // The adaptor that runs passes on functions is a pass without a flag.
    if (pass->getArgument().empty())
      return;
    std::string name = pass->getArgument().str();
    if (auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      name += "." + symbol.str();
    OwningOpRef<ModuleOp> alone;
    if (auto entry = dyn_cast<func::FuncOp>(op))
      alone = withVariables(entry);
    dump.write(name + suffix.str(), alone ? alone->getOperation() : op);
  }

  /// A program of one entry, for weir-opt.
  static OwningOpRef<ModuleOp> withVariables(func::FuncOp entry) {
    auto module = entry->getParentOfType<ModuleOp>();
    OwningOpRef<ModuleOp> alone = ModuleOp::create(module.getLoc());
    (*alone)->setDiscardableAttrs(module->getDiscardableAttrDictionary());
    for (auto variable : module.getOps<VariableOp>())
      alone->push_back(variable->clone());
    alone->push_back(entry->clone());
    return alone;
  }

  DumpIr &dump;
};

} // namespace

std::string printed(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  op->print(out, OpPrintingFlags().enableDebugInfo());
  out << "\n";
  return text;
}

void DumpIr::prepare() {
  if (!enabled())
    return;
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    throw Failure(Exit::storage, "--dump-ir " + folder + ": " + error.message());
}

void DumpIr::requireWritten() const {
  if (!failure.empty())
    throw Failure(Exit::storage, "--dump-ir: " + failure);
}

void DumpIr::write(const std::string &name, Operation *op) {
  if (enabled() && failure.empty())
    writeText(name + ".mlir", printed(op));
}

void DumpIr::writeText(const std::string &file, const std::string &text) {
  if (!enabled() || !failure.empty())
    return;
  std::string numbered;
  llvm::raw_string_ostream(numbered) << llvm::format("%02u-", next++) << file;
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, numbered);
  try {
    NewFile whole(path.str().str());
    whole.write(reinterpret_cast<const std::byte *>(text.data()), text.size());
    whole.finish();
  } catch (const Failure &failed) {
    failure = failed.what();
  }
}

void DumpIr::watch(PassManager &manager) {
  if (enabled())
    manager.addInstrumentation(std::make_unique<WriteAfterPass>(*this));
}

} // namespace weir

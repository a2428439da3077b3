//===- Digest.cpp - What an entry computes, as a number -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Digest.h"
#include "ir/weir/FormerNames.h"
#include "ir/weir/Names.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "llvm/Support/xxhash.h"

#include <unordered_map>

using namespace mlir;

namespace weir {
namespace {

/// Hashes of all values, in the order of the program, so that its depth costs no stack.
class Digester {
public:
  explicit Digester(func::FuncOp entry) : entry(entry) {
    Block &block = entry.getBody().front();
    for (BlockArgument argument : block.getArguments())
      number(argument, [&](llvm::raw_ostream &out) {
        out << "input " << inputName(argument.getArgNumber());
      });
    visit(block);
  }

  uint64_t writes() {
    llvm::sort(written);
    return hashOf([&](llvm::raw_ostream &out) {
      for (auto &[variable, value] : written)
        out << "write " << variable << " " << value << "\n";
    });
  }

  uint64_t results() {
    Operation *end = entry.getBody().front().getTerminator();
    return hashOf([&](llvm::raw_ostream &out) { operands(out, end); });
  }

private:
  template <typename Print> static uint64_t hashOf(Print print) {
    std::string text;
    llvm::raw_string_ostream out(text);
    print(out);
    return llvm::xxh3_64bits(text);
  }

  template <typename Print> void number(Value value, Print print) {
    hashes[value] = hashOf([&](llvm::raw_ostream &out) {
      print(out);
      out << " : " << textOf(value.getType());
    });
  }

  /// Printing is slow, and few types and attributes are unlike those before.
  template <typename Printable> StringRef textOf(Printable printable) {
    auto [place, isNew] = texts.try_emplace(printable.getAsOpaquePointer());
    if (isNew) {
      llvm::raw_string_ostream out(place->second);
      out << printable;
    }
    return place->second;
  }

  /// Checkpoints store digests. An op that was renamed is hashed by its former name, so that runs
  /// of earlier releases can be resumed.
  static std::string hashedNameOf(Operation *op) {
    StringRef before = formerNameOf(op->getName().stripDialect());
    return before.empty() ? op->getName().getStringRef().str() : "weir." + before.str();
  }

  /// Locations are no part of a digest.
  StringRef attributesOf(Operation *op) {
    DictionaryAttr all = op->getAttrDictionary();
    if (!all.contains(pinnedAtAttrName))
      return textOf(all);
    NamedAttrList attributes(all);
    attributes.erase(pinnedAtAttrName);
    return textOf(attributes.getDictionary(op->getContext()));
  }

  StringRef inputName(unsigned argument) {
    auto name = entry.getArgAttrOfType<StringAttr>(argument, inputAttrName);
    return name ? name.getValue() : "";
  }

  void operands(llvm::raw_ostream &out, Operation *op) {
    for (Value operand : op->getOperands())
      out << " " << hashes.lookup(operand);
  }

  void visit(Block &block) {
    for (Operation &op : block) {
      // Before the op: its results depend on what is in there.
      std::string inner;
      llvm::raw_string_ostream out(inner);
      for (Region &region : op.getRegions())
        for (Block &body : region) {
          for (BlockArgument argument : body.getArguments())
            number(argument,
                   [&](llvm::raw_ostream &out) { out << "argument " << argument.getArgNumber(); });
          visit(body);
          out << " {";
          operands(out, body.getTerminator());
          out << " }";
        }
      if (auto microbatches = dyn_cast<MicrobatchesOp>(op))
        visit(microbatches);
      else
        visit(&op, inner);
    }
  }

  /// Each sum by what is summed: a metric beside a loss is no part of it. What is carried may be a
  /// part of anything.
  void visit(MicrobatchesOp op) {
    auto yielded = op.getBody().front().getTerminator()->getOperands();
    unsigned sums = op.numSums();
    uint64_t all = hashOf([&](llvm::raw_ostream &out) {
      out << op->getName() << " " << attributesOf(op);
      operands(out, op);
      for (Value next : yielded.drop_front(sums))
        out << " " << hashes.lookup(next);
    });
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      number(result, [&, i = i](llvm::raw_ostream &out) {
        out << all << " " << hashes.lookup(yielded[i]);
        if (i >= sums)
          out << " carried " << i - sums;
      });
  }

  void visit(Operation *op, StringRef inner) {
    if (auto write = dyn_cast<WriteOp>(op))
      written.emplace_back(write.getVariable().str(),
                           hashOf([&](llvm::raw_ostream &out) { operands(out, op); }));
    uint64_t all = hashOf([&](llvm::raw_ostream &out) {
      out << hashedNameOf(op) << " " << attributesOf(op) << inner;
      operands(out, op);
    });
    for (OpResult result : op->getResults())
      number(result,
             [&](llvm::raw_ostream &out) { out << all << " " << result.getResultNumber(); });
  }

  func::FuncOp entry;
  llvm::DenseMap<Value, uint64_t> hashes;
  std::unordered_map<const void *, std::string> texts;   ///< keeps places
  std::vector<std::pair<std::string, uint64_t>> written; ///< under which condition
};

} // namespace

uint64_t digestOfWrites(func::FuncOp entry) { return Digester(entry).writes(); }

uint64_t digestOfResults(func::FuncOp entry) { return Digester(entry).results(); }

void setDigests(ModuleOp module) {
  Builder builder(module.getContext());
  auto set = [&](StringRef name, StringRef entry, auto digest) {
    if (auto function = module.lookupSymbol<func::FuncOp>(entry))
      module->setAttr(name, builder.getI64IntegerAttr(static_cast<int64_t>(digest(function))));
  };
  set(trainingDigestAttrName, "step", digestOfWrites);
  set(predictDigestAttrName, "predict", digestOfResults);
}

} // namespace weir

//===- Tuning.cpp - What of schedules a device's clock decides ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Tuning.h"

#include "ir/weir/KernelStructure.h"
#include "ir/weir/kernel/Kernel.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace weir {
namespace {

/// Of the file; another one is refused.
constexpr int64_t version = 1;

bool isDigest(StringRef text) {
  return text.size() == 16 && llvm::all_of(text, [](char c) { return llvm::isHexDigit(c); });
}

/// Brackets in each other; the parser goes as deep as the text does.
bool isTooDeep(StringRef text) {
  constexpr int deepest = 64;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest)
      return true;
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

std::optional<TunedKernel> readKernel(const llvm::json::Object &object, std::string &problem) {
  TunedKernel kernel;
  const llvm::json::Object *settings = object.getObject("settings");
  auto what = object.getString("what");
  if (!settings || !what) {
    problem = "it has no \"what\" and \"settings\"";
    return std::nullopt;
  }
  kernel.what = what->str();
  for (auto &[name, value] : *settings) {
    auto number = value.getAsInteger();
    if (!number) {
      problem = "\"" + name.str() + "\" is no whole number";
      return std::nullopt;
    }
    kernel.settings[name.str()] = *number;
  }
  kernel.before = object.getInteger("before_ns").value_or(0);
  kernel.after = object.getInteger("after_ns").value_or(0);
  return kernel;
}

} // namespace

std::string Tuning::text() const {
  llvm::json::Object all;
  for (const auto &[digest, kernel] : kernels) {
    llvm::json::Object settings;
    for (const auto &[name, value] : kernel.settings)
      settings[name] = value;
    all[digest] = llvm::json::Object{{"what", llvm::json::fixUTF8(kernel.what)},
                                     {"settings", std::move(settings)},
                                     {"before_ns", kernel.before},
                                     {"after_ns", kernel.after}};
  }
  llvm::json::Value whole = llvm::json::Object{{"weir_tuning", version},
                                               {"target", target},
                                               {"device", llvm::json::fixUTF8(device)},
                                               {"kernels", std::move(all)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", whole) << "\n";
  return text;
}

std::optional<Tuning> Tuning::parse(StringRef text, std::string &problem) {
  if (isTooDeep(text)) {
    problem = "is no file of weir tune: it has too many brackets in each other";
    return std::nullopt;
  }
  auto parsed = llvm::json::parse(text);
  if (!parsed) {
    problem = "is no JSON: " + llvm::toString(parsed.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *whole = parsed->getAsObject();
  auto written = whole ? whole->getInteger("weir_tuning") : std::nullopt;
  if (!written) {
    problem = "is no file of weir tune: it has no \"weir_tuning\"";
    return std::nullopt;
  }
  if (*written != version) {
    problem = "is of version " + std::to_string(*written) + ", and this Weir reads version " +
              std::to_string(version) + ": run weir tune again";
    return std::nullopt;
  }
  const llvm::json::Object *kernels = whole->getObject("kernels");
  auto target = whole->getString("target");
  if (!kernels || !target) {
    problem = "has no \"target\" and \"kernels\"";
    return std::nullopt;
  }
  Tuning tuning;
  tuning.target = target->str();
  tuning.device = whole->getString("device").value_or("").str();
  for (auto &[digest, value] : *kernels) {
    const llvm::json::Object *object = value.getAsObject();
    if (!object || !isDigest(digest)) {
      problem = "has a kernel \"" + digest.str() + "\" that weir tune has not written";
      return std::nullopt;
    }
    std::optional<TunedKernel> kernel = readKernel(*object, problem);
    if (!kernel) {
      problem = "has a kernel \"" + digest.str() + "\" of which " + problem;
      return std::nullopt;
    }
    tuning.kernels.emplace(digest.str(), std::move(*kernel));
  }
  return tuning;
}

std::string digestOf(KernelOp kernel) {
  OwningOpRef<KernelOp> any = withPlacesAsKeys(kernel);
  any->getOperation()->setOperands({}); // which are others in every program
  std::string text;
  llvm::raw_string_ostream stream(text);
  any->getOperation()->print(stream, OpPrintingFlags().useLocalScope().printGenericOpForm());
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

} // namespace weir

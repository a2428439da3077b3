//===- Tuning.cpp - What of schedules a device's clock decides ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Tuning.h"

#include "ir/weir/Phase.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "mlir/IR/AsmState.h"
#include "support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <nlohmann/json.hpp>

using namespace mlir;

namespace weir {
namespace {

using Json = nlohmann::json;

/// Of the file; another one is refused.
constexpr int64_t version = 1;

bool isDigest(StringRef text) {
  return text.size() == 16 && llvm::all_of(text, [](char c) { return llvm::isHexDigit(c); });
}

/// As a member is written in a message: a file may have any bytes.
std::string quotedName(const std::string &name) { return "\"" + shownName(name) + "\""; }

const Json *member(const Json &object, const char *name) {
  auto found = object.find(name); // end() where it is no object
  return found == object.end() ? nullptr : &*found;
}

const Json *objectIn(const Json &object, const char *name) {
  const Json *found = member(object, name);
  return found && found->is_object() ? found : nullptr;
}

std::optional<std::string> textIn(const Json &object, const char *name) {
  const Json *found = member(object, name);
  return found && found->is_string() ? std::optional(found->get<std::string>()) : std::nullopt;
}

/// Nothing where it is null or no whole number of 64 bits.
std::optional<int64_t> wholeOf(const Json *value) {
  if (!value || !value->is_number_integer() ||
      (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX))
    return std::nullopt;
  return value->get<int64_t>();
}

/// The value that the text is, discarded where it is none.
Json parsed(StringRef text, std::string &problem) {
  constexpr int deepest = 64;
  bool isTooDeep = false;
  // What is deeper is dropped: the text may be brackets alone.
  auto bounded = [&](int depth, Json::parse_event_t, Json &) {
    isTooDeep |= depth > deepest;
    return depth <= deepest;
  };
  Json json(Json::value_t::discarded);
  try {
    json = Json::parse(text.begin(), text.end(), bounded);
  } catch (const Json::parse_error &error) {
    StringRef read = text.take_front(error.byte > 0 ? error.byte - 1 : 0);
    problem = "is no JSON from line " + std::to_string(read.count('\n') + 1) + ", column " +
              std::to_string(read.size() - (read.rfind('\n') + 1) + 1);
  } catch (const Json::exception &) { // such as a number that no double holds
    problem = "is no JSON";
  }
  if (isTooDeep) {
    problem = "is no file of weir tune: it has too many brackets in each other";
    return Json(Json::value_t::discarded);
  }
  return json;
}

std::optional<TunedKernel> readKernel(const Json &json, std::string &problem) {
  TunedKernel kernel;
  const Json *settings = objectIn(json, "settings");
  auto what = textIn(json, "what");
  if (!settings || !what) {
    problem = "it has no \"what\" and \"settings\"";
    return std::nullopt;
  }
  kernel.what = *what;
  for (const auto &[name, value] : settings->items()) {
    auto number = wholeOf(&value);
    if (!number) {
      problem = quotedName(name) + " is no whole number";
      return std::nullopt;
    }
    kernel.settings[name] = *number;
  }
  kernel.before = wholeOf(member(json, "before_ns")).value_or(0);
  kernel.after = wholeOf(member(json, "after_ns")).value_or(0);
  return kernel;
}

} // namespace

std::string Tuning::text() const {
  Json all = Json::object();
  for (const auto &[digest, kernel] : kernels)
    all[digest] = {{"what", kernel.what},
                   {"settings", kernel.settings},
                   {"before_ns", kernel.before},
                   {"after_ns", kernel.after}};
  Json whole = {{"weir_tuning", version},
                {"target", target},
                {"device", device},
                {"kernels", std::move(all)}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Tuning> Tuning::parse(StringRef text, std::string &problem) {
  const Json json = parsed(text, problem);
  if (json.is_discarded())
    return std::nullopt;
  auto written = wholeOf(member(json, "weir_tuning"));
  if (!written) {
    problem = "is no file of weir tune: it has no \"weir_tuning\"";
    return std::nullopt;
  }
  if (*written != version) {
    problem = "is of version " + std::to_string(*written) + ", and this Weir reads version " +
              std::to_string(version) + ": run weir tune again";
    return std::nullopt;
  }
  const Json *kernels = objectIn(json, "kernels");
  auto target = textIn(json, "target");
  if (!kernels || !target) {
    problem = "has no \"target\" and \"kernels\"";
    return std::nullopt;
  }
  Tuning tuning;
  tuning.target = *target;
  tuning.device = textIn(json, "device").value_or("");
  for (const auto &[digest, value] : kernels->items()) {
    if (!value.is_object() || !isDigest(digest)) {
      problem = "has a kernel " + quotedName(digest) + " that weir tune has not written";
      return std::nullopt;
    }
    std::optional<TunedKernel> kernel = readKernel(value, problem);
    if (!kernel) {
      problem = "has a kernel " + quotedName(digest) + " of which " + problem;
      return std::nullopt;
    }
    tuning.kernels.emplace(digest, std::move(*kernel));
  }
  return tuning;
}

std::string digestOf(KernelOp kernel) {
  OwningOpRef<KernelOp> any = withPlacesAsKeys(kernel);
  any->getOperation()->setOperands({}); // which are others in every program
  any->getOperation()->removeAttr(resultPhasesAttrName);
  std::string text;
  llvm::raw_string_ostream stream(text);
  any->getOperation()->print(stream, OpPrintingFlags().useLocalScope().printGenericOpForm());
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

} // namespace weir

//===- PlanSpec.cpp - Library calls as an attribute -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   #plan.spec<product m = 4, n = 8, k = 2, .., bias>
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanDialect.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

llvm::hash_code weir::spec::hash_value(const Call &call) {
  return llvm::hash_combine(llvm::StringRef(kindOf(call)), llvm::ArrayRef(encode(call)));
}

namespace weir::plan {
namespace {

/// Writes one field as it is parsed.
struct Printer {
  raw_ostream &os;

  void operator()(const char *name, int64_t value) { os << name << " = " << value; }
  void operator()(const char *name, bool value) {
    os << name << " = " << (value ? "true" : "false");
  }
  void operator()(const char *name, const std::vector<int64_t> &list) {
    os << name << " = [";
    llvm::interleaveComma(list, os);
    os << "]";
  }
  template <class Enum, class Names>
  void operator()(const char *name, Enum value, const Names &names) {
    os << name << " = " << StringRef(names[static_cast<size_t>(value)]);
  }
};

/// Parses the field of that name.
struct FieldParser {
  AsmParser &parser;
  StringRef name;
  bool found = false;
  ParseResult result = success();

  bool begins(const char *field) { return field == name && (found = true); }

  void operator()(const char *field, int64_t &value) {
    if (begins(field))
      result = parser.parseInteger(value);
  }
  void operator()(const char *field, bool &value) {
    if (!begins(field))
      return;
    StringRef word;
    result = parser.parseKeyword(&word);
    if (succeeded(result) && word != "true" && word != "false")
      result = parser.emitError(parser.getNameLoc(), "expected true or false");
    value = word == "true";
  }
  void operator()(const char *field, std::vector<int64_t> &list) {
    if (!begins(field))
      return;
    list.clear();
    result = parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Square, [&] { return parser.parseInteger(list.emplace_back()); });
  }
  template <class Enum, class Names>
  void operator()(const char *field, Enum &value, const Names &names) {
    if (!begins(field))
      return;
    StringRef word;
    SMLoc at = parser.getCurrentLocation();
    result = parser.parseKeyword(&word);
    if (failed(result))
      return;
    for (auto [i, one] : llvm::enumerate(names))
      if (word == StringRef(one)) {
        value = static_cast<Enum>(i);
        return;
      }
    result = parser.emitError(at) << "unknown " << field << " '" << word << "'";
  }
};

} // namespace

LogicalResult SpecAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                               spec::Call call) {
  std::string wrong = spec::check(call);
  if (!wrong.empty())
    return emitError() << StringRef(spec::kindOf(call)) << ": " << wrong;
  return success();
}

void SpecAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  os << "<" << StringRef(spec::kindOf(getCall()));
  // What is as it is by default is left out.
  spec::Call usual = *spec::callOf(spec::kindOf(getCall()));
  std::vector<std::string> texts[2];
  auto fields = [](const spec::Call &call, std::vector<std::string> &into) {
    spec::forEachField(call, [&](const char *name, const auto &...value) {
      llvm::raw_string_ostream stream(into.emplace_back());
      Printer{stream}(name, value...);
    });
  };
  fields(getCall(), texts[0]);
  fields(usual, texts[1]);
  const char *separator = " ";
  for (auto [text, byDefault] : llvm::zip(texts[0], texts[1]))
    if (text != byDefault)
      os << std::exchange(separator, ", ") << text;
  os << ">";
}

Attribute SpecAttr::parse(AsmParser &parser, Type) {
  StringRef kind;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&kind))
    return {};
  std::optional<spec::Call> call = spec::callOf(kind);
  if (!call) {
    parser.emitError(at) << "no library call is called '" << kind << "'";
    return {};
  }
  SmallVector<StringRef> given;
  auto field = [&]() -> ParseResult {
    StringRef name;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(given, name))
      return parser.emitError(place) << "a " << kind << " is given '" << name << "' twice";
    given.push_back(name);
    FieldParser one{parser, name};
    spec::forEachField(*call, one);
    if (!one.found)
      return parser.emitError(place) << "a " << kind << " has no '" << name << "'";
    return one.result;
  };
  if (failed(parser.parseOptionalGreater()) &&
      (parser.parseCommaSeparatedList(field) || parser.parseGreater()))
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), *call);
}

} // namespace weir::plan

//===- TensorText.cpp - Tensors on a command line -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir-opt/TensorText.h"
#include "ir/weir/ElementTypes.h"
#include "mlir/IR/Builders.h"
#include "runtime/data/Readers.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <cstdlib>

using namespace mlir;

namespace weir {
namespace {

llvm::Error problem(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

bool isTruth(Type element) { return element.isInteger(1); }

/// A number of the element type. `text` is all of it.
llvm::Expected<double> parseNumber(StringRef text, Type element) {
  if (isTruth(element) && (text == "true" || text == "false"))
    return text == "true";
  std::string copy = text.str();
  char *end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size())
    return problem("'" + text + "' is no " +
                   (isTruth(element) ? "truth value (true, false, 1 or 0)" : "number"));
  // What is stored has the precision of the type.
  Element stored = *elementOf(element);
  if (rowOf(stored).kind == ElementKind::real)
    return rounded(stored, value);
  auto low = double(leastOf(stored)), high = double(mostOf(stored));
  if (!(value >= low && value <= high) || value != std::floor(value))
    return problem("'" + text + "' is no whole number from " +
                   llvm::Twine(static_cast<int64_t>(low)) + " to " +
                   llvm::Twine(static_cast<int64_t>(high)));
  return value;
}

std::string joined(ArrayRef<int64_t> shape, StringRef element) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str();
}

std::string nameOf(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

llvm::Expected<Tensor> readArray(const std::string &path, RankedTensorType type) {
  Tensor result(type.getShape());
  Element element = *elementOf(type.getElementType());
  try {
    Array array = openSource(path);
    if (ArrayRef<int64_t>(array.shape) != type.getShape() || !converts(array.element, element))
      return problem("expected " + shapeText(type) + ", but " + path + " has " +
                     joined(array.shape, weir::nameOf(array.element)));
    std::vector<std::byte> bytes(sizeOf(element) * result.values.size());
    int64_t outside =
        convert(array, 0, static_cast<int64_t>(result.values.size()), element, 0, bytes.data());
    if (outside >= 0)
      return problem("element " + llvm::Twine(outside) + " of " + path + " does not fit " +
                     nameOf(type.getElementType()));
    loadNumbers(element, bytes.data(), result.values);
  } catch (const Failure &failure) {
    return problem(failure.what());
  }
  return result;
}

} // namespace

std::string shapeText(RankedTensorType type) {
  return joined(type.getShape(), nameOf(type.getElementType()));
}

llvm::Expected<Tensor> parseTensor(StringRef text, RankedTensorType type) {
  if (text.consume_front("@"))
    return readArray(text.str(), type);
  auto [written, list] = text.split('=');
  if (written != shapeText(type))
    return problem("expected " + shapeText(type) + "=..., found '" + text.take_front(60) + "'");
  SmallVector<StringRef> items;
  if (!list.empty())
    list.split(items, ',');
  Tensor result(type.getShape());
  bool forAll = items.size() == 1;
  if (items.size() != result.values.size() && !forAll)
    return problem("expected " + llvm::Twine(result.values.size()) +
                   " elements, or one for all of them; found " + llvm::Twine(items.size()));
  for (auto [i, item] : llvm::enumerate(items)) {
    llvm::Expected<double> value = parseNumber(item.trim(), type.getElementType());
    if (!value)
      return value.takeError();
    if (forAll)
      result.values.assign(result.values.size(), *value);
    else
      result.values[i] = *value;
  }
  return result;
}

void printTensor(llvm::raw_ostream &out, const Tensor &tensor, RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  Type element = type.getElementType();
  size_t at = 0;
  forEachIndex(shape.empty() ? shape : shape.drop_back(), [&](ArrayRef<int64_t> row) {
    out << " ";
    if (!row.empty()) {
      out << " [";
      llvm::interleaveComma(row, out);
      out << "]";
    }
    for (int64_t i = 0; i < (shape.empty() ? 1 : shape.back()); ++i) {
      double value = tensor.values[at++];
      out << " ";
      if (isTruth(element))
        out << (value != 0 ? "true" : "false");
      else if (isa<FloatType>(element))
        out << llvm::format("%.9g", value);
      else
        out << static_cast<int64_t>(value);
    }
    out << "\n";
  });
}

} // namespace weir

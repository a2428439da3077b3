//===- ElementTypes.cpp - Element types as rows of the table --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace weir {

namespace {
struct Row {
  Element element;
  bool (*is)(Type);
  Type (*get)(MLIRContext *);
};

const Row rows[] = {
    {Element::f32, [](Type type) { return type.isF32(); },
     [](MLIRContext *context) -> Type { return Float32Type::get(context); }},
    {Element::i32, [](Type type) { return type.isSignlessInteger(32); },
     [](MLIRContext *context) -> Type { return IntegerType::get(context, 32); }},
    {Element::u8, [](Type type) { return type.isUnsignedInteger(8); },
     [](MLIRContext *context) -> Type {
       return IntegerType::get(context, 8, IntegerType::Unsigned);
     }},
    {Element::b8, [](Type type) { return type.isSignlessInteger(1); },
     [](MLIRContext *context) -> Type { return IntegerType::get(context, 1); }},
    {Element::bf16, [](Type type) { return type.isBF16(); },
     [](MLIRContext *context) -> Type { return BFloat16Type::get(context); }},
    {Element::f16, [](Type type) { return type.isF16(); },
     [](MLIRContext *context) -> Type { return Float16Type::get(context); }},
    {Element::f8e4m3, [](Type type) { return isa<Float8E4M3FNType>(type); },
     [](MLIRContext *context) -> Type { return Float8E4M3FNType::get(context); }},
    {Element::f8e5m2, [](Type type) { return isa<Float8E5M2Type>(type); },
     [](MLIRContext *context) -> Type { return Float8E5M2Type::get(context); }},
};
static_assert(std::size(rows) == programElements, "every element of programs has a type");
} // namespace

Type typeOf(MLIRContext *context, Element element) {
  for (const Row &row : rows)
    if (row.element == element)
      return row.get(context);
  llvm_unreachable("no program has such elements");
}

std::optional<Element> elementOf(Type element) {
  for (const Row &row : rows)
    if (row.is(element))
      return row.element;
  return std::nullopt;
}

bool isLow(Type type) {
  std::optional<Element> element = elementOf(type);
  return element && isLow(*element);
}

RankedTensorType cotangentType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return isLow(type.getElementType())
             ? cast<RankedTensorType>(type.clone(Float32Type::get(type.getContext())))
             : type;
}

int64_t storedBytes(Type scalar) { return llvm::divideCeil(scalar.getIntOrFloatBitWidth(), 8); }

std::string elementTypes(MLIRContext *context) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Row &row : rows)
    out << (&row == rows ? "" : &row == std::end(rows) - 1 ? " or " : ", ") << row.get(context);
  return text;
}

} // namespace weir

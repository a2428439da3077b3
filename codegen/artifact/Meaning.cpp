//===- Meaning.cpp - The text of a kernel's meaning -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Meaning.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/FormerNames.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace weir {
namespace {

/// MLIR's parser recurses into brackets, as deep as the text goes.
constexpr int deepest = 64;

bool isTooDeep(StringRef text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (StringRef("([{<").contains(c) && ++depth > deepest)
      return true;
    if (StringRef(")]}").contains(c) || (c == '>' && (i == 0 || text[i - 1] != '-')))
      --depth;
  }
  return false;
}

/// The text with the present names of ops: an artifact of an earlier release has their former ones.
std::string withPresentNames(std::string text) {
  for (const FormerName &name : formerNames) {
    std::string before = "weir." + name.before.str() + " ", now = "weir." + name.now.str() + " ";
    for (size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += now.size())
      text.replace(at, before.size(), now);
  }
  return text;
}

/// Bytes of a tensor; none if an int64_t does not hold them.
std::optional<int64_t> bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t bytes = storageBytes(RankedTensorType::get({}, tensor.getElementType()));
  for (int64_t size : tensor.getShape())
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

LogicalResult fits(KernelOp meaning, plan::KernelOp kernel) {
  auto error = [&] { return kernel.emitOpError("has a meaning that is not its own: "); };
  if (meaning.getShape() != kernel.getShape())
    return error() << "it is of shape " << stringifyKernelShape(meaning.getShape());
  SmallVector<Type> types(meaning->getOperandTypes());
  llvm::append_range(types, meaning->getResultTypes());
  if (types.size() > kernel.getTakes().size())
    return error() << "it has " << types.size() << " inputs and results, the kernel "
                   << kernel.getTakes().size() << " operands";
  for (auto [i, type] : llvm::enumerate(types))
    if (int64_t bytes = kernel.getTaken(i).getBytes(); bytesOf(type) != bytes)
      return error() << "operand " << i << " of " << bytes << " bytes is a " << type;
  for (Operation &op : meaning.getBody().front())
    if (op.getNumRegions() != 0 || isa<ReadOp, WriteOp, GradientOp>(op))
      return error() << op.getName() << " cannot be in a kernel";
  return success();
}

} // namespace

std::string printMeaning(plan::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  AsmState state(kernel, OpPrintingFlags().useLocalScope());
  kernel.getBody().front().print(stream, state);
  return text;
}

LogicalResult parseMeaning(StringRef text, plan::KernelOp kernel) {
  if (text.empty())
    return kernel.emitOpError("has no meaning in the artifact: compile the model again");
  if (isTooDeep(text))
    return kernel.emitOpError("has a meaning with more than ")
           << deepest << " brackets in each other";
  // A kernel around the text, which is a region's and not a whole program's.
  std::string whole =
      "plan.kernel map @meaning attributes {parts = [], takes = [], thread_scratch = "
      "0 : i64, flops = 0 : i64, bytes = 0 : i64} {\n" +
      withPresentNames(text.str()) + "\n}\n";
  ParserConfig config(kernel.getContext(), /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> parsed =
      parseSourceString<ModuleOp>(whole, config, ("meaning of " + kernel.getSymName()).str());
  if (!parsed)
    return failure();
  auto &ops = parsed->getBody()->getOperations();
  auto outer = ops.size() == 1 ? dyn_cast<plan::KernelOp>(ops.front()) : plan::KernelOp();
  auto inner = outer && outer.getBody().front().getOperations().size() == 1
                   ? dyn_cast<KernelOp>(outer.getBody().front().front())
                   : KernelOp();
  if (!inner)
    return kernel.emitOpError("has a meaning that is not one weir.kernel");
  if (failed(verify(inner)) || failed(fits(inner, kernel)))
    return failure();
  kernel.getBody().takeBody(outer.getBody());
  return success();
}

} // namespace weir

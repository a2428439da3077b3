//===- Jit.cpp - Running scalar forms compiled as plain loops -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/ir/weir/Jit.h"

#include "ir/weir/interfaces/Elements.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"
#include <cstring>

using namespace mlir;

namespace weir {

void registerJitDialects(DialectRegistry &registry) {
  registry.insert<memref::MemRefDialect, LLVM::LLVMDialect>();
  registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static MemRefType bufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), scalarType(type.getElementType()));
}

// A function with a buffer for each argument and each result of `function`.
static OwningOpRef<ModuleOp> lowered(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  SmallVector<Type> buffers;
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    buffers.push_back(bufferType(type));
  builder.setInsertionPointToStart(module->getBody());
  auto target = func::FuncOp::create(builder, loc, "f", builder.getFunctionType(buffers, {}));
  target->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
  Block *body = target.addEntryBlock();
  builder.setInsertionPointToStart(body);

  IRMapping bufferOf;
  bufferOf.map(function.getArguments(),
               body->getArguments().take_front(function.getNumArguments()));
  Operation *terminator = function.getBody().front().getTerminator();
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto element = [&](unsigned operand, ValueRange indices) -> Value {
      return memref::LoadOp::create(builder, op.getLoc(), bufferOf.lookup(op.getOperand(operand)),
                                    indices);
    };
    for (OpResult result : op.getResults()) {
      Value buffer = memref::AllocOp::create(builder, op.getLoc(), bufferType(result.getType()));
      bufferOf.map(result, buffer);
      Scalars s(builder, op.getLoc());
      s.loops(
          shapeOf(result), ValueRange(), [&](ValueRange indices, ValueRange) -> SmallVector<Value> {
            Value value =
                cast<Lowerable>(op).element(builder, result.getResultNumber(), indices, element);
            memref::StoreOp::create(builder, op.getLoc(), value, buffer, indices);
            return {};
          });
    }
  }
  for (OpOperand &operand : terminator->getOpOperands())
    memref::CopyOp::create(
        builder, loc, bufferOf.lookup(operand.get()),
        body->getArgument(function.getNumArguments() + operand.getOperandNumber()));
  func::ReturnOp::create(builder, loc);
  return module;
}

static void store(Type element, char *to, double value) {
  if (element.isF32()) {
    float number = float(value);
    std::memcpy(to, &number, 4);
  } else if (element.isInteger(32)) {
    int32_t number = int32_t(value);
    std::memcpy(to, &number, 4);
  } else {
    *to = char(uint8_t(value));
  }
}

static double load(Type element, const char *from) {
  if (element.isF32()) {
    float number;
    std::memcpy(&number, from, 4);
    return number;
  }
  if (element.isInteger(32)) {
    int32_t number;
    std::memcpy(&number, from, 4);
    return number;
  }
  return uint8_t(*from);
}

FailureOr<Tensors> runCompiled(func::FuncOp function, ArrayRef<Tensor> inputs) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  OwningOpRef<ModuleOp> module = lowered(function);
  PassManager passes(function.getContext());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(
      createConvertFuncToLLVMPass(ConvertFuncToLLVMPassOptions{.useBarePtrCallConv = true}));
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(verify(*module)) || failed(passes.run(*module)))
    return failure();
  auto engine = ExecutionEngine::create(*module);
  if (!engine)
    return function.emitError(llvm::toString(engine.takeError()));

  std::vector<std::vector<char>> buffers;
  std::vector<void *> pointers;
  auto types = llvm::to_vector(
      llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()));
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensor = cast<RankedTensorType>(type);
    int64_t bytes = storageBytes(type) / std::max<int64_t>(1, tensor.getNumElements());
    buffers.emplace_back(storageBytes(type));
    if (i < inputs.size())
      for (auto [j, value] : llvm::enumerate(inputs[i].values))
        store(tensor.getElementType(), &buffers.back()[j * bytes], value);
  }
  for (auto &buffer : buffers)
    pointers.push_back(buffer.data());
  SmallVector<void *> arguments;
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  if (auto error = (*engine)->invokePacked("f", arguments))
    return function.emitError(llvm::toString(std::move(error)));

  Tensors results;
  for (size_t i = inputs.size(); i < types.size(); ++i) {
    auto tensor = cast<RankedTensorType>(types[i]);
    results.emplace_back(tensor.getShape());
    int64_t bytes = storageBytes(tensor) / std::max<int64_t>(1, tensor.getNumElements());
    for (auto [j, value] : llvm::enumerate(results.back().values))
      value = load(tensor.getElementType(), &buffers[i][j * bytes]);
  }
  return results;
}

} // namespace weir

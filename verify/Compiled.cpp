//===- Compiled.cpp - Compiles and runs a module on this machine ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Compiled.h"
#include "artifact/Reader.h"
#include "codegen/targets/Targets.h"
#include "ir/weir/Names.h"
#include "passes/Pipeline.h"
#include "runtime/devices/Devices.h"

namespace weir {
namespace {

Tensor read(const std::byte *from, Element element, llvm::ArrayRef<int64_t> shape) {
  Tensor tensor(shape);
  loadNumbers(element, from, tensor.values);
  return tensor;
}

size_t bytesOf(const artifact::Port &port) {
  uint64_t size = 0;
  artifact::tensorSize(port.dtype(), *port.shape(), size);
  return size;
}

/// The name in the IR: the artifact's run scalars have none of its prefix.
std::string nameOf(const TensorView &variable) {
  return (variable.role == artifact::Role::run ? runPrefix : "") + variable.name;
}

} // namespace

void nameEntryPorts(mlir::ModuleOp module) {
  mlir::Builder builder(module.getContext());
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (!function.getArgAttr(i, inputAttrName))
        function.setArgAttr(i, inputAttrName, builder.getStringAttr("input" + std::to_string(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      if (!function.getResultAttr(i, outputAttrName))
        function.setResultAttr(i, outputAttrName,
                               builder.getStringAttr("output" + std::to_string(i)));
      if (!function.getResultAttr(i, partAttrName))
        function.setResultAttr(i, partAttrName, builder.getStringAttr("tensor"));
    }
  }
}

void makeTrainable(mlir::ModuleOp module) {
  mlir::OpBuilder builder(module.getBodyRegion());
  for (llvm::StringRef name : {batchAttrName, accumulateAttrName, stepsAttrName})
    module->setAttr(name, builder.getI64IntegerAttr(1));
  for (llvm::StringRef name : {"init", "step"}) {
    if (module.lookupSymbol(name))
      continue;
    mlir::OpBuilder::InsertionGuard guard(builder);
    auto entry =
        mlir::func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(entry.addEntryBlock());
    mlir::func::ReturnOp::create(builder, module.getLoc());
  }
}

mlir::FailureOr<std::vector<std::byte>> compileModule(mlir::ModuleOp module, llvm::StringRef target,
                                                      llvm::ArrayRef<llvm::StringRef> without) {
  nameEntryPorts(module);
  return compile(module, {.target = makeTarget(target), .without = without});
}

static ProgramOptions poisoned(DeviceOptions device) {
  device.poison = true;
  return {.device = std::move(device), .entriesAlone = true};
}

CompiledProgram::CompiledProgram(std::vector<std::byte> artifact, DeviceOptions device)
    : loaded(std::make_unique<Program>(std::move(artifact), makeDevice,
                                       poisoned(std::move(device)))) {}

void CompiledProgram::setVariables(const std::map<std::string, Tensor> &values) {
  for (const TensorView &variable : loaded->variables())
    if (auto found = values.find(nameOf(variable)); found != values.end()) {
      assert(found->second.shape == Shape(variable.shape.begin(), variable.shape.end()));
      std::vector<std::byte> bytes(variable.size);
      storeNumbers(variable.element, found->second.values, bytes.data());
      variable.write(0, bytes);
    }
}

std::map<std::string, Tensor> CompiledProgram::variables() const {
  std::map<std::string, Tensor> values;
  for (const TensorView &variable : loaded->variables()) {
    std::vector<std::byte> bytes(variable.size);
    variable.read(0, bytes);
    values[nameOf(variable)] = read(bytes.data(), variable.element, variable.shape);
  }
  return values;
}

Tensors CompiledProgram::run(llvm::StringRef name, llvm::ArrayRef<Tensor> inputs) {
  const artifact::Entry *entry = loaded->entry(name);
  assert(entry && inputs.size() == entry->inputs()->size());
  for (auto [port, tensor] : llvm::zip(*entry->inputs(), inputs)) {
    std::vector<std::byte> bytes(bytesOf(*port));
    storeNumbers(artifact::elementOf(port->dtype()), tensor.values, bytes.data());
    loaded->write(*entry, *port, bytes);
  }
  loaded->run(*entry);
  Tensors outputs;
  for (const artifact::Port *port : *entry->outputs()) {
    std::vector<std::byte> bytes(bytesOf(*port));
    loaded->read(*entry, *port, bytes);
    outputs.push_back(read(bytes.data(), artifact::elementOf(port->dtype()),
                           llvm::ArrayRef<int64_t>(port->shape()->data(), port->shape()->size())));
  }
  return outputs;
}

} // namespace weir

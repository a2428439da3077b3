//===- VerifyData.cpp - Rows of data that weir verify runs a model on -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/VerifyData.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "runtime/data/Dataset.h"
#include <span>

using namespace mlir;

namespace weir {
namespace {

std::vector<InputSpec> specsOf(func::FuncOp entry) {
  std::vector<InputSpec> specs;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(entry.getArgumentTypes()[i]);
    InputSpec spec;
    spec.name = entry.getArgAttrOfType<StringAttr>(i, inputAttrName).str();
    spec.element = *elementOf(type.getElementType());
    spec.shape = type.getShape().vec();
    if (auto limit = entry.getArgAttrOfType<IntegerAttr>(i, limitAttrName))
      spec.limit = limit.getInt();
    if (auto config = entry.getArgAttrOfType<StringAttr>(i, limitConfigAttrName))
      spec.limitConfig = config.str();
    specs.push_back(std::move(spec));
  }
  return specs;
}

} // namespace

Tensors rowsOfData(func::FuncOp entry, const std::vector<std::string> &data, unsigned seed) {
  std::vector<InputSpec> specs = specsOf(entry);
  std::vector<SourceSpec> sources;
  for (const std::string &text : data) {
    SourceSpec source = parseSource("--data", text);
    bool isRead =
        llvm::any_of(specs, [&](const InputSpec &spec) { return spec.name == source.input; });
    if (isRead || entry.getSymName() == "step") // which has all inputs
      sources.push_back(std::move(source));
  }
  if (entry.getSymName() != "step" && sources.size() < specs.size())
    return {};
  Dataset dataset(specs, sources, "--data");
  int64_t rows = specs.front().rows(), span = std::max<int64_t>(dataset.window(), 1);
  dataset.requireRows(rows);
  int64_t places = dataset.units() - span + 1;
  Tensors tensors;
  for (size_t input = 0; input < specs.size(); ++input) {
    const InputSpec &spec = specs[input];
    Tensor &tensor = tensors.emplace_back(spec.shape);
    std::vector<std::byte> row(spec.rowBytes());
    int64_t size = spec.rowElements();
    for (int64_t i = 0; i < spec.rows(); ++i) {
      uint64_t place = (uint64_t(seed) * uint64_t(rows) + uint64_t(i)) * uint64_t(span);
      dataset.write(input, int64_t(place % uint64_t(places)), row.data());
      loadNumbers(spec.element, row.data(),
                  std::span<double>(tensor.values.data() + i * size, size_t(size)));
    }
  }
  return tensors;
}

} // namespace weir

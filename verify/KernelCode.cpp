//===- KernelCode.cpp - Compiled kernels, one at a time -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/KernelCode.h"
#include "runtime/core/ThreadPool.h"
#include "verify/Compare.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>

namespace weir {
namespace {

/// An operand's bytes, at a multiple of 64, NaN, with a pattern behind them.
class Operand {
public:
  explicit Operand(size_t size) : size(size), storage(size + 2 * alignment, 0xff) {
    begin = storage.data() + (alignment - reinterpret_cast<uintptr_t>(storage.data()) % alignment);
    std::memset(begin + size, pattern, alignment);
  }
  bool intact() const {
    return std::all_of(begin + size, begin + size + alignment,
                       [](uint8_t byte) { return byte == pattern; });
  }

  uint8_t *begin;

private:
  static constexpr size_t alignment = 64;
  static constexpr uint8_t pattern = 0xa5;
  size_t size;
  std::vector<uint8_t> storage;
};

mlir::Type elementOf(mlir::Type tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor).getElementType();
}

void put(const Tensor &tensor, mlir::Type type, uint8_t *bytes) {
  mlir::Type element = elementOf(type);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    if (element.isF32()) {
      auto value = static_cast<float>(tensor.values[i]);
      std::memcpy(bytes + 4 * i, &value, 4);
    } else if (element.isInteger(32)) {
      auto value = static_cast<int32_t>(tensor.values[i]);
      std::memcpy(bytes + 4 * i, &value, 4);
    } else {
      bytes[i] = static_cast<uint8_t>(tensor.values[i]);
    }
  }
}

Tensor take(mlir::Type type, const uint8_t *bytes) {
  mlir::Type element = elementOf(type);
  Tensor tensor(llvm::cast<mlir::RankedTensorType>(type).getShape());
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    if (element.isF32()) {
      float value;
      std::memcpy(&value, bytes + 4 * i, 4);
      tensor.values[i] = value;
    } else if (element.isInteger(32)) {
      int32_t value;
      std::memcpy(&value, bytes + 4 * i, 4);
      tensor.values[i] = value;
    } else {
      tensor.values[i] = bytes[i];
    }
  }
  return tensor;
}

using KernelFunction = void (*)(void *const *operands, int64_t lo, int64_t hi, void *scratch);

/// How many units in the last place of its inputs a result may be off, on top of its own tolerance.
constexpr double units = 64;

} // namespace

KernelCode::KernelCode(llvm::ArrayRef<char> code)
    : loader({reinterpret_cast<const std::byte *>(code.data()), code.size()}) {}

Tensors KernelCode::run(plan::KernelOp kernel, llvm::ArrayRef<Tensor> inputs, bool &outside) {
  KernelOp meaning = meaningOf(kernel);
  std::vector<Operand> operands;
  for (int64_t size : kernel.getSizes())
    operands.emplace_back(size);
  for (auto [i, input] : llvm::enumerate(inputs))
    put(input, meaning.getInputs()[i].getType(), operands[i].begin);
  std::vector<void *> places;
  for (Operand &operand : operands)
    places.push_back(operand.begin);
  ComputeThread thread;
  for (auto [part, suffix] : llvm::enumerate(kernel.getSuffixes())) {
    std::string symbol =
        kernel.getSymName().str() + llvm::cast<mlir::StringAttr>(suffix).getValue().str();
    auto function = reinterpret_cast<KernelFunction>(loader.symbol(symbol));
    assert(function && "the code exports every launch");
    // Two ranges, the later one first: tasks are independent.
    int64_t tasks = kernel.getTasks()[part], half = tasks / 2;
    for (auto [lo, hi] : {std::pair(half, tasks), std::pair(int64_t(0), half)}) {
      if (lo == hi)
        continue;
      Operand scratch(kernel.getThreadScratch());
      function(places.data(), lo, hi, scratch.begin);
      outside |= !scratch.intact();
    }
  }
  Tensors results;
  for (auto [i, result] : llvm::enumerate(meaning.getResults()))
    results.push_back(take(result.getType(), operands[inputs.size() + i].begin));
  outside |= llvm::any_of(operands, [](const Operand &operand) { return !operand.intact(); });
  return results;
}

mlir::FailureOr<std::vector<double>> sensitivity(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                                 llvm::ArrayRef<Tensor> truth, int runs,
                                                 std::vector<std::vector<bool>> &moved) {
  std::vector<double> distance(truth.size(), 0.0);
  moved.clear();
  for (const Tensor &tensor : truth)
    moved.emplace_back(tensor.values.size(), false);
  uint32_t bits = 1;
  for (int run = 0; run < runs; ++run) {
    Tensors shaken(inputs);
    for (auto [tensor, input] : llvm::zip_equal(shaken, meaning.getInputs()))
      if (elementOf(input.getType()).isF32())
        for (double &value : tensor.values) {
          bits = bits * 1664525u + 1013904223u;
          value *= 1 + (bits >> 31 ? 1 : -1) * 0x1p-23;
        }
    Interpreter interpreter;
    mlir::FailureOr<Tensors> results = interpreter.run(meaning.getBody().front(), shaken);
    if (mlir::failed(results))
      return mlir::failure();
    for (size_t i = 0; i < truth.size(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < truth[i].values.size(); ++j) {
        double difference = (*results)[i].values[j] - truth[i].values[j];
        moved[i][j] = moved[i][j] || difference != 0;
        sum += std::isfinite(difference) ? difference * difference : 0;
      }
      distance[i] = std::max(distance[i], std::sqrt(sum));
    }
  }
  return distance;
}

mlir::FailureOr<std::vector<KernelFault>>
KernelCode::check(plan::KernelOp kernel, llvm::ArrayRef<Tensor> inputs, double &largest) {
  KernelOp meaning = meaningOf(kernel);
  Interpreter interpreter;
  mlir::FailureOr<Tensors> truth = interpreter.run(meaning.getBody().front(), inputs);
  if (mlir::failed(truth))
    return mlir::failure();
  std::vector<std::vector<bool>> moved;
  auto noise = sensitivity(meaning, inputs, *truth, 2, moved);
  if (mlir::failed(noise))
    return mlir::failure();
  bool outside = false;
  Tensors results = run(kernel, inputs, outside);
  std::vector<KernelFault> faults;
  if (outside)
    faults.push_back({0, "it writes behind the end of an operand", INFINITY});
  for (unsigned i = 0; i < results.size(); ++i) {
    bool exact = !elementOf(meaning.getResult(i).getType()).isF32();
    // A comparison that rounding decides may go either way.
    if (exact)
      for (size_t j = 0; j < results[i].values.size(); ++j)
        if (moved[i][j])
          results[i].values[j] = (*truth)[i].values[j];
    Difference difference = compare(results[i], (*truth)[i], exact ? 0 : gradientTolerance);
    if (difference.agrees || difference.absolute <= units * (*noise)[i]) {
      largest = std::max(largest, difference.agrees ? difference.relative : 0);
      continue;
    }
    faults.push_back(
        {i,
         llvm::formatv("element {0} should be {1:e6} but is {2:e6}", difference.worstIndex,
                       (*truth)[i].values[difference.worstIndex],
                       results[i].values[difference.worstIndex])
             .str(),
         difference.relative});
  }
  return faults;
}

} // namespace weir

//===- SmallModel.h - What verification is tested with ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_VERIFY_SMALLMODEL_H
#define WEIR_TEST_VERIFY_SMALLMODEL_H

#include "verify/Verify.h"

namespace weir::test {

constexpr const char *smallModel =
    R"(config batch = 6, width = 17, classes = 5, rows = 7, microbatches = 1

block centre(x: [n, c]) -> [n, c] {
  state average: [c] = zeros()
  if training {
    next average = 0.9 * average + 0.1 * sum(x, axes = [0]) / n
  }
  return x - average
}

model net(ids: i32[b], x: [b, 9]) -> [b, classes] {
  row = embedding(ids, rows, width) as table
  h = tanh(linear(x[:, 1:8], width) as first)
  h = dropout(centre(h) as middle, 0.25)
  g = h * row - exp(0.1 * h)
  y = linear(g, width) as last
  return linear(relu(y), classes) as head
}

train {
  input  ids: i32[batch]
  input  x: [batch, 9]
  input  labels: i32[batch]
  steps  100
  accumulate microbatches
  loss   cross_entropy(net(ids, x), labels)
  clip   global_norm(1.0)
  update adamw(1e-2, decay = 0.01)
}
)";

/// The first op of a kind in @step that fits; null if there is none.
template <class Op> Op first(mlir::ModuleOp module, llvm::function_ref<bool(Op)> fits) {
  Op found;
  for (mlir::Operation &top : *module.getBody())
    if (mlir::SymbolTable::getSymbolName(&top).getValue() == "step")
      top.walk([&](Op op) {
        if (!found && fits(op))
          found = op;
      });
  return found;
}

bool isGradient(mlir::Operation *op);
bool hasShape(mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// A model as a file, as long as this lives.
class ModelFile {
public:
  explicit ModelFile(const char *text);
  ~ModelFile();
  std::string path;
};

/// What programs and plans need to be interpreted.
mlir::DialectRegistry reference();

/// A buffer of the plan's @step by its label and size.
plan::AllocOp buffer(mlir::ModuleOp plan, llvm::StringRef label, uint64_t size);

/// What the verification of a model finds. `tamper` sees what each pass has made, `before` what the
/// frontend has.
mlir::FailureOr<VerifyReport>
verified(int microbatches, bool full,
         std::function<void(llvm::StringRef, mlir::ModuleOp)> tamper = nullptr,
         llvm::function_ref<void(mlir::ModuleOp)> before = nullptr, const char *model = smallModel,
         const char *mesh = "", int64_t zero = 0);

} // namespace weir::test

#endif

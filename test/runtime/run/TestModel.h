//===- TestModel.h - The artifact of a model of four numbers --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_RUN_TESTMODEL_H
#define WEIR_TEST_RUNTIME_RUN_TESTMODEL_H

#include "test/runtime/TestFiles.h"
#include "test/runtime/core/TestProgram.h"
#include <functional>

namespace weir {

/// See Kernels.cpp. `gradient` is what the step's tensor output is called; `edit` has the
/// last word.
inline std::vector<std::byte> testModel(const std::string &parameter = "weights",
                                        const std::string &gradient = "gradient/weights",
                                        const std::function<void(artifact::ProgramT &)> &edit = {},
                                        const std::vector<std::string> &moreScalars = {}) {
  using artifact::DType, artifact::PortKind, artifact::Role;
  TestProgram test;
  test.program.model = "four";
  test.program.batch = 2;
  test.program.steps = 30;
  uint32_t weights = test.variable(parameter, {4});
  uint32_t momentum = test.variable("sgd.m/weights", {4}, DType::f32, Role::optimizer);
  uint32_t seed = test.variable("seed", {}, DType::i32, Role::run);
  uint32_t now = test.variable("step", {}, DType::i32, Role::run);
  uint32_t total = test.variable("total_steps", {}, DType::i32, Role::run);
  for (const std::string &name : moreScalars)
    test.variable(name, {}, DType::i32, Role::run);
  auto variable = [](uint32_t index) { return TestProgram::var(index); };

  auto launch = [&](artifact::EntryT &entry, const std::string &symbol,
                    std::vector<Operand> operands, std::vector<uint64_t> sizes,
                    std::vector<size_t> written) {
    uint32_t kernel = test.kernel(symbol, 1, std::move(sizes), std::move(written));
    entry.actions.push_back(TestProgram::launch(kernel, std::move(operands)));
  };
  auto output = [&](artifact::EntryT &entry, const std::string &name, PortKind kind,
                    DType dtype = DType::f32) {
    uint32_t buffer = test.buffer(entry, 4, 0, 0);
    entry.outputs.push_back(TestProgram::port(name, kind, TestProgram::buf(buffer), {}, dtype));
    return TestProgram::buf(buffer);
  };
  auto input = [&](artifact::EntryT &entry, int64_t rows) {
    uint32_t buffer = test.buffer(entry, 12 * rows, 0, 0);
    entry.inputs.push_back(TestProgram::port("window", PortKind::input, TestProgram::buf(buffer),
                                             {rows, 3}, DType::i32));
    entry.inputs.back()->limit = 10;
    entry.inputs.back()->limit_config = "vocab";
    return TestProgram::buf(buffer);
  };

  launch(*test.program.entries[0], "init", {variable(weights), variable(momentum), variable(seed)},
         {16, 16, 4}, {0, 1});
  {
    artifact::EntryT &entry = test.step();
    Operand window = input(entry, 2), sum = output(entry, "loss", PortKind::sum),
            count = output(entry, "loss", PortKind::count),
            lr = output(entry, "lr", PortKind::scalar),
            norm = output(entry, "grad_norm", PortKind::scalar),
            skipped = output(entry, "skipped", PortKind::scalar, DType::i32);
    uint32_t slopes = test.buffer(entry, 16, 0, 0);
    entry.outputs.push_back(
        TestProgram::port(gradient, PortKind::tensor, TestProgram::buf(slopes), {4}));
    launch(entry, "step",
           {window, variable(weights), variable(momentum), variable(seed), variable(now),
            variable(total), sum, count, lr, norm, skipped, TestProgram::buf(slopes)},
           {24, 16, 16, 4, 4, 4, 4, 4, 4, 4, 4, 16}, {1, 2, 4, 6, 7, 8, 9, 10, 11});
    artifact::KernelT &kernel = *test.program.kernels.back();
    for (size_t i = 0; i < kernel.operands.size(); ++i) {
      auto tensor = std::make_unique<artifact::TensorTypeT>();
      bool whole = i == 0 || (i >= 3 && i <= 5) || i == 10;
      tensor->dtype = whole ? DType::i32 : DType::f32;
      tensor->shape = {static_cast<int64_t>(kernel.operands[i].size() / 4)};
      kernel.tensors.push_back(std::move(tensor));
    }
  }
  for (int64_t rows : {2, 1}) {
    artifact::EntryT &entry = test.addEntry(rows == 2 ? "eval" : "eval_one");
    std::string symbol = entry.name;
    Operand window = input(entry, rows), sum = output(entry, "loss", PortKind::sum),
            count = output(entry, "loss", PortKind::count),
            hits = output(entry, "hits", PortKind::sum),
            of = output(entry, "hits", PortKind::count);
    launch(entry, symbol, {window, variable(weights), sum, count, hits, of},
           {static_cast<uint64_t>(12 * rows), 16, 4, 4, 4, 4}, {2, 3, 4, 5});
  }
  {
    artifact::EntryT &entry = test.addEntry("predict");
    Operand window = input(entry, 1);
    uint32_t logits = test.buffer(entry, 120, 0, 0);
    entry.outputs.push_back(
        TestProgram::port("logits", PortKind::tensor, TestProgram::buf(logits), {1, 3, 10}));
    launch(entry, "predict", {window, variable(weights), TestProgram::buf(logits)}, {12, 16, 120},
           {2});
  }
  test.code(KERNELS "/four.so");
  if (edit)
    edit(test.program);
  return test.file();
}

} // namespace weir

#endif

//===- NullStep.cpp - What the runtime takes of a step --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// null-step ARTIFACT runs its step on the null device and prints what one takes: the walk over its
// actions, and what the host writes and reads around it, without any arithmetic.
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "runtime/core/Program.h"
#include "runtime/null/NullDevice.h"
#include "support/Error.h"
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

using namespace weir;

int main(int argc, char **argv) try {
  std::ifstream file(argc > 1 ? argv[1] : "", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::byte> bytes(text.size());
  std::copy(text.begin(), text.end(), reinterpret_cast<char *>(bytes.data()));
  Program program(std::move(bytes), null::makeDevice, {});
  const artifact::Entry &step = *program.entry("step");
  std::vector<float> scalars(step.outputs()->size());
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    constexpr int steps = 20;
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) {
      program.run(step);
      for (uint32_t port = 0; port < step.outputs()->size(); ++port)
        if (step.outputs()->Get(port)->kind() != artifact::PortKind::tensor)
          program.read(step, *step.outputs()->Get(port),
                       std::as_writable_bytes(std::span(scalars).subspan(port, 1)));
    }
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / steps);
  }
  std::printf("%zu actions: %.2f us a step without arithmetic\n", artifact::actionsOf(step).size(),
              best);
  return 0;
} catch (const Failure &failure) {
  std::fprintf(stderr, "error: %s\n", failure.what());
  return static_cast<int>(failure.exit);
}

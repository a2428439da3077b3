//===- GradientsTest.cpp - The gradients of a run's last step -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/SafeTensors.h"
#include "test/runtime/run/TrainFixture.h"
#include <cstring>

namespace weir {
namespace {

/// The four numbers of a safetensors file.
std::vector<float> gradientsIn(const std::string &path) {
  SafeTensors file(path, Exit::data);
  const StoredTensor &tensor = file.tensors().at("weights");
  EXPECT_EQ(describe(tensor), "F32[4]");
  std::vector<float> values(4);
  std::memcpy(values.data(), tensor.data, tensor.size);
  return values;
}

TEST_F(Train, GradientsOfTheLastStep) {
  RunOptions all = options("a");
  all.gradients = folder / "a.safetensors";
  all.holdout = 0.1; // an evaluation after the last step
  EXPECT_EQ(run(all), Exit::ok);
  auto gradients = gradientsIn(all.gradients);
  double norm = 0;
  for (float value : gradients)
    norm += value * value;
  std::ostringstream value;
  value.precision(9);
  value << "\"grad_norm\":" << static_cast<float>(norm);
  std::string records = metrics("a");
  size_t last = records.rfind("{\"step\":30,");
  ASSERT_NE(last, std::string::npos);
  EXPECT_TRUE(says(records.substr(last), {value.str()}));
  RunOptions shorter = options("b");
  shorter.steps = 29;
  shorter.holdout = 0.1;
  shorter.gradients = all.gradients;
  run(shorter);
  EXPECT_NE(gradientsIn(shorter.gradients), gradients) << "overwritten";
}

TEST_F(Train, GradientsOfANotFiniteStep) {
  RunOptions all = withOddToken("a", 20, 9);
  all.gradients = folder / "a.safetensors";
  refused(Exit::numeric, all);
  EXPECT_NE(gradientsIn(all.gradients), std::vector<float>(4, 0.0f));
}

TEST_F(Train, GradientsThatAreNotThere) {
  RunOptions all = options("a");
  all.gradients = folder / "a.safetensors";
  EXPECT_TRUE(
      says(messageOf(Exit::usage, [&] { runTraining(testModel("weights", "values"), all); }),
           {"--gradients", "'four' does not output its gradients", "`weir compile --gradients`"}));
  EXPECT_FALSE(std::filesystem::exists(all.gradients));
  EXPECT_FALSE(std::filesystem::exists(all.metrics)) << "nothing has been written";
  all.gradients = folder / "absent/a.safetensors";
  EXPECT_TRUE(says(refused(Exit::storage, all), {"absent/a.safetensors", "cannot create"}));
}

TEST_F(Train, GradientsOfNoStep) {
  RunOptions all = options("a");
  run(all);
  all.resume = true;
  all.gradients = folder / "a.safetensors";
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(err, {"there was no step left to run"}));
}

} // namespace
} // namespace weir

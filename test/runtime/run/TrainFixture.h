//===- TrainFixture.h - A folder to run the small model in ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_RUN_TRAINFIXTURE_H
#define WEIR_TEST_RUNTIME_RUN_TRAINFIXTURE_H

#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/run/Train.h"
#include "test/runtime/run/TestModel.h"
#include <filesystem>
#include <functional>
#include <sstream>
#include <unistd.h>

namespace weir {

/// Runs testModel() on a text of four letters.
class Train : public ::testing::Test {
protected:
  Train() {
    std::string text;
    for (int i = 0; i < 200; ++i)
      text += static_cast<char>("abcde"[i * i % 7 % 5]);
    data = "window=" + folder.write("text.txt", text);
  }
  /// Checkpoints and metrics go to `name` in the folder.
  RunOptions options(const std::string &name) {
    RunOptions options;
    options.data = {data};
    options.device.threads = 1;
    options.checkpoint = folder / name;
    options.metrics = folder / (name + ".jsonl");
    return options;
  }
  /// Such a run on 40 tokens in order, of which token `at` is `odd`, none of the model's five.
  RunOptions withOddToken(const std::string &name, int at, uint16_t odd) {
    std::string tokens;
    for (uint16_t i = 0; i < 40; ++i)
      tokens += raw(static_cast<uint16_t>(i == at ? odd : i % 5));
    RunOptions all = options(name);
    all.data = {"window=" + folder.write("t.bin", tokens)};
    all.noShuffle = true;
    return all;
  }
  /// A process of its own that trains, once its metrics have a third step.
  pid_t started(const RunOptions &options) {
    pid_t child = fork();
    if (child == 0) {
      if (!freopen("/dev/null", "w", stderr))
        _exit(1);
      _exit(static_cast<int>(runTraining(testModel(), options)));
    }
    while (readAll(options.metrics).find("\"step\":3") == std::string::npos)
      usleep(100);
    return child;
  }
  /// What it prints is in `out` and `err` afterwards, and after a Failure as well.
  Exit run(const RunOptions &options, const std::vector<std::byte> &model = testModel()) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    struct Captured {
      Train &test;
      ~Captured() {
        test.out = ::testing::internal::GetCapturedStdout();
        test.err = ::testing::internal::GetCapturedStderr();
      }
    } captured{*this};
    return runTraining(model, options);
  }
  /// The message of the failure that ends the run.
  std::string refused(Exit exit, const RunOptions &options) {
    return messageOf(exit, [&] { run(options); });
  }
  /// A run that goes on from the last checkpoint of the run `from`, each tensor of which was
  /// edited.
  RunOptions edited(const std::string &from, const std::string &to,
                    const std::function<void(StoredTensor &)> &edit) {
    Checkpoint before = CheckpointStore::open(CheckpointStore(folder / from, 3, disk).pathOf(30));
    auto tensorsOf = [&](const SafeTensors &file) {
      std::vector<StoredTensor> tensors;
      for (const auto &[name, tensor] : file.tensors())
        edit(tensors.emplace_back(tensor));
      return tensors;
    };
    std::filesystem::remove_all(folder / to);
    std::filesystem::create_directory(folder / to);
    CheckpointStore(folder / to, 3, disk)
        .save(before.manifest, tensorsOf(before.model), tensorsOf(before.state));
    RunOptions more = options(to);
    more.resume = true;
    return more;
  }
  /// The newest checkpoint's tensors.
  std::string kept(const std::string &name) {
    CheckpointStore store(folder / name, 3, disk);
    std::string path = store.pathOf(store.steps().at(0));
    return readAll(path + "/model.safetensors") + readAll(path + "/state.safetensors");
  }
  /// The metrics without the times.
  std::string metrics(const std::string &name) {
    std::istringstream in(readAll(folder / (name + ".jsonl")));
    std::string text;
    for (std::string line; std::getline(in, line);)
      text += line.substr(0, std::min(line.find(",\"step_ms\""), line.find(",\"seconds\""))) + "\n";
    return text;
  }
  TestFolder folder;
  Disk disk;
  std::string data, out, err;
};

} // namespace weir

#endif

//===- main.cpp - Trains an artifact with the runtime alone ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Train.h"
#include "tools/common/CommandLine.h"
#include "tools/common/Files.h"

using namespace weir;

int main(int argc, char **argv) {
  return guarded([&] {
    CLI::App app("Examples:\n"
                 "  weir-run gpt.weirx --data window=shakespeare.txt --holdout 0.1\n"
                 "  weir-run gpt.weirx --data window=shakespeare.txt --checkpoint runs/gpt "
                 "--resume --metrics m.jsonl\n\n"
                 "Trains the model that `weir compile` wrote. An artifact contains machine code: "
                 "running one is running a "
                 "program.\n",
                 "weir-run");
    std::string artifact;
    app.add_option("artifact", artifact, "what `weir compile` wrote")
        ->type_name("ARTIFACT")
        ->required();
    RunOptions options;
    addRunOptions(app, options);
    if (auto status = parseCommandLine(app, argc, argv))
      return *status;
    return runTraining(readArtifact(artifact), options);
  });
}

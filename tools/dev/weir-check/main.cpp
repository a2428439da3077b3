//===- main.cpp - Runs op tests on every back end -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/dev/weir-check/CheckFile.h"

using namespace weir;

int main(int argc, char **argv) {
  return guarded([&] {
    CLI::App app(
        "Examples:\n"
        "  weir-check test/ops/add.mlir\n"
        "  weir-check test/ops/*.mlir --backend interpreter\n"
        "  weir-check test/ops/div.mlir --backend cpu:x86-64-v3\n\n"
        "Runs every function of a file of tests (docs/internals/testing.md) on the reference "
        "interpreter and on every back\nend, and compares what comes out with what the "
        "file expects. A back end also takes in those whose names\ncontinue its own "
        "after a colon. Exit status 1: something differs.\n\n"
        "Back ends:\n" +
            check::describeBackends(),
        "weir-check");
    std::vector<std::string> files;
    std::string backend;
    app.add_option("files", files, "functions with check.input and check.expect")
        ->type_name("FILE")
        ->required();
    app.add_option("--backend", backend, "run on this back end alone")->type_name("NAME");
    if (auto status = parseCommandLine(app, argc, argv))
      return *status;
    Exit exit = Exit::ok;
    for (const std::string &file : files)
      if (Exit status = check::checkFile(file, backend); status != Exit::ok)
        exit = status;
    return exit;
  });
}

//===- main.cpp - Random programs against the interpreter -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/OptionRanges.h"
#include "tools/common/CommandLine.h"
#include "tools/dev/weir-smith/Batch.h"
#include <cstdlib>
#include <limits>
#include <thread>

using namespace weir;

int main(int argc, char **argv) {
  return guarded([&] {
    CLI::App app(
        "Examples:\n"
        "  weir-smith --seed 1 --count 300\n"
        "  weir-smith --seed 1000 --count 100000 --minutes 60 --jobs 2 --keep failures\n"
        "  weir-smith failures/seed-1017.mlir\n\n"
        "Makes random training programs and compares their gradients with differences of the loss, "
        "and what they\ncompute with what is left of them after every pass, without each optional "
        "pass, as a plan, and compiled.\nA failure is shrunk and kept in a file.\n",
        "weir-smith");
    CLI::Validator positive(
        [](const std::string &text) {
          double value = std::strtod(text.c_str(), nullptr);
          return value > 0 ? std::string() : "expected more than 0, found " + text;
        },
        "");
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    smith::BatchOptions options;
    options.jobs = std::max(1u, std::thread::hardware_concurrency());
    std::string file;
    bool noCompile = false, noShrink = false, print = false;
    app.add_option("file", file, "runs one program that was kept")->type_name("FILE");
    app.add_option("--seed", options.seed, "the first program's; the next ones count on")
        ->transform(integerWithin(0, most));
    app.add_option("--count", options.count, "how many programs")
        ->transform(integerWithin(1, most));
    app.add_option("--minutes", options.minutes, "end after this time")->check(positive);
    app.add_option("--jobs", options.jobs, "programs at a time")->transform(integerWithin(1, 1024));
    app.add_option("--keep", options.keep, "the folder for programs that fail")->type_name("DIR");
    app.add_option("--bits", options.bits,
                   "write each program's seed and a hash of its compiled results here")
        ->type_name("FILE");
    app.add_flag("--no-compile", noCompile, "leave out the machine code");
    app.add_option("--target", options.code.target, "what programs are compiled for (cpu)");
    app.add_option("--device", options.code.device, "where they run: emulated, for CUDA")
        ->type_name("NAME");
    app.add_flag("--no-shrink", noShrink, "keep programs that fail as they are");
    app.add_flag("--all-ops", options.allOps, "an op of the dialect in no program is a failure");
    app.add_flag("--print", print, "print the program of --seed");
    if (auto status = parseCommandLine(app, argc, argv))
      return *status;
    options.code.compile = !noCompile;
    options.shrink = !noShrink;
    if (print)
      return smith::printProgram(options.seed);
    return file.empty() ? smith::runBatch(options) : smith::runFile(file, options);
  });
}

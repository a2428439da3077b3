//===- main.cpp - The weir command ----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Commands over the compiler (Compile.h) and the runtime (runtime/run): each adds its options and
// returns what to do. `weir train` is `weir compile` and `weir run` in one process over the same
// bytes.
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "artifact/Alternatives.h"
#include "artifact/Reader.h"
#include "runtime/report/Ending.h"
#include "runtime/run/Evaluate.h"
#include "runtime/run/Generate.h"
#include "runtime/run/OptionRanges.h"
#include "runtime/run/RunOptions.h"
#include "runtime/run/Train.h"
#include "runtime/run/launch/Distributed.h"
#include "runtime/run/launch/Launcher.h"
#include "runtime/run/launch/Restarts.h"
#include "support/Text.h"
#include "tools/common/CommandLine.h"
#include "tools/common/Files.h"
#include "tools/weir/Sources.h"
#include "tools/weir/commands/CheckWritten.h"
#include "tools/weir/commands/Compile.h"
#include "tools/weir/commands/PlanModel.h"
#include "tools/weir/commands/Probe.h"
#include "tools/weir/commands/Tune.h"
#include "tools/weir/commands/Verify.h"
#include "tools/weir/inspect/ArtifactPlan.h"
#include "tools/weir/options/CompileOptions.h"
#include "tools/weir/options/InspectOptions.h"
#include "tools/weir/options/PlanFileOptions.h"
#include "tools/weir/options/PlanOptions.h"
#include "tools/weir/options/SizeOption.h"
#include "tools/weir/options/StrategyOptions.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <limits>
#include <malloc.h>
#include <unistd.h>

namespace weir {
namespace {

using Command = std::function<Exit()>;

constexpr const char *about = R"(Weir compiles a model file into one artifact and trains it.

Examples:
  weir check models/gpt-char.weir
  weir train models/gpt-char.weir --data window=input.txt --holdout 0.1 --checkpoint kept
  weir compile models/gpt-char.weir --set layers=6 -o gpt.weirx
  weir run gpt.weirx --data window=input.txt --steps 2000 --threads 4
  weir eval gpt.weirx --checkpoint kept --data window=other.txt
  weir generate gpt.weirx --checkpoint kept --prompt "To be" --length 200
  weir inspect gpt.weirx
  weir tune gpt.weirx -o gpt.tuning.json
  weir verify models/gpt-char.weir --set width=40 --set context=17 --set batch=3
  weir help train
  weir help strategy

Exit status: 0 done, 1 internal error (please report it), 2 usage, 3 bad model or artifact,
4 bad data, 5 NaN or infinity, 6 out of memory or device error, 7 lost rank, 8 storage error,
75 stopped by a signal after a checkpoint: run again with --resume.)";

/// What the options of one command line are read into; it outlives the commands.
struct State {
  CompileOptions compile;
  ModelWords words;
  RunOptions run;
  GenerateOptions generate;
  EvaluateOptions evaluate;
  std::string artifact, output;
  bool checkEveryOp = false;
  VerifyModelOptions verify;
  PlanModelOptions planned;
  ProbeOptions probed;
};

Command addCheck(CLI::App &app, State &state) {
  addModelOptions(app, state.compile, state.words);
  app.add_flag("--json", state.compile.json, "Print diagnostics as one JSON object per line")
      ->group("Output");
  return [&] {
    readModelOptions(state.words, state.compile);
    return checkModel(state.compile);
  };
}

/// Takes the mesh from where it is not said itself: from --plan, or by choosing it.
Exit settleMesh(CompileOptions &options) {
  takePlanFile(options);
  if (!options.plan.empty())
    checkStrategy(options, options.plan);
  return chooseMesh(options);
}

/// Compiles, and lets nothing pass that cannot be run.
Exit compile(const CompileOptions &options, std::vector<std::byte> &output) {
  // Who no longer reads what is said of a compile does not end it. Results on standard output do.
  if (options.stopAfter.empty() && !options.json)
    std::signal(SIGPIPE, SIG_IGN);
  Exit exit = compileModel(options, output);
  if (exit == Exit::ok && options.stopAfter.empty())
    checkWritten(output);
  return exit;
}

/// What -o, --dump-ir and --report name; "" is no file, and neither is "-" of -o.
std::vector<NamedPath> writtenByCompiler(const std::string &output, const CompileOptions &options) {
  std::vector<NamedPath> written;
  if (!output.empty() && output != "-")
    written.push_back(namedByOption("-o", output));
  if (!options.dumpIr.empty())
    written.push_back(namedByOption("--dump-ir", options.dumpIr, true));
  if (!options.report.empty())
    written.push_back(namedByOption("--report", options.report));
  return written;
}

Command addCompile(CLI::App &app, State &state) {
  addModelOptions(app, state.compile, state.words);
  addTargetOptions(app, state.compile);
  app.add_option("-o", state.output, "Output file (default: the model's name with .weirx)")
      ->group("Output")
      ->type_name("FILE");
  app.add_option("--threads", state.compile.threads,
                 "CPU threads that --memory plans for (default: this machine's cores)")
      ->group("Memory (more)")
      ->type_name("N")
      ->transform(integerWithin(1, 4096));
  app.add_option("--stop-after", state.compile.stopAfter,
                 "Write the IR after this pass group instead of an artifact")
      ->group("Output (more)")
      ->type_name("GROUP");
  app.add_flag("--gradients", state.compile.gradients,
               "Let the artifact write its gradients (weir run --gradients)")
      ->group("Output (more)");
  app.add_flag("--time-passes", state.compile.timePasses,
               "Print the time that each pass group and pass takes")
      ->group("Output (more)");
  writesFile(app.add_option("--report", state.compile.report,
                            "Write the number of operations after each pass group")
                 ->group("Output (more)"),
             ".json")
      ->check([](const std::string &path) {
        return path == "-" ? "expected a file: standard output is the artifact's" : "";
      });
  app.add_flag("--json", state.compile.json, "Print diagnostics as one JSON object per line")
      ->group("Output");
  return [&] {
    readModelOptions(state.words, state.compile);
    if (Exit exit = settleMesh(state.compile); exit != Exit::ok)
      return exit;
    checkTargetOptions(state.compile);
    std::string path = state.output;
    warnsOfEnding("-o", state.compile.stopAfter.empty() ? ".weirx" : ".mlir")(path);
    if (path.empty())
      path = state.compile.stopAfter.empty()
                 ? std::filesystem::path(state.compile.model).stem().string() + ".weirx"
                 : "-";
    checkOverwrites(writtenByCompiler(path, state.compile), readByCompiler(state.compile));
    std::vector<std::byte> output;
    if (Exit exit = compile(state.compile, output); exit != Exit::ok)
      return exit;
    writeFile(path, output);
    if (state.output.empty() && path != "-")
      std::cerr << "wrote " << path << "\n";
    return Exit::ok;
  };
}

Command addVerify(CLI::App &app, State &state) {
  addModelOptions(app, state.compile, state.words);
  addTargetOptions(app, state.compile);
  app.remove_option(app.get_option("--dump-ir"));
  app.remove_option(app.get_option("--tuning"));
  app.add_option("--device", state.verify.device,
                 "cpu, cuda, null or emulated (default: as compiled)")
      ->group("Verification")
      ->type_name("NAME");
  app.add_option("--seed", state.verify.seed, "Seed of the random inputs (default: 1)")
      ->group("Verification")
      ->type_name("S")
      ->transform(integerWithin(0, std::numeric_limits<unsigned>::max()));
  app.add_option("--data", state.verify.data, "Run on rows of this file instead of random inputs")
      ->group("Verification")
      ->type_name("INPUT=PATH")
      ->allow_extra_args(false);
  app.add_flag("--full", state.verify.full,
               "Run after every pass, and compare each gradient by itself; slow")
      ->group("Verification");
  return [&] {
    readModelOptions(state.words, state.compile);
    if (state.compile.choosesMicrobatches)
      throw Failure(Exit::usage, "--microbatches auto: expected a number for weir verify");
    if (state.compile.choosesOffload)
      throw Failure(
          Exit::usage,
          "--offload auto: expected activations, optimizer or parameters for weir verify");
    requireOneMesh(state.compile, "weir verify");
    if (Exit exit = settleMesh(state.compile); exit != Exit::ok)
      return exit;
    checkTargetOptions(state.compile);
    return verifyModel(state.compile, state.verify);
  };
}

void addTrainingOptions(CLI::App &app, State &state) {
  addRunOptions(app, state.run);
  app.add_flag("--check-every-op", state.checkEveryOp,
               "Compare every operation with the reference interpreter; slow")
      ->excludes(app.get_option("--profile")) // would be of the comparing
      ->group("Reports (more)");
}

Exit train(std::vector<std::byte> artifact, State &state) {
  bool looks = state.run.nan == "trace" || state.run.replay;
  if (state.checkEveryOp && looks)
    throw Failure(Exit::usage, concat("--check-every-op excludes ",
                                      state.run.replay ? "--replay" : "--nan trace"));
  if (state.checkEveryOp)
    checkEveryOp(artifact, state.run);
  if (looks && !artifact::verify(artifact).alternatives()) // which of the plans is run is not known
    findOpsIn(artifact, state.run);
  return runTraining(std::move(artifact), state.run);
}

/// Of several processes the first compiles. What the others were told to compile with is not used,
/// and so has to be the same. Of files it is the contents, which sharedFiles() has.
std::vector<collectives::Given> sharedByRanks(const std::vector<const CLI::Option *> &compiling) {
  static constexpr std::string_view own[] = {"-W", "--dump-ir", "--help"},
                                    files[] = {"model", "--plan", "--cluster", "--tuning"};
  std::vector<collectives::Given> all;
  for (const CLI::Option *option : compiling) {
    std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::count(own, name) || std::ranges::count(files, name))
      continue;
    std::vector<std::string> values;
    for (const std::string &text : option->results())
      values.push_back(canonicalValue(name, text));
    std::ranges::sort(values);
    all.push_back({name, option->get_expected_max() == 0 ? "given" : join(values), ""});
  }
  return all;
}

Command addTrain(CLI::App &app, State &state) {
  addModelOptions(app, state.compile, state.words);
  addTargetOptions(app, state.compile);
  const CLI::App &added = app;
  const std::vector<const CLI::Option *> compiling = added.get_options();
  writesFile(
      app.add_option("-o", state.output, "Write the artifact to this file, too")->group("Output"),
      ".weirx");
  addTrainingOptions(app, state);
  return [&state, compiling] {
    state.run.alsoShared = sharedByRanks(compiling);
    readModelOptions(state.words, state.compile);
    state.compile.alsoRuns = true;
    state.compile.offloadFolder = state.run.device.offloadFolder;
    if (std::optional<int64_t> &memory = state.compile.strategy.memory; state.compile.memoryIsHere)
      memory = std::max<int64_t>(1, *memory - bytesOfCompiler);
    state.compile.threads = state.run.device.threads;
    if (Exit exit = settleMesh(state.compile); exit != Exit::ok)
      return exit;
    // A launcher knows how many ranks a node has.
    if (std::optional<Launch> launch = findLaunch(state.run.rendezvous))
      splitIntoNodes(state.compile, launch->beside);
    checkTargetOptions(state.compile);
    if (Strategy strategy = strategyFor(state.compile); state.checkEveryOp && strategy.hasMesh())
      refuseCheckEveryOp(strategy.mesh.text());
    state.compile.gradients = !state.run.gradients.empty();
    state.run.alsoRead = readByCompiler(state.compile);
    std::ranges::move(sharedFiles(state.run.alsoRead), std::back_inserter(state.run.alsoShared));
    state.run.alsoWritten = writtenByCompiler(state.output, state.compile);
    checkOverwrites(state.run);
    // Of several processes the first compiles.
    return withRestarts(state.run, [&](const RunOptions &started) {
      return runDistributed(started, allMeshes(state.compile), [&](const RunOptions &own) {
        state.run = own;
        std::vector<std::byte> artifact;
        if (isFirst(own)) {
          if (Exit exit = compile(state.compile, artifact); exit != Exit::ok)
            return exit;
          if (!state.output.empty())
            writeFile(state.output, artifact);
          malloc_trim(0); // of what compiling took, the run has as much as it can
        }
        shareArtifact(own, artifact);
        // Where nothing had to go, there is nothing to put into a folder.
        auto puts = [](const artifact::Program *one) {
          return artifact::deviceOf(*one).host() > 0;
        };
        if ((state.compile.choosesOffload || state.compile.strategy.offload->activations) &&
            std::ranges::none_of(artifact::alternativesOf(artifact::verify(artifact)), puts))
          state.run.device.offloadFolder.clear();
        return train(std::move(artifact), state);
      });
    });
  };
}

void addArtifact(CLI::App &app, State &state) {
  app.add_option("artifact", state.artifact,
                 "An artifact of weir compile; it is machine code: run only what you trust")
      ->required()
      ->type_name("ARTIFACT");
}

Command addRun(CLI::App &app, State &state) {
  addArtifact(app, state);
  addTrainingOptions(app, state);
  return [&] {
    state.run.alsoRead = {namedByOption("ARTIFACT", state.artifact)};
    return train(readUndamagedArtifact(state.artifact), state);
  };
}

Command addEval(CLI::App &app, State &state) {
  addArtifact(app, state);
  addEvaluateOptions(app, state.evaluate);
  return [&] { return runEvaluation(readUndamagedArtifact(state.artifact), state.evaluate); };
}

Command addPredict(CLI::App &app, State &state) {
  addArtifact(app, state);
  addPredictOptions(app, state.evaluate);
  return [&] {
    state.evaluate.alsoRead = {namedByOption("ARTIFACT", state.artifact)};
    return runPrediction(readUndamagedArtifact(state.artifact), state.evaluate);
  };
}

Command addGenerate(CLI::App &app, State &state) {
  addArtifact(app, state);
  addGenerateOptions(app, state.generate);
  return [&] { return runGenerate(readUndamagedArtifact(state.artifact), state.generate); };
}

Command addInspect(CLI::App &app, State &state) {
  addArtifact(app, state);
  return addInspectOptions(app, state.artifact);
}

/// That a file can be written there, before the time for it is spent.
void requirePlace(const std::string &path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code none;
  if (path != "-" &&
      (std::filesystem::is_directory(path, none) || none == std::errc::filename_too_long ||
       access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0))
    throw Failure(Exit::storage, "-o " + path + ": cannot write a file there");
}

Command addPlan(CLI::App &app, State &state) {
  addModelOptions(app, state.compile, state.words);
  addPlanOptions(app, state.compile, state.planned);
  return [&] {
    readModelOptions(state.words, state.compile);
    std::vector<NamedPath> written;
    if (!state.planned.output.empty())
      written.push_back(namedByOption("-o", state.planned.output));
    checkPlanOptions(state.compile, state.planned);
    checkOverwrites(written, readByPlanner(state.compile, state.planned));
    if (!state.planned.output.empty())
      requirePlace(state.planned.output);
    return planModel(state.compile, state.planned);
  };
}

Command addTune(CLI::App &app, State &state) {
  addArtifact(app, state);
  writesFile(app.add_option("-o", state.output, "Output file")->group("Output"), ".json")
      ->required();
  app.add_option("--device", state.run.device.kind, "Device to measure on (default: as compiled)")
      ->group("Device")
      ->type_name("NAME");
  return [&] {
    checkOverwrites({namedByOption("-o", state.output)},
                    {namedByOption("ARTIFACT", state.artifact)});
    requirePlace(state.output);
    writeFile(state.output,
              tuneArtifact(readUndamagedArtifact(state.artifact), state.run.device.kind));
    return Exit::ok;
  };
}

Command addProbe(CLI::App &app, State &state) {
  writesFile(
      app.add_option("-o", state.output, "Output file (default: standard output)")->group("Output"),
      ".toml");
  app.add_option("--devices", state.probed.devices,
                 "Number of ranks to measure at once, each on a core (default: all cores)")
      ->group("Measurement")
      ->type_name("N")
      ->transform(integerWithin(1, 4096));
  app.add_option("--target", state.probed.target, "Compile target of what is measured")
      ->group("Measurement")
      ->type_name("TARGET")
      ->capture_default_str();
  return [&] {
    if (!state.output.empty())
      requirePlace(state.output);
    writeFile(state.output.empty() ? "-" : state.output, probeMachine(state.probed));
    return Exit::ok;
  };
}

struct Entry {
  const char *name;
  const char *about; ///< a sentence on a line of its own, more of them, and examples
  Command (*add)(CLI::App &, State &);
  const char *page; ///< of the documentation
};

constexpr Entry commands[] = {
    {"check", R"(Parse and check a model file.

Examples:
  weir check models/gpt-char.weir
  weir check models/gpt-char.weir --set heads=3
  weir check models/gpt-char.weir -Werror -Wno-unused-binding)",
     addCheck, "docs/reference/language.md"},
    {"compile", R"(Compile a model file into one artifact.

Examples:
  weir compile models/gpt-char.weir -o gpt.weirx
  weir compile models/gpt-char.weir --set layers=6 --target cpu:x86-64-v3 -o gpt.weirx
  weir compile models/gpt-char.weir --mesh dp=4 --mesh dp=2 -o gpt.weirx
  weir compile models/gpt-char.weir --gradients -o gpt.weirx)",
     addCompile, "docs/reference/running.md"},
    {"run", R"(Train from an artifact.

Examples:
  weir run gpt.weirx --data window=input.txt --holdout 0.1 --checkpoint kept
  weir run gpt.weirx --data window=text:input.txt --checkpoint kept --resume --metrics -
  weir run gpt.weirx --data window=input.txt --steps 1 --gradients first.safetensors
  weir run gpt.weirx --data window=input.txt --steps 3 --check-every-op
  weir run gpt.weirx --data window=input.txt --checkpoint kept --replay 1234)",
     addRun, "docs/reference/running.md"},
    {"train", R"(Compile a model file and train it.

Examples:
  weir train models/gpt-char.weir --data window=input.txt --holdout 0.1 --checkpoint kept
  weir train models/mnist-mlp.weir --data images=IMAGES --data labels=LABELS --epochs 10)",
     addTrain, "docs/reference/running.md"},
    {"eval", R"(Compute the loss and metrics of a trained model on some data.

Examples:
  weir eval mlp.weirx --checkpoint kept --data images=IMAGES --data labels=LABELS
  weir eval gpt.weirx --checkpoint kept/step-00002000 --data window=other.txt --json
  weir eval mlp.weirx --init weights.safetensors --data images=IMAGES --data labels=LABELS)",
     addEval, "docs/reference/running.md"},
    {"predict", R"(Write the predictions of a trained model for each row of some data.

Name an input by the model's argument: `--data images=...` for `model mlp(images: ...)`. FILE.npy has a row for each
row of the data. If the model returns several tensors, the second is FILE_1.npy, and so on.

Examples:
  weir predict mlp.weirx --checkpoint kept --data images=IMAGES -o logits.npy
  weir predict mlp.weirx --init-partial weights.safetensors --data images=images.npy -o logits.npy --json)",
     addPredict, "docs/reference/running.md"},
    {"verify",
     R"(Check the compiled model against a reference interpreter.

Runs the model on random inputs as written, after all passes, and compiled. Compares losses, gradients and
updates. Where they differ, it names the pass, the operation and its line of the model.

Examples:
  weir verify models/gpt-char.weir
  weir verify models/gpt-char.weir --set layers=2 --set width=40 --set context=17 --set batch=3 --full
  weir verify models/mnist-mlp.weir --set hidden=40 --set batch=5 --seed 7
  weir verify models/gpt-char.weir --set layers=2 --set vocab=256 --data window=bytes:README.md)",
     addVerify, "docs/reference/verify.md"},
    {"generate", R"(Write text with a trained language model.

Examples:
  weir generate gpt.weirx --checkpoint kept --prompt "To be" --length 200
  weir generate gpt.weirx --checkpoint kept --temperature 0.8 --top-k 20 --seed 7)",
     addGenerate, "docs/reference/running.md"},
    {"inspect", R"(Show the parameters, memory, kernels and costs of an artifact.

Examples:
  weir inspect gpt.weirx
  weir inspect gpt.weirx --json
  weir inspect gpt.weirx --lines
  weir inspect gpt.weirx --precision
  weir inspect gpt.weirx --html gpt.html --model models/gpt-char.weir
  weir inspect gpt.weirx --memory
  weir inspect gpt.weirx --time --link 50GB/s,5us
  weir inspect gpt.weirx --plan)",
     addInspect, "docs/reference/inspect.md"},
    {"plan",
     R"(Search for the fastest way to parallelize a model on given devices.

The devices need not be there: a file describes them. `weir plan` prints the time and memory of each plan.

Examples:
  weir plan models/gpt-char.weir --cluster cluster.toml
  weir plan models/gpt-char.weir --cluster cluster.toml --precision bf16 -o gpt.plan.toml
  weir plan models/gpt-char.weir --cluster cluster.toml --why 1 4
  weir plan models/gpt-char.weir --cluster cluster.toml --mesh dp=4,tp=2 --zero 1
  weir compile models/gpt-char.weir --plan gpt.plan.toml -o gpt.weirx)",
     addPlan, "docs/guides/planning.md"},
    {"tune",
     R"(Measure kernel schedules on a GPU, for weir compile --tuning.

Measures each kernel of an artifact in every schedule that it may have, and writes the fastest ones. A
compile with the same file gives the same artifact.

Examples:
  weir tune gpt.weirx -o gpt.tuning.json
  weir compile models/gpt-char.weir --target cuda:sm_90 --tuning gpt.tuning.json -o gpt.weirx)",
     addTune, "docs/guides/profile.md"},
    {"probe",
     R"(Measure this machine, and describe it for weir plan.

Takes less than a minute. Nothing else should run meanwhile.

Examples:
  weir probe -o here.toml
  weir plan models/gpt-char.weir --cluster here.toml
  weir train models/gpt-char.weir --mesh auto --cluster here.toml --data window=input.txt)",
     addProbe, "docs/guides/planning.md"},
};

Exit run(int argc, const char *const *argv) {
  if (argc == 3 && std::string_view(argv[1]) == "help" && std::string_view(argv[2]) == "strategy") {
    std::cout << strategy::page();
    return Exit::ok;
  }
  CLI::App app(about, "weir");
  addVersionOption(app, "weir");
  State state;
  std::vector<std::pair<CLI::App *, Command>> actions;
  for (const Entry &entry : commands) {
    CLI::App *command = app.add_subcommand(entry.name, entry.about);
    command->footer(concat("Documentation: ", entry.page));
    actions.emplace_back(command, entry.add(*command, state));
  }
  std::vector<const char *> words = expandHelp(argc, argv);
  if (auto exit = parseCommandLine(app, static_cast<int>(words.size()), words.data()))
    return *exit;
  for (auto &[command, action] : actions)
    if (command->parsed())
      return action();
  assert(false && "parseCommandLine asks for a command");
  return Exit::internal;
}

} // namespace
} // namespace weir

int main(int argc, char **argv) {
  return weir::guarded([&] {
    // A standard error that takes no more is no fault of the command's.
    llvm::scope_exit forget([] { llvm::errs().clear_error(); });
    return weir::run(argc, argv);
  });
}

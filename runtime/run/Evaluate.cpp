//===- Evaluate.cpp - A trained model on data -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Evaluate.h"
#include "artifact/Reader.h"
#include "runtime/report/NpyFile.h"
#include "runtime/report/Say.h"
#include "runtime/run/Evaluator.h"
#include "runtime/run/OpenDevice.h"
#include "runtime/run/OptionRanges.h"
#include "runtime/run/RunOptions.h"
#include "runtime/run/resume/LoadWeights.h"
#include "support/Number.h"
#include "support/Text.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

namespace weir {
namespace {

void addCommonOptions(CLI::App &app, EvaluateOptions &options) {
  auto *checkpoint = app.add_option("--checkpoint", options.checkpoint,
                                    "A run's directory (its newest checkpoint), or one checkpoint")
                         ->group("Weights")
                         ->type_name("DIR");
  auto *init = app.add_option("--init", options.init, "A safetensors file")
                   ->group("Weights")
                   ->type_name("FILE")
                   ->excludes(checkpoint);
  app.add_option("--init-partial", options.initPartial,
                 "Like --init, but only with the tensors that both have")
      ->group("Weights")
      ->type_name("FILE")
      ->excludes(checkpoint, init);
  addDataOption(app, options.data);
  addDeviceOptions(app, options.device);
  app.add_flag("--json", options.json, "Print the results as one JSON object")->group("Reports");
}

bool hasWeights(const Program &program) {
  return std::ranges::any_of(program.variables(), [](const TensorView &variable) {
    return variable.role == artifact::Role::parameter || variable.role == artifact::Role::state;
  });
}

/// The program with trained weights in it, and the data of one entry.
struct Session {
  Program program;
  std::optional<Weights> weights; ///< none where the model has none

  Session(std::vector<std::byte> artifact, const EvaluateOptions &options)
      : program(std::move(artifact), openDevice, {.device = options.device}) {
    if (isGiven(options) || hasWeights(program))
      weights.emplace(loadWeights(program, source(options), !options.initPartial.empty()));
    else
      initialize(program);
  }

  static bool isGiven(const EvaluateOptions &options) {
    return !options.checkpoint.empty() || !options.init.empty() || !options.initPartial.empty();
  }

  static std::string source(const EvaluateOptions &options) {
    if (!isGiven(options))
      throw Failure(Exit::usage, "no weights: give --checkpoint DIR or --init FILE.safetensors");
    if (options.checkpoint.empty())
      return options.init.empty() ? options.initPartial : options.init;
    return checkpointFolder(options.checkpoint, ", --init takes a safetensors file");
  }

  /// Texts are numbered as in training.
  Dataset open(const artifact::Entry &entry, const EvaluateOptions &options) const {
    std::vector<InputSpec> inputs = inputSpecs(entry);
    Vocabularies vocabularies;
    if (const Manifest *manifest = weights ? weights->manifest() : nullptr) {
      vocabularies = manifest->vocabularies;
      // predict's input may have another name than the step's; a language model has one.
      if (inputs.size() == 1 && vocabularies.size() == 1)
        vocabularies[inputs[0].name] = vocabularies.begin()->second;
    }
    std::vector<SourceSpec> sources;
    for (const std::string &text : options.data)
      sources.push_back(parseSource("--data", text));
    Dataset dataset(inputs, sources, "--data", vocabularies);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (dataset.source(i).vocabulary && !vocabularies.contains(inputs[i].name))
        throw Failure(Exit::data,
                      concat(dataset.source(i).path, ": is text, but ",
                             weights ? weights->path() : "a model without weights",
                             " does not record how training numbered the characters; give the "
                             "--checkpoint of a run that was trained on text, or give numbers"));
    return dataset;
  }
};

/// "out.npy" for the first result, "out_1.npy" for the next.
std::string fileOf(const std::string &output, size_t number) {
  if (number == 0)
    return output;
  std::filesystem::path path(output);
  return path.replace_filename(path.stem().string() + concat("_", number) +
                               path.extension().string());
}

/// One result of `predict`, on its way into a file.
struct Result {
  const artifact::Port *port;
  size_t bytes;               ///< of one run
  std::vector<int64_t> shape; ///< of all runs
  std::unique_ptr<NpyFile> file;
};

/// The files of `count` results, none of which is read.
std::vector<std::string> resultFiles(size_t count, const EvaluateOptions &options) {
  std::vector<NamedPath> read = options.alsoRead, written;
  for (const NamedPath &source : namedByData("--data", options.data))
    read.push_back(source);
  if (!options.init.empty())
    read.push_back(namedByOption("--init", options.init));
  if (!options.initPartial.empty())
    read.push_back(namedByOption("--init-partial", options.initPartial));
  if (!options.checkpoint.empty())
    read.push_back(namedByOption("--checkpoint", options.checkpoint));
  std::error_code none;
  if (count > 1 && std::filesystem::is_other(options.output, none))
    throw Failure(Exit::usage,
                  concat("-o ", options.output, ": is not a regular file, but the model has ",
                         count,
                         " results, and Weir writes each to its own file; give -o FILE.npy"));
  std::vector<std::string> files;
  for (size_t i = 0; i < count; ++i) {
    files.push_back(fileOf(options.output, i));
    written.push_back(namedByOption("-o", options.output));
    if (i > 0)
      written.back() = {concat(written.back().words, " (", files[i], ")"), files[i]};
  }
  checkOverwrites(written, read);
  return files;
}

std::vector<Result> openResults(const Program &program, const artifact::Entry &entry, int64_t batch,
                                int64_t runs, const EvaluateOptions &options) {
  std::vector<Result> results;
  for (const artifact::Port *port : *entry.outputs()) {
    Result result{port, sizeOf(artifact::elementOf(port->dtype())), {}, nullptr};
    result.shape.assign(port->shape()->begin(), port->shape()->end());
    if (result.shape.empty() || result.shape[0] % batch != 0)
      throw Failure(Exit::model, concat("the result '", port->name()->str(), "' has the shape ",
                                        shapeText(result.shape), ", which does not start with the ",
                                        batch, " rows of a batch; ", tiedRows(program, "predict")));
    for (int64_t size : result.shape)
      result.bytes *= size;
    result.shape[0] *= runs;
    results.push_back(std::move(result));
  }
  std::vector<std::string> files = resultFiles(results.size(), options);
  for (size_t i = 0; i < results.size(); ++i)
    results[i].file = std::make_unique<NpyFile>(
        files[i], artifact::elementOf(results[i].port->dtype()), results[i].shape);
  return results;
}

/// "; the input 'x' has nan in row 17 of x.npy", or "".
std::string notFiniteData(const Dataset &dataset) {
  for (int64_t row = 0; row < dataset.units() && !dataset.window(); ++row)
    if (auto words = dataset.notFinite(row))
      return "; " + *words;
  return "";
}

} // namespace

void addEvaluateOptions(CLI::App &app, EvaluateOptions &options) { addCommonOptions(app, options); }

void addPredictOptions(CLI::App &app, EvaluateOptions &options) {
  addCommonOptions(app, options);
  writesFile(app.add_option("-o", options.output,
                            "Output file; of several results, the second goes to FILE_1.npy")
                 ->group("Output"),
             ".npy")
      ->check(isNotStandardOutput())
      ->required();
}

Exit runEvaluation(std::vector<std::byte> artifact, const EvaluateOptions &options) {
  Session session(std::move(artifact), options);
  Dataset dataset =
      session.open(requireEntry(session.program, "eval", "to evaluate data"), options);
  Evaluator evaluator(session.program, dataset, "--data");
  if (evaluator.leftOut() > 0)
    say(evaluator.notice());
  Values figures = *evaluator.run();
  if (std::string nothing = evaluator.uncountedNotice(); !nothing.empty()) {
    if (evaluator.hasNothing(figures.size()))
      throw Failure(Exit::data, nothing);
    say("warning: " + nothing);
  }
  const char *unit = dataset.window() ? "windows" : "rows";
  Values counts = {{unit, static_cast<double>(evaluator.evaluated())}};
  if (evaluator.leftOut() > 0)
    counts.emplace_back("rows_left_out", static_cast<double>(evaluator.leftOut()));
  std::string json;
  auto print = [&](const Values &values, const char *format) {
    for (const auto &[name, value] : values) {
      if (options.json)
        json += concat(json.empty() ? "{" : ",", "\"", name, "\":", jsonNumber(value));
      else
        std::cout << name << " " << formatted(format, value) << "\n";
    }
  };
  print(figures, "%.6g");
  print(counts, "%.0f");
  if (options.json)
    std::cout << json << "}\n";
  std::cout << std::flush;
  for (const auto &[name, value] : figures)
    if (!std::isfinite(value) && !std::ranges::count(evaluator.uncounted(), name))
      throw Failure(
          Exit::numeric,
          concat(name, " is ", value, ": not finite",
                 session.weights ? concat(", with the weights of ", session.weights->path()) : "",
                 notFiniteData(dataset)));
  return Exit::ok;
}

Exit runPrediction(std::vector<std::byte> artifact, const EvaluateOptions &options) {
  Session session(std::move(artifact), options);
  Program &program = session.program;
  const artifact::Entry &entry = requireEntry(program, "predict", "to predict");
  Dataset dataset = session.open(entry, options);
  // A training window has a token more than its predictions: these windows do not overlap.
  const int64_t width = std::max<int64_t>(dataset.window(), 1), rows = dataset.units() / width,
                batch = entryRows(entry), runs = rows / batch, left = rows % batch;
  const char *unit = dataset.window() ? "windows" : "rows";
  if (runs == 0)
    throw Failure(Exit::data, concat("--data: ", rows, " ", unit, ", but ",
                                     tiedRows(program, "predict"), ", so a prediction needs ",
                                     batch, "; give more data, or compile with a smaller batch"));
  if (left > 0)
    say(concat("--data: ", left, " of ", rows, " ", unit,
               " are left out: ", tiedRows(program, "predict"), ", so only whole batches of ",
               batch, " are predicted"));
  std::vector<Result> results = openResults(program, entry, batch, runs, options);
  Batch inputs = makeBatch(dataset, batch);
  std::vector<std::byte> values;
  for (int64_t run = 0; run < runs; ++run) {
    for (int64_t row = 0; row < batch; ++row)
      readRow(dataset, (run * batch + row) * width, inputs, row);
    dataset.requireIntact();
    writeInputs(program, entry, dataset, inputs);
    program.run(entry);
    for (Result &result : results) {
      values.resize(result.bytes);
      program.read(entry, *result.port, values);
      result.file->write(values.data(), values.size());
    }
  }
  nlohmann::ordered_json written = nlohmann::ordered_json::array();
  for (Result &result : results) {
    result.file->finish();
    written.push_back({{"name", result.port->name()->str()},
                       {"file", result.file->path()},
                       {"type", nameOf(result.file->element())},
                       {"shape", result.shape}});
    if (!options.json)
      std::cout << result.file->path() << " " << nameOf(result.file->element())
                << shapeText(result.shape) << "\n";
  }
  if (options.json) {
    nlohmann::ordered_json json = {{unit, runs * batch}};
    if (left > 0)
      json["rows_left_out"] = left;
    json["results"] = written;
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  }
  std::cout << std::flush;
  return Exit::ok;
}

} // namespace weir

//===- Training.cpp - One training run ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Training.h"
#include "runtime/checkpoint/Fingerprint.h"
#include "runtime/core/Text.h"
#include "runtime/core/Utf8.h"
#include "runtime/data/MappedFile.h"
#include "runtime/report/ChromeTrace.h"
#include "runtime/report/Number.h"
#include "runtime/report/Say.h"
#include "runtime/run/SameRun.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>

namespace weir {
namespace {

std::vector<SourceSpec> sources(const char *option, const std::vector<std::string> &texts) {
  std::vector<SourceSpec> specs;
  for (const std::string &text : texts)
    specs.push_back(parseSource(option, text));
  return specs;
}

size_t bytesOf(const std::vector<TensorView> &variables) {
  size_t bytes = 0;
  for (const TensorView &variable : variables)
    bytes += variable.size;
  return bytes;
}

/// Of the figures: all others are averages.
bool isCount(const std::string &name) {
  return name == "steps" || name == "skipped_steps" || name == "heldout_rows_left_out";
}

bool usesWholeVocabulary(const Array &text) {
  std::vector<bool> used(text.vocabulary->size());
  size_t left = used.size();
  for (int64_t i = 0; i < text.count() && left > 0; ++i) {
    int64_t number = integerAt(text, i);
    left -= !used[number];
    used[number] = true;
  }
  return left == 0;
}

/// On standard error.
void list(const std::string &what, const std::vector<std::string> &tensors) {
  constexpr size_t most = 500;
  say(concat(what, ": ", tensors.size()));
  for (size_t i = 0; i < std::min(tensors.size(), most); ++i)
    say(concat("  ", tensors[i]));
  if (tensors.size() > most)
    say(concat("  and ", tensors.size() - most, " more"));
}

} // namespace

Training::Training(std::vector<std::byte> artifact, const RunOptions &options)
    : options(options), program(std::move(artifact), {options.threads, options.poison}),
      attached(options.attach ? options.attach(program) : nullptr),
      stepEntry(requireEntry(program, "step", "to train")), stepRows(entryRows(stepEntry)),
      outputs(program, stepEntry) {
  findCheckpoint();
  openWeights();
  bindData();
  decideSteps();
  if (resumed)
    requireSameRun(resumed->path, resumed->manifest, manifest(), options.change, say);
  if (!options.gradients.empty())
    gradients.emplace(program, stepEntry, options.gradients);
}

double Training::secondsSince(Clock::time_point start) const {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Training::findCheckpoint() {
  seed = options.seed.value_or(RunOptions::defaultSeed);
  if (options.checkpoint.empty()) {
    if (options.resume)
      throw Failure(Exit::usage, "--resume: from where? give --checkpoint DIR");
    return;
  }
  store.emplace(options.checkpoint, options.keep, disk);
  store->lock();
  if (!options.resume) {
    if (!store->steps().empty())
      throw Failure(Exit::usage,
                    concat("--checkpoint ", options.checkpoint,
                           ": the directory holds the checkpoints of a run; "
                           "add --resume to go on from them, or give another directory"));
    return;
  }
  resumed = store->loadNewest(say);
  if (!resumed) {
    say(concat("no checkpoint in ", options.checkpoint, " yet: starting from step 0"));
    return;
  }
  const Manifest &found = resumed->manifest;
  std::vector<std::string> lines =
      differences(storedParameters(program.variables()), resumed->model.tensors());
  for (std::string &line : differences(storedState(program.variables()), resumed->state.tensors()))
    lines.push_back(std::move(line));
  if (!lines.empty())
    throw Failure(Exit::model,
                  concat(resumed->path, ": is a checkpoint of another model (",
                         shownName(found.model), "); this one is ", program.plan().model()->str(),
                         ":\n  ", joinFew(lines, "\n  ")));
  if (options.seed && *options.seed != found.seed)
    throw Failure(Exit::usage, concat("--seed ", *options.seed, ": the run in ", options.checkpoint,
                                      " was begun with --seed ", found.seed,
                                      "; leave the option out, or begin another run"));
  seed = found.seed;
  done = saved = found.step;
  skipped = found.skipped;
  skippedInARow = found.skippedInARow;
  learnt = done - skipped;
}

void Training::openWeights() {
  bool partial = !options.initPartial.empty();
  const std::string &path = partial ? options.initPartial : options.init;
  if (path.empty())
    return;
  if (resumed) {
    say(concat(partial ? "--init-partial " : "--init ", path,
               " is not read: the weights are the checkpoint's"));
    return;
  }
  weights.emplace(path, say);
  const char *begun = "not there, begin with their initialiser";
  if (!partial) {
    weights->requireAll(program.variables(), /*states=*/false);
    if (auto absent = weights->absent(program.variables()); !absent.empty())
      list(concat(weights->path(), ": ", begun), absent);
    return;
  }
  Weights::Overlap overlap = weights->overlap(program.variables());
  list(concat("taken from ", weights->path()), overlap.taken);
  list(begun, overlap.kept);
  list("there, but not in the model", overlap.unused);
}

void Training::bindData() {
  // The numbers of characters belong to the weights.
  Vocabularies vocabularies;
  if (resumed)
    vocabularies = resumed->manifest.vocabularies;
  else if (weights && weights->manifest())
    vocabularies = weights->manifest()->vocabularies;
  Dataset all(inputSpecs(stepEntry), sources("--data", options.data), "--data", vocabularies);
  if (resumed)
    checkVocabularies(all);
  noteData(all);
  vocabularies = all.vocabularies();
  if (!options.evalData.empty())
    heldOut.emplace(inputSpecs(stepEntry), sources("--eval-data", options.evalData), "--eval-data",
                    vocabularies);
  if (options.holdout > 0) {
    auto parts = all.split(options.holdout);
    dataset = std::move(parts.first);
    heldOut = std::move(parts.second);
  } else {
    dataset = std::move(all);
  }
  if (options.evalEvery > 0 && !heldOut)
    throw Failure(Exit::usage, "--eval-every: no held-out data; give --holdout or --eval-data");
  dataset->requireRows(stepRows);
  sampler.emplace(seed, !options.noShuffle, dataset->units(), dataset->window(), stepRows);
  if (heldOut)
    evaluator.emplace(program, *heldOut, options.evalData.empty() ? "--holdout" : "--eval-data");
  int64_t window = dataset->window();
  unit = window ? "tokens" : "samples";
  unitsPerStep = static_cast<double>(stepRows * std::max<int64_t>(window - 1, 1));
}

/// The content only where a checkpoint will keep it or has kept it: it is read once for that.
void Training::noteData(const Dataset &all) {
  for (size_t i = 0; i < all.inputs().size(); ++i) {
    const Array &source = all.source(i);
    Manifest::Data &facts = dataFacts[all.inputs()[i].name];
    facts = {source.path, source.format, source.file->bytes().size(), ""};
    if (store)
      facts.fingerprint = fingerprint(source.file->bytes());
  }
}

void Training::checkVocabularies(const Dataset &all) const {
  const Manifest &before = resumed->manifest;
  for (size_t i = 0; i < all.inputs().size(); ++i) {
    const std::string &name = all.inputs()[i].name;
    const Array &source = all.source(i);
    auto data = before.data.find(name);
    auto vocabulary = before.vocabularies.find(name);
    bool wasText = vocabulary != before.vocabularies.end();
    if (wasText != source.vocabulary.has_value() && (wasText || data != before.data.end()))
      throw Failure(Exit::data,
                    concat(source.path, ": is read as ", source.format, ", but the run in ",
                           options.checkpoint, " was trained on ",
                           wasText ? "text" : data->second.format, " for the input '", name,
                           "', where the numbers mean something else; give it ",
                           wasText ? "text" : data->second.format, ", or begin another run"));
    if (wasText && !usesWholeVocabulary(source))
      say(concat(source.path, ": has fewer than the ", vocabulary->second.size(),
                 " characters that the run was begun with; they keep the numbers of ",
                 resumed->path));
  }
}

void Training::decideSteps() {
  const artifact::Program &plan = program.plan();
  int64_t perEpoch = sampler->stepsPerEpoch();
  bool asked = options.steps > 0 || options.epochs > 0;
  int64_t steps = asked ? options.steps : static_cast<int64_t>(plan.steps());
  int64_t epochs = asked ? options.epochs : static_cast<int64_t>(plan.epochs());
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (steps > 0)
    total = steps;
  else if (epochs > 0 && epochs <= most / perEpoch)
    total = epochs * perEpoch;
  else
    throw Failure(Exit::usage, concat(epochs, " epochs of ", perEpoch, " steps are more than ",
                                      most, " steps; give --steps or fewer --epochs"));
  if (total > most)
    throw Failure(Exit::model,
                  concat("the recipe asks for ", total, " steps; at most ", most, " can be run"));
  if (!resumed)
    return;
  int64_t before = resumed->manifest.totalSteps;
  if (!options.extend && asked && total != before)
    throw Failure(Exit::usage, concat("the run in ", options.checkpoint, " was begun for ", before,
                                      " steps, now ", total,
                                      " are asked for, which changes the learning rate's course; "
                                      "add --extend to allow it, or "
                                      "leave out --steps and --epochs"));
  if (options.extend)
    return;
  if (total != before)
    say(concat("the recipe asks for ", total, " steps; the run goes on for the ", before,
               " that it was begun for (--extend takes the recipe's)"));
  total = before;
}

void Training::openReports() {
  if (store)
    store->prepare(bytesOf(program.variables()));
  if (!options.metrics.empty())
    metrics.emplace(options.metrics, done);
  if (!options.tensorboard.empty())
    tensorboard.emplace(options.tensorboard);
  if (!options.trace.empty()) {
    // Written now as well, so that a place that cannot be written is known before the run, not
    // after.
    writeChromeTrace(options.trace, program.plan(), {});
    constexpr size_t newestEvents = 1 << 16;
    program.trace(newestEvents);
  }
  if (gradients)
    gradients->create();
}

void Training::initialize() {
  auto set = [&](const char *name, int64_t value) {
    if (int32_t *scalar = runScalar(program, name))
      *scalar = static_cast<int32_t>(value);
  };
  set("seed", seed);
  set("step", 0);
  set("total_steps", total);
  if (resumed) {
    restore(program.variables(), resumed->model);
    restore(program.variables(), resumed->state);
    set("total_steps", total);
    say(concat("resuming after step ", done, " from ", resumed->path));
  } else {
    program.run(requireEntry(program, "init", "to begin a run"));
    if (weights)
      weights->load(program.variables());
  }
  std::string place = resumed   ? concat(" in ", resumed->path)
                      : weights ? concat(" in ", weights->path())
                                : "";
  Finite::Given given =
      finite.begin(program.variables(), writtenVariables(program.plan(), stepEntry));
  if (given.kept)
    say(concat("warning: ", *given.kept, place,
               ", which is not finite; no step writes it, so it stays as it is"));
  if (given.updated) {
    notFinite = *given.updated + place;
    say(concat("warning: ", notFinite,
               ", which is not finite: a step that computes such a value anew is left out"));
  }
  resumed.reset();
  weights.reset();
}

void Training::announce() const {
  int64_t parameters = 0;
  for (const TensorView &variable : program.variables())
    if (variable.role == artifact::Role::parameter)
      parameters += elementCount(variable.shape, 1).value_or(0);
  std::string data =
      concat(withThousands(static_cast<double>(dataset->units())), " ", unit, " to train on");
  if (heldOut)
    data += concat(", ", withThousands(static_cast<double>(heldOut->units())), " held out");
  say(concat(program.plan().model()->str(), ": ", withThousands(static_cast<double>(parameters)),
             " parameters, ", program.threads(),
             program.threads() == 1 ? " thread, " : " threads, ", total, " steps of ", stepRows,
             " rows; ", data));
  if (evaluator && evaluator->leftOut() > 0)
    say(evaluator->notice());
  if (!store)
    say("the weights will not be kept: add --checkpoint DIR to keep them");
}

Exit Training::run(const Signals &signals) {
  announce();
  initialize();
  openReports();
  progress.emplace(stderr, Progress::isLive(stderr), unit, done, total);
  try {
    int signal = train(signals);
    if (store)
      save();
    bool reported = writeReports(); // of the steps alone, before the evaluation
    if (!signal)
      signal = evaluate(signals);
    return signal ? stop(signal) : finish(reported);
  } catch (const Failure &failure) {
    // Data that cannot be read any more are no reason to lose what was learnt from them.
    if (failure.exit != Exit::data)
      throw;
    throw Failure(failure.exit, failure.what() + savedAsItStands());
  }
}

/// Returns the signal that ended it, or 0.
int Training::train(const Signals &signals) {
  Prefetcher prefetcher(*dataset, *sampler, stepRows, done, std::max(done, total));
  while (done < total) {
    step(prefetcher.next());
    if (done == total)
      break;
    // Who asks for the end waits for a step, not for an evaluation.
    int signal = signals.received();
    if (!signal && options.evalEvery > 0 && done % options.evalEvery == 0)
      signal = evaluate(signals);
    if (signal)
      return signal;
    if (store && done % options.every == 0)
      save();
  }
  return 0;
}

std::string Training::savedAsItStands() {
  if (!store || done == 0)
    return "";
  try {
    save();
    return concat("; the run is saved after step ", done, " in ", store->pathOf(done));
  } catch (const Failure &failure) {
    return concat("; and the run cannot be saved: ", failure.what());
  }
}

void Training::step(const Batch &batch) {
  Clock::time_point start = Clock::now();
  writeInputs(program, stepEntry, *dataset, batch);
  program.run(stepEntry);
  outputs.clear();
  outputs.add();
  if (gradients)
    gradients->keep();
  ++done;

  StepRecord record;
  record.step = done;
  record.values = outputs.ratios();
  for (auto &scalar : outputs.scalars())
    record.values.push_back(std::move(scalar));
  record.seconds = secondsSince(start);
  record.units = unitsPerStep;
  last = record.values;
  progress->step(record);
  report(metrics, [&](MetricsFile &file) { file.step(record, unit); });
  report(tensorboard, [&](TensorBoard &file) { file.scalars(done, record.values); });
  checkFinite(record);
  if (int32_t *counted = runScalar(program, "step"); counted && *counted != done)
    throw Failure(Exit::internal,
                  concat("step ", done, " left the run's step counter at ", *counted));
}

std::string Training::newestCheckpoint() const {
  return saved >= 0 ? concat(" The newest checkpoint is ", store->pathOf(saved), ".") : "";
}

void Training::checkFinite(const StepRecord &record) {
  double loss = valueOf(record.values, "loss", 0), norm = valueOf(record.values, "grad_norm", 0),
         rate = valueOf(record.values, "lr", 0);
  bool left = valueOf(record.values, "skipped", 0) != 0;
  if (!left) {
    ++learnt;
    notFinite.clear();
  }
  if (!left && std::isfinite(loss) && std::isfinite(norm)) {
    skippedInARow = 0;
    return;
  }
  ++skipped;
  ++skippedInARow;
  std::string found = concat("step ", done, ": loss ", loss, ", grad_norm ", norm);
  if (!std::isfinite(loss) || !std::isfinite(norm))
    found += ": not finite";
  else if (!std::isfinite(rate))
    found += concat(", learning rate ", rate, ": not finite");
  else
    found += concat(", learning rate ", rate, ": the update is not finite (",
                    largestValue(program.variables()), ")");
  advice = " A lower learning rate or clip global_norm(1.0) in the recipe may help";
  std::string inData;
  for (int64_t row = 0; row < stepRows && inData.empty(); ++row)
    if (auto words = dataset->notFinite(sampler->at(done - 1, row))) {
      inData = concat("; ", *words);
      advice = concat(" Look at the data: ", *words, "; mend them, unless the model expects that");
    }
  // What such a step leaves as it is makes the next one no better.
  if (left && !notFinite.empty()) {
    writeReports();
    throw Failure(Exit::numeric,
                  concat(found, ". The run began with ", notFinite,
                         ", and no step can be taken from there; mend those weights"));
  }
  bool abort = options.nan != "skip";
  if (!abort && skippedInARow < options.nanLimit.value_or(RunOptions::defaultNanLimit)) {
    progress->say(concat(found, ", ",
                         left ? "the step changed no weight" : "no gradient was affected", inData));
    return;
  }
  writeReports();
  if (abort)
    throw Failure(Exit::numeric, concat(found, ".", newestCheckpoint(), advice,
                                        "; --nan skip goes on without such steps"));
  std::string before = skippedInARow == 1 ? "; --nan-limit 1 ends the run at the first such step."
                       : skippedInARow == 2
                           ? ", as the step before it: the run learns nothing any more."
                           : concat(", as the ", skippedInARow - 1,
                                    " steps before it: the run learns nothing any more.");
  throw Failure(Exit::numeric, concat(found, before, newestCheckpoint(), advice,
                                      "; a larger --nan-limit allows more of them in a row"));
}

/// Writes to a file of reports, if there is one. One that cannot be written any more is told of
/// once and let go: a run is worth more than what is told of it.
template <typename Sink, typename Write>
void Training::report(std::optional<Sink> &sink, Write write) {
  if (!sink)
    return;
  try {
    write(*sink);
  } catch (const Failure &failure) {
    progress->say(concat("warning: ", failure.what(), "; training goes on without it"));
    sink.reset();
  }
}

/// Returns the signal that ended it, of which nothing is told then, or 0.
int Training::evaluate(const Signals &signals) {
  if (!evaluator || evaluated == done)
    return 0;
  Clock::time_point start = Clock::now();
  std::optional<Values> figures = evaluator->run([&] { return signals.received() != 0; });
  if (!figures)
    return signals.received();
  held.clear();
  for (const auto &[name, value] : *figures)
    held.emplace_back("heldout_" + name, value);
  if (evaluator->leftOut() > 0)
    held.emplace_back("heldout_rows_left_out", static_cast<double>(evaluator->leftOut()));
  evaluated = done;
  std::string line = concat("step ", done, "/", total);
  for (const auto &[name, value] : held)
    line += concat("  ", name, " ", formatted(isCount(name) ? "%.0f" : "%.4f", value));
  progress->say(line);
  double seconds = secondsSince(start);
  report(metrics, [&](MetricsFile &file) { file.event("eval", done, held, seconds); });
  report(tensorboard, [&](TensorBoard &file) { file.scalars(done, held); });
  return 0;
}

Manifest Training::manifest() const {
  const artifact::Program &plan = program.plan();
  Manifest manifest;
  manifest.step = done;
  manifest.totalSteps = total;
  manifest.seed = seed;
  manifest.skipped = skipped;
  manifest.skippedInARow = skippedInARow;
  manifest.model = plan.model()->str();
  manifest.target = plan.target()->str();
  if (plan.configs())
    for (const artifact::Config *config : *plan.configs())
      manifest.configs[config->name()->str()] = config->value()->str();
  auto digest = [](uint64_t value) { return value ? hexText(value) : ""; };
  manifest.training = digest(plan.training_digest());
  manifest.prediction = digest(plan.predict_digest());
  manifest.holdout = options.holdout;
  manifest.shuffle = !options.noShuffle;
  manifest.data = dataFacts;
  manifest.vocabularies = dataset->vocabularies();
  return manifest;
}

void Training::save() {
  if (saved == done)
    return;
  if (auto words = finite.broken(program.variables()))
    throw Failure(Exit::numeric,
                  concat("step ", done, ": ", *words,
                         " and was finite when the run began; it is not saved.", newestCheckpoint(),
                         " No step writes such values: if the machine's memory is sound, this is a "
                         "fault of Weir's own, please report it"));
  store->save(manifest(), storedParameters(program.variables()), storedState(program.variables()));
  saved = done;
}

/// Writes what --trace and --gradients ask for; what cannot be written is told of. Whether all was.
bool Training::writeReports() {
  bool all = true;
  auto attempt = [&](auto write) {
    try {
      write();
    } catch (const Failure &failure) {
      progress->say(concat("error: ", failure.what()));
      all = false;
    }
  };
  attempt([&] {
    if (const Trace *trace = program.trace())
      writeChromeTrace(options.trace, program.plan(), trace->events());
  });
  attempt([&] {
    if (gradients && !gradients->write())
      progress->say(concat("--gradients ", options.gradients,
                           ": there was no step left to run, so there are none and no file"));
  });
  return all;
}

Exit Training::stop(int signal) {
  report(metrics, [&](MetricsFile &file) { file.event("stop", done, {}, secondsSince(began)); });
  if (store) {
    progress->say(concat(Signals::name(signal), ": stopped after step ", done, ", saved in ",
                         store->pathOf(done), "; the same command with --resume goes on"));
    return Exit::requeue;
  }
  progress->say(concat(Signals::name(signal), ": stopped after step ", done,
                       "; without --checkpoint DIR there is nothing to go on from"));
  Signals::die(signal);
  return Exit::internal;
}

/// Results on standard output, or, where its reader has gone, with everything else.
void Training::print(const std::string &results) {
  errno = 0;
  std::cout << results << std::flush;
  if (std::cout || errno != EPIPE)
    return;
  std::cout.clear();
  std::clearerr(stdout);
  std::cerr << "standard output: its reader has gone; the results:\n" << results << std::flush;
}

Exit Training::finish(bool reported) {
  double seconds = secondsSince(began);
  Values results = held;
  results.insert(results.begin(), {"steps", static_cast<double>(done)});
  if (double loss = valueOf(last, "loss", std::nan("")); std::isfinite(loss))
    results.insert(results.begin() + 1, {"loss", loss});
  if (skipped > 0)
    results.emplace_back("skipped_steps", static_cast<double>(skipped));
  report(metrics, [&](MetricsFile &file) { file.event("done", done, results, seconds); });
  if (store)
    progress->say(concat("weights: ", store->pathOf(done), "/model.safetensors"));
  progress.reset();
  std::string text;
  if (options.json) {
    for (const auto &[name, value] : results)
      text += concat(text.empty() ? "{" : ",", "\"", name, "\":", jsonNumber(value));
    text += concat(",\"seconds\":", jsonNumber(seconds), "}\n");
  } else {
    for (const auto &[name, value] : results)
      text += concat(name, " ", formatted(isCount(name) ? "%.0f" : "%.6g", value), "\n");
  }
  print(text);
  if (learnt == 0)
    throw Failure(Exit::numeric,
                  concat("each of the ", done,
                         " steps was left out, since it was not finite: nothing was learnt.",
                         advice));
  return reported ? Exit::ok : Exit::storage;
}

} // namespace weir

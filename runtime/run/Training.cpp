//===- Training.cpp - One training run ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Training.h"
#include "artifact/Actions.h"
#include "artifact/Flops.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "runtime/checkpoint/Tensors.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/report/Say.h"
#include "runtime/run/OpenDevice.h"
#include "runtime/run/Results.h"
#include "runtime/run/TotalSteps.h"
#include "runtime/run/launch/Distributed.h"
#include "runtime/run/launch/Launcher.h"
#include "runtime/run/launch/RestartState.h"
#include "runtime/run/resume/Replicas.h"
#include "runtime/run/resume/ResumeCheck.h"
#include "support/Number.h"
#include "support/Text.h"
#include "support/mesh/Stages.h"
#include <algorithm>
#include <cmath>

namespace weir {
namespace {

size_t bytesOf(const std::vector<TensorView> &variables) {
  size_t bytes = 0;
  for (const TensorView &variable : variables)
    bytes += variable.size;
  return bytes;
}

bool isFinite(const StepRecord &record) {
  return valueOf(record.values, "skipped", 0) == 0 &&
         std::isfinite(valueOf(record.values, "loss", 0)) &&
         std::isfinite(valueOf(record.values, "grad_norm", 0));
}

/// A launcher's one process takes what is compiled for one.
DeviceOptions deviceOptions(const RunOptions &options) {
  DeviceOptions device = options.device;
  device.processes = isLaunchedAlone() ? 1 : 0;
  return device;
}

/// That there is a checkpoint to replay the step from.
void requireBefore(const RunOptions &options, const CheckpointStore &store) {
  std::vector<int64_t> steps = store.steps();
  std::string asked = concat("--replay ", options.replay, ": ");
  if (steps.empty())
    throw Failure(Exit::usage, concat(asked, "found no checkpoint in ", options.checkpoint,
                                      " to start from; give the directory of the run"));
  if (steps.back() >= options.replay)
    throw Failure(Exit::usage,
                  concat(asked, "the oldest checkpoint in ", options.checkpoint,
                         " was saved after step ", steps.back(), ": step ", steps.back() + 1,
                         " is the first that can be replayed; the run's --checkpoint-every and "
                         "--keep-checkpoints decide which checkpoints it keeps"));
}

/// The step, where it trains something: without a trained parameter there is one too, for the loss.
const artifact::Entry &requireTraining(const Program &program) {
  const artifact::Entry &step = requireEntry(program, "step", "to train");
  std::set<std::string> written = writtenVariables(program.plan(), step.name()->string_view());
  for (const TensorView &variable : program.variables())
    if (variable.role != artifact::Role::run && written.contains(variable.name))
      return step;
  throw Failure(Exit::model, concat(program.plan().model()->str(),
                                    ": there is nothing to train: the model has no parameters, or "
                                    "all are frozen; weir eval and weir predict run it"));
}

/// Null without --checkpoint. Nobody else is in the directory from now on, and only who resumes
/// finds checkpoints there.
std::unique_ptr<CheckpointStore> openStore(const Program &program, const RunOptions &options,
                                           Disk &disk) {
  if (options.checkpoint.empty()) {
    if (options.resume)
      throw Failure(Exit::usage, "--resume: no directory to resume from; give --checkpoint DIR");
    return nullptr;
  }
  auto store = std::make_unique<CheckpointStore>(options.checkpoint, options.keep, disk,
                                                 Ranks{options.device.group, &program.variables()});
  store->lock();
  if (options.replay)
    requireBefore(options, *store);
  else if (!options.resume && !store->steps().empty())
    throw Failure(Exit::usage, concat("--checkpoint ", options.checkpoint,
                                      ": the directory contains the checkpoints of a run; add "
                                      "--resume to continue from them, or give another directory"));
  return store;
}

} // namespace

Training::Training(std::vector<std::byte> artifact, const RunOptions &options)
    : options(options), group(options.device.group),
      program(std::move(artifact), openDevice, {.device = deviceOptions(options)}),
      attached(options.attach ? options.attach(program) : nullptr),
      stepEntry(requireTraining(program)), stepRows(entryRows(stepEntry)),
      outputs(program, stepEntry), store(openStore(program, options, disk)),
      initialState(std::in_place, program, options, store.get()),
      data(stepEntry, options, *initialState, store != nullptr),
      sampler(initialState->seed(), !options.noShuffle, data.trainedOn().units(),
              data.trainedOn().window(), stepRows),
      guard(group), skips(program, options), reports(program, stepEntry, options),
      utilization(program.plan(), stepEntry, options), seed(initialState->seed()) {
  if ((options.nan == "trace" || options.replay) &&
      !Actions(program.plan(), stepEntry).knowTensors())
    throw Failure(Exit::model, concat(options.replay ? "--replay" : "--nan trace",
                                      ": the artifact is from an older version of Weir, which did "
                                      "not record what kernels read and write: compile it again"));
  if ((options.nan == "trace" || options.replay) && program.plan().mesh())
    throw Failure(
        Exit::usage,
        concat(
            options.replay ? "--replay" : "--nan trace",
            " supports one device, but this program has several ranks, ",
            program.plan().mesh()->str(),
            ": compile it without --mesh and --deterministic, and continue the run with --resume"));
  if (data.heldOut() && !options.replay)
    evaluator.emplace(program, *data.heldOut(),
                      options.evalData.empty() ? "--holdout" : "--eval-data");
  const Checkpoint *resumed = initialState->checkpoint();
  if (store)
    saver.emplace(*store, program, options);
  if (resumed) {
    done = resumed->manifest.step;
    if (saver)
      saver->found(done);
    skips.resume(resumed->manifest);
  }
  total = totalSteps(program.plan(), options, sampler.stepsPerEpoch(),
                     resumed ? &resumed->manifest : nullptr);
  if (options.replay > total)
    throw Failure(Exit::usage, concat("--replay ", options.replay, ": the run in ",
                                      options.checkpoint, " has ", total, " steps"));
  if (resumed)
    requireSameRun(resumed->path, resumed->manifest, manifest(), options.change, weir::say);
}

double Training::secondsSince(Clock::time_point start) const {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Throws Failure(Exit::device) where ranks have different copies of a variable.
void Training::requireSameReplicas(const std::string &when, const std::string &advice) const {
  if (!program.facts().computes)
    return;
  if (std::string words = differingReplicas(program, group); !words.empty())
    throw Failure(Exit::device, concat(when, ": ", words, ". ", advice));
}

void Training::initialize() {
  std::string place = initialState->begin(program, total);
  requireSameReplicas("after initialization",
                      options.init.empty() && options.initPartial.empty()
                          ? "The processor, memory or network of one of these ranks is faulty"
                          : "Check that the files of --init are the same on all ranks: Weir "
                            "compares only a sample of those above 1 GiB. If they are, the "
                            "processor, memory or network of a rank is faulty");
  initialState.reset();
  NonFiniteGuard::Given given = guard.begin(
      program.variables(), writtenVariables(program.plan(), stepEntry.name()->string_view()));
  if (given.kept)
    say(concat("warning: ", *given.kept, place,
               ", which is not finite; no step updates it, so it stays as it is"));
  if (given.updated) {
    std::string value = *given.updated + place;
    say(concat("warning: ", value,
               ", which is not finite: Weir skips every step that computes such a value again"));
    skips.beganWith(std::move(value));
  }
}

/// What --deterministic costs; "" without it.
static std::string costOfParts(const artifact::Program &program, const artifact::Entry &step) {
  if (!program.hosts())
    return "";
  artifact::ExecutedByAll all = artifact::executedByAll(program, step.name()->string_view());
  double model = step.model_flops().value_or(0);
  std::string times = all.products && model > 0 ? concat(formatted("%.2f", *all.products / model),
                                                         " times the model's multiply-adds, and ")
                                                : "";
  std::string others;
  for (const Mesh::Axis &axis : artifact::meshOf(program).axes)
    if (axis.name != dataAxis && axis.name != tensorAxis)
      others += concat(others.empty() ? " with " : ",", axis.name, "=", axis.size);
  return concat("--deterministic: a step runs as on ", artifact::meshOf(program).ranks(),
                " ranks (", program.mesh()->string_view(), ") on any mesh", others, ": ", times,
                formatted("%.1f", all.received / 1e6), " MB of communication between them");
}

void Training::announce() const {
  int64_t parameters = 0;
  for (const TensorView &variable : program.variables())
    if (variable.role == artifact::Role::parameter)
      parameters += elementCount(variable.shape, 1).value_or(0);
  std::string amounts = concat(withThousands(static_cast<double>(data.trainedOn().units())), " ",
                               data.unit(), " to train on");
  if (data.heldOut())
    amounts +=
        concat(", ", withThousands(static_cast<double>(data.heldOut()->units())), " held out");
  say(concat(program.plan().model()->str(), ": ", withThousands(static_cast<double>(parameters)),
             " parameters, ", program.facts().name, ", ", total, " steps of ", stepRows, " rows; ",
             amounts));
  if (std::string cost = costOfParts(program.plan(), stepEntry); !cost.empty())
    say(cost);
  if (evaluator && evaluator->leftOut() > 0)
    say(evaluator->notice());
  if (std::string notice = utilization.notice(); !notice.empty())
    say(notice);
  if (!store)
    say("the weights will not be saved: add --checkpoint DIR to save them");
}

Exit Training::run(const Signals &signals) {
  announce();
  agreeOnBeginning();
  initialize();
  if (store)
    store->prepare(bytesOf(program.variables()));
  reports.open(data.unit(), done, total);
  try {
    int signal = train(signals);
    if (store)
      save(/*stepsFollow=*/false);
    bool reported = reports.writeLast(); // of the steps alone, before the evaluation
    if (!signal)
      signal = evaluate(signals);
    return signal ? stop(signal) : finish(reported);
  } catch (const Failure &failure) {
    // What this process still writes takes its time, and the others wait for it.
    if (group && !endsTogether)
      group->fail(failure.exit, failure.what());
    // Data that cannot be read any more are no reason to lose what was learnt from them.
    throw Failure(failure.exit, failure.what() + (failure.exit == Exit::data ? savedAsItStands()
                                                                             : savedBefore()));
  }
}

/// That all processes begin with the same, of what each has found out for itself.
void Training::agreeOnBeginning() {
  if (!group)
    return;
  Manifest facts = manifest();
  for (auto &[name, source] : facts.data)
    source.path.clear(); // hosts may keep them in other places
  std::string text = facts.write();
  auto require = [&](const std::string &what, uint64_t own) {
    collectives::requireSame(*group, "the start of the run", what, own);
  };
  require("newest checkpoint (do all ranks see the same directory?)", uint64_t(done));
  require("set of options and data", hashOf(text.data(), text.size()));
}

/// The signal that has come, to any of the processes, or 0. All ask at the same places.
int Training::received(const Signals &signals) {
  if (!group)
    return signals.received();
  if (!agreed)
    agreed = int(collectives::mostOf(*group, "the end of a step", signals.received()));
  return agreed;
}

/// Ahead of a step: as received(). Where one of several processes has no data for it, all throw:
/// what was learnt so far they can save together.
int Training::agreeOnStep(const Signals &signals, const std::optional<Failure> &noData) {
  if (!group)
    return 0;
  constexpr int64_t lacking = 1 << 16; // and the rank that lacks it: above all signals
  const int64_t own[] = {noData ? lacking + group->rank() : int64_t(signals.received()),
                         int64_t(1e9 * worked)};
  auto all = collectives::listsFromAll(*group, "the start of a step", own);
  tellSlowRanks(all);
  int64_t most = std::ranges::max(all)[0];
  if (most < lacking)
    return agreed = int(most);
  endsTogether = true;
  if (noData)
    throw *noData;
  throw Failure(Exit::data, concat("rank ", most - lacking, " has no data for step ",
                                   done + started.size() + 1, "; see its error message"));
}

/// Of each rank, behind what it has besides: nanoseconds of its last step.
void Training::tellSlowRanks(const std::vector<std::vector<int64_t>> &nanoseconds) {
  std::vector<double> seconds;
  for (const std::vector<int64_t> &one : nanoseconds)
    seconds.push_back(1e-9 * double(one[1]));
  if (std::ranges::min(seconds) <= 0) // none is done
    return;
  if (stagesOf(artifact::meshOf(program.plan())) > 1)
    return; // stages do different things
  for (const Stragglers::Change &change : stragglers.add(seconds)) {
    std::string times =
        concat(formatted("%.3g", 1e3 * change.seconds), " ms a step without waiting, ",
               formatted("%.3g", 1e3 * change.median), " ms is the median");
    std::string who = concat("rank ", change.rank, " (", group->host(change.rank), ") ");
    reports.say(change.isSlow ? concat("warning: ", who,
                                       "is a straggler, and all other ranks wait for it: ", times,
                                       " of the ranks, over ", Stragglers::steps, " steps")
                              : concat(who, "is no longer a straggler: ", times));
    reports.slowRank(done, change);
  }
}

/// Returns the signal that ended it, or 0.
int Training::train(const Signals &signals) {
  Prefetcher prefetcher(data.trainedOn(), sampler, stepRows, keptRows(program, stepEntry), done,
                        std::max(done, total));
  // A step that is to be run again is the last that was run.
  size_t ahead = options.nan == "trace" ? 0 : program.facts().ahead;
  while (done < total) {
    Clock::time_point asked = Clock::now(), begun = asked;
    double exchanged = group ? group->waited() : 0;
    if (group)
      group->at(done + int64_t(started.size()) + 1);
    std::optional<Failure> noData;
    try {
      const Batch &batch = prefetcher.next();
      begun = Clock::now();
      writeInputs(program, stepEntry, data.trainedOn(), batch);
    } catch (const Failure &failure) {
      if (!group || failure.exit != Exit::data)
        throw;
      noData.emplace(failure);
    }
    double waited = std::chrono::duration<double>(begun - asked).count();
    if (int signal = agreeOnStep(signals, noData)) {
      finishSteps();
      return signal;
    }
    startStep(begun, waited, exchanged);
    int64_t step = done + started.size();
    bool pauses = step == total || (options.evalEvery > 0 && step % options.evalEvery == 0) ||
                  (store && step % options.every == 0);
    while (started.size() > (pauses ? 0 : ahead))
      finishStep();
    if (saver)
      saver->poll();
    // Who asks for the end waits for a step, not for an evaluation. Several processes agree on it
    // ahead of the next step.
    int signal = group ? 0 : received(signals);
    if (signal)
      finishSteps();
    if (done == total)
      break;
    if (!started.empty())
      continue;
    if (!signal && options.evalEvery > 0 && done % options.evalEvery == 0)
      signal = evaluate(signals);
    if (signal)
      return signal;
    if (store && done % options.every == 0)
      save(/*stepsFollow=*/true);
  }
  return 0;
}

/// Its inputs, for which it was waited so many seconds until `begun`, are written.
void Training::startStep(Clock::time_point begun, double waited, double exchanged) {
  Clock::time_point ready = Clock::now();
  try {
    started.push_back({program.start(stepEntry), begun, ready, waited, exchanged});
  } catch (const Failure &failure) {
    // Ranks that are processes say it themselves.
    bool isOfRank = failure.exit == Exit::peer || failure.exit == Exit::device;
    if (group || !program.plan().mesh() || !isOfRank)
      throw;
    throw Failure(failure.exit,
                  concat("step ", done + int64_t(started.size()) + 1, ": ", failure.what()));
  }
}

void Training::finishSteps() {
  while (!started.empty())
    finishStep();
}

/// The first of those that were started. Its time is from when it was, or from when the one before
/// was done with.
void Training::finishStep() {
  Started step = started.front();
  started.pop_front();
  program.finish(step.ticket);
  if (group)
    worked = secondsSince(step.begun) + step.waited - (group->waited() - step.exchanged);
  StepRecord record;
  Clock::time_point start = std::max(step.begun, told);
  record.ran = secondsSince(std::max(step.ready, told));
  record.values = readOutputs();
  reports.keepGradients();
  ++done;
  if (options.restartState)
    ++options.restartState->steps;

  record.step = done;
  record.seconds = secondsSince(start);
  record.waited = step.waited;
  record.units = data.unitsPerStep();
  utilization.add(record);
  last = record.values;
  reports.step(record);
  if (program.facts().computes) {
    if (std::string told = uncounted.add(done, outputs.uncounted(), outputs.partlyUncounted());
        !told.empty())
      reports.say(told);
    checkFinite(record);
  }
  // Of a later step while one runs.
  if (started.empty() && program.facts().computes)
    if (auto counted = readRunScalar(program, "step"); counted && *counted != done)
      throw Failure(Exit::internal,
                    concat("step ", done, " left the run's step counter at ", *counted));
  told = Clock::now();
  reports.told(secondsSince(start) - record.seconds);
}

/// Of the step that was run last.
Values Training::readOutputs() {
  outputs.clear();
  outputs.add();
  Values values = outputs.ratios();
  for (auto &scalar : outputs.scalars())
    values.push_back(std::move(scalar));
  return values;
}

void Training::checkFinite(const StepRecord &record) {
  try {
    auto inData = [&]() -> std::optional<std::string> {
      for (int64_t row = 0; row < stepRows; ++row)
        if (auto found = data.trainedOn().notFinite(sampler.at(done - 1, row)))
          return found;
      return std::nullopt;
    };
    // A step that is not finite may end the run, and what it says names the newest checkpoint.
    if (saver && !isFinite(record))
      saver->wait();
    if (std::string told = skips.add(record, newestCheckpoint(), inData); !told.empty())
      reports.say(told);
  } catch (const Failure &) {
    reports.writeLast();
    if (options.nan == "trace")
      traceStep(record.values);
    throw;
  }
}

/// Returns the signal that ended it, of which nothing is told then, or 0.
int Training::evaluate(const Signals &signals) {
  if (!evaluator || evaluated == done)
    return 0;
  Clock::time_point start = Clock::now();
  std::optional<Values> figures = evaluator->run([&] { return received(signals) != 0; });
  if (!figures)
    return received(signals);
  held.clear();
  for (const auto &[name, value] : *figures)
    held.emplace_back("heldout_" + name, value);
  if (evaluator->leftOut() > 0)
    held.emplace_back("heldout_rows_left_out", static_cast<double>(evaluator->leftOut()));
  evaluated = done;
  if (std::string nothing = evaluator->uncountedNotice(); !nothing.empty())
    reports.say("warning: " + nothing);
  std::string line = concat("step ", done, "/", total);
  for (const auto &[name, value] : held)
    line += concat("  ", name, " ", shownFigure(name, value, "%.4f"));
  reports.say(line);
  reports.evaluation(done, held, secondsSince(start));
  return 0;
}

Exit Training::stop(int signal) {
  reports.end("stop", done, {}, secondsSince(began));
  if (store) {
    reports.say(concat(Signals::name(signal), ": stopped after step ", done, ", saved in ",
                       store->pathOf(done), "; to continue, run the same command with --resume"));
    return Exit::requeue;
  }
  reports.say(concat(Signals::name(signal), ": stopped after step ", done,
                     "; without --checkpoint DIR, the run cannot be resumed"));
  if (group)
    group->finish();
  Signals::die(signal);
  return Exit::internal;
}

Exit Training::finish(bool reported) {
  double seconds = secondsSince(began);
  Values results = held;
  results.insert(results.begin(), {"steps", static_cast<double>(done)});
  if (double loss = valueOf(last, "loss", std::nan("")); std::isfinite(loss))
    results.insert(results.begin() + 1, {"loss", loss});
  if (skips.skipped() > 0)
    results.emplace_back("skipped_steps", static_cast<double>(skips.skipped()));
  uncounted.addTo(results);
  utilization.addTo(results);
  reports.end("done", done, results, seconds);
  if (std::string notice = uncounted.notice(done); !notice.empty())
    reports.say(notice);
  if (store)
    reports.say(concat("weights: ", store->pathOf(done), "/model.safetensors"));
  reports.close();
  if (isFirst(options))
    printResults(results, options, seconds, reports.profileJson());
  if (program.facts().computes)
    skips.requireLearnt(done);
  return reported ? Exit::ok : Exit::storage;
}

} // namespace weir

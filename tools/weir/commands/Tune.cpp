//===- Tune.cpp - weir tune -----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/Tune.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "codegen/artifact/Writer.h"
#include "codegen/targets/Targets.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/Locations.h"
#include "ir/weir/kernel/Kernel.h"
#include "passes/Pipeline.h"
#include "runtime/core/Program.h"
#include "runtime/devices/Devices.h"
#include "support/Error.h"
#include "support/Text.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/WorkProgress.h"
#include "tools/weir/inspect/ReadArtifactPlan.h"
#include "verify/Compiled.h"
#include <iostream>

using namespace mlir;

namespace weir {
namespace {

/// A kernel runs until it has run so often, or so long; the first runs find cold caches.
constexpr int64_t coldRuns = 2, mostRuns = 20, enoughTime = 100'000'000;

/// What is gained by less is noise.
constexpr double worthIt = 0.98;

/// Kernels whose time depends on the integers that they read, which are unknown here.
bool dependsOnData(KernelOp kernel) { return kernel.getShape() == KernelShape::segment; }

std::string describeKernel(KernelOp kernel) {
  std::string text = stringifyKernelShape(kernel.getShape()).str();
  std::string place;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (text.size() < 60)
      text += " " + op.getName().stripDialect().str();
    if (place.empty() && modelLine(op.getLoc()))
      place = weir::describe(op.getLoc());
  }
  return place.empty() ? text : text + " (" + place + ")";
}

/// A program that runs one kernel.
OwningOpRef<ModuleOp> programOf(KernelOp kernel) {
  OpBuilder builder(kernel.getContext());
  Location loc = kernel.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> inputs(kernel->getOperandTypes());
  auto function = func::FuncOp::create(builder, loc, "measured",
                                       builder.getFunctionType(inputs, kernel->getResultTypes()));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Operation *copy = builder.clone(*kernel.getOperation());
  copy->setOperands(body->getArguments());
  func::ReturnOp::create(builder, loc, copy->getResults());
  nameEntryPorts(*module);
  makeTrainable(*module);
  return module;
}

/// Numbers between -1 and 1, over and over; zeros of integers, which are indices.
std::vector<std::byte> someBytes(Element element, size_t size) {
  constexpr size_t period = 4099;
  std::vector<double> numbers(period);
  uint32_t state = 1;
  for (double &number : numbers) {
    state = state * 1664525 + 1013904223; // Numerical Recipes' generator
    number = rowOf(element).kind == ElementKind::real ? double(state >> 8) / (1 << 23) - 1 : 0;
  }
  std::vector<std::byte> once(period * sizeOf(element)), all(size);
  storeNumbers(element, numbers, once.data());
  for (size_t i = 0; i < size; i += once.size())
    std::copy_n(once.begin(), std::min(once.size(), size - i), all.begin() + i);
  return all;
}

/// The fastest run of an entry's launches, added up.
int64_t fastest(Program &program, const artifact::Entry &entry) {
  std::vector<const artifact::Action *> actions = artifact::actionsOf(entry);
  program.trace(actions.size());
  int64_t best = 0, spent = 0;
  for (int64_t run = 0; run < coldRuns + mostRuns && spent < enoughTime; ++run) {
    program.run(entry);
    int64_t time = 0;
    for (const Trace::Event &event : program.trace()->events())
      if (actions[event.action]->work_as_Launch())
        time += event.end - event.start;
    if (run < coldRuns)
      continue;
    best = best ? std::min(best, time) : time;
    spent += time;
  }
  return best;
}

class Tuner {
public:
  Tuner(const Target &target, std::string device) : target(target), device(std::move(device)) {}

  /// The best settings of a kernel: none where what is used is best.
  TunedKernel tune(KernelOp kernel);

  std::string deviceName;

private:
  std::shared_ptr<Target> targetWith(KernelOp kernel, const Settings &settings);
  int64_t measure(KernelOp kernel, const Settings &settings);

  const Target &target;
  std::string device;
};

std::shared_ptr<Target> Tuner::targetWith(KernelOp kernel, const Settings &settings) {
  Tuning tuning;
  if (!settings.empty())
    tuning.kernels[digestOf(kernel)].settings = settings;
  return target.forMeasuring(std::move(tuning));
}

int64_t Tuner::measure(KernelOp kernel, const Settings &settings) {
  OwningOpRef<ModuleOp> module = programOf(kernel);
  PipelineOptions options{.target = targetWith(kernel, settings)};
  if (failed(runPassGroups(*module, options, "generate", "plan")))
    throw Failure(Exit::internal,
                  "a kernel of the artifact cannot be compiled again: " + describeKernel(kernel));
  FailureOr<std::vector<std::byte>> bytes = writeArtifact(*module);
  if (failed(bytes))
    throw Failure(Exit::internal, "a kernel of the artifact cannot be written again");
  Program program(std::move(*bytes), makeDevice,
                  {.device = {.kind = device}, .entriesAlone = true});
  deviceName = program.facts().name;
  if (!program.facts().computes)
    throw Failure(Exit::usage,
                  "--device " + deviceName +
                      " runs no kernels, so there is nothing to time: choose another device");
  const artifact::Entry &entry = *program.entry("measured");
  for (const artifact::Port *port : *entry.inputs()) {
    uint64_t size = 0;
    artifact::tensorSize(port->dtype(), *port->shape(), size);
    program.write(entry, *port, someBytes(artifact::elementOf(port->dtype()), size));
  }
  return fastest(program, entry);
}

TunedKernel Tuner::tune(KernelOp kernel) {
  TunedKernel best;
  best.what = describeKernel(kernel);
  // Knobs are found one by one: what a later one offers depends on what was chosen before.
  for (size_t i = 0;; ++i) {
    FailureOr<SmallVector<Knob>> knobs = targetWith(kernel, best.settings)->knobsOf(kernel);
    if (failed(knobs))
      throw Failure(Exit::internal,
                    "a kernel of the artifact cannot be planned again: " + best.what);
    if (i == knobs->size())
      return best;
    const Knob &knob = (*knobs)[i];
    if (knob.options.size() > 1 && best.before == 0)
      best.before = best.after = measure(kernel, {});
    for (int64_t value : knob.options) {
      if (value == knob.used)
        continue;
      Settings settings = best.settings;
      settings[knob.name] = value;
      int64_t time = measure(kernel, settings);
      if (time >= best.after * worthIt)
        continue;
      best.after = time;
      best.settings = std::move(settings);
    }
  }
}

std::string microseconds(int64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", nanoseconds / 1e3);
  return text;
}

} // namespace

std::string tuneArtifact(const std::vector<std::byte> &artifact, const std::string &device) {
  FatalErrors ends;
  DialectRegistry registry;
  registerTargetDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects(); // knobs are asked for outside of passes
  OwningOpRef<ModuleOp> plan = readArtifactPlan(artifact, context);
  Tuning tuning;
  tuning.target = (*plan)->getAttrOfType<StringAttr>(plan::targetAttrName).getValue().str();
  std::unique_ptr<Target> target = makeTarget(tuning.target);
  if (!target || !target->forMeasuring({}))
    throw Failure(Exit::usage, "the artifact is for " + tuning.target +
                                   ", which has nothing to tune; compile it with --target cuda or "
                                   "cuda:sm_90");
  Tuner tuner(*target, device);
  SmallVector<KernelOp> kernels;
  for (auto kernel : plan->getOps<plan::KernelOp>())
    if (!dependsOnData(kernel.meaning()))
      kernels.push_back(kernel.meaning());
  WorkProgress progress(kernels.size());
  int64_t before = 0, after = 0;
  size_t changed = 0;
  for (KernelOp kernel : kernels) {
    std::string digest = digestOf(kernel);
    if (!tuning.kernels.count(digest)) {
      TunedKernel tuned = tuner.tune(kernel);
      before += tuned.before;
      after += tuned.after;
      if (!tuned.settings.empty()) {
        std::string line = tuned.what + ":";
        for (const auto &[name, value] : tuned.settings)
          line += concat(" ", name, " ", value);
        progress.say(
            concat(line, ", ", microseconds(tuned.before), " to ", microseconds(tuned.after)));
        ++changed;
      }
      tuning.kernels[digest] = std::move(tuned);
    }
    progress.worked(1);
  }
  tuning.device = tuner.deviceName;
  progress.say(concat(changed, " of ", tuning.kernels.size(),
                      " kernels have other schedules; one run of each: ", microseconds(before),
                      " to ", microseconds(after)));
  return tuning.text();
}

} // namespace weir

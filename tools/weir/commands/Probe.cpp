//===- Probe.cpp - weir probe ---------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small model is trained on all ranks at once, as they would be in a run: what one leaves of the
// memory's bandwidth is what another has. The seconds of each of its actions are what the device's
// figures are fitted to (planner/machines/FitDevice.h).
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/Probe.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "codegen/targets/Targets.h"
#include "frontend/Parser.h"
#include "frontend/elaborate/Elaborate.h"
#include "passes/Pipeline.h"
#include "planner/machines/FitDevice.h"
#include "runtime/base/MachineMemory.h"
#include "runtime/collectives/LocalRanks.h"
#include "runtime/core/Program.h"
#include "runtime/cpu/ThreadPool.h"
#include "runtime/devices/Devices.h"
#include "support/Text.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/ProbeModel.h"
#include "tools/weir/WorkProgress.h"
#include <mutex>
#include <thread>

using namespace mlir;

namespace weir {
namespace {

using planner::KernelWork;
using planner::MeasuredGather;
using planner::MeasuredWork;
using planner::WorkKind;

/// Sizes of the model: of caches and behind them, and with short and long sums.
struct Size {
  int64_t batch, width, context;
};
constexpr Size sizes[] = {{4, 64, 64}, {8, 256, 128}, {16, 384, 256}};
constexpr int coldSteps = 1, fewestSteps = 2, mostSteps = 20;
constexpr double enoughSeconds = 2; ///< of one size

Mesh dataParallel(int64_t ranks) { return {{{std::string(dataAxis), ranks}}}; }

std::vector<std::byte> compileModel(const ProbeOptions &options, Precision precision,
                                    const Size &size) {
  DialectRegistry registry;
  registerTargetDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return success(); });
  SourceManager sources;
  Diagnostics diagnostics;
  std::map<std::string, std::string> sets = {
      {"batch", std::to_string(size.batch * options.devices)},
      {"width", std::to_string(size.width)},
      {"context", std::to_string(size.context)}};
  const SourceFile &file = sources.add("probe.weir", probeModel);
  std::unique_ptr<ast::Module> parsed = parse(file, diagnostics);
  ElaborateResult elaborated = elaborate(*parsed, sets, sources, context, diagnostics);
  if (!elaborated.module)
    throw Failure(Exit::internal, "the probe's model is wrong");
  PipelineOptions pipeline{.target = makeTarget(options.target),
                           .strategy = {.precision = precision}};
  if (options.devices > 1)
    pipeline.strategy.mesh = dataParallel(options.devices);
  FailureOr<std::vector<std::byte>> bytes = compile(*elaborated.module, pipeline);
  if (failed(bytes))
    throw Failure(Exit::internal, "the probe's model cannot be compiled for " + options.target);
  return std::move(*bytes);
}

/// Of the first rank's step.
class Measuring {
public:
  Measuring(const artifact::Program &program, const Trace &trace) : program(program) {
    uint32_t number = 0;
    for (const artifact::Entry *entry : *program.entries()) {
      if (entry->name()->string_view() == "step")
        add(*entry, trace.sums(number));
      ++number;
    }
  }
  std::vector<MeasuredWork> all;

private:
  void add(const artifact::Entry &step, const Trace::Sums &sums) {
    size_t number = 0;
    for (const artifact::Action *action : artifact::actionsOf(step)) {
      const Trace::Sum &sum = sums[number++];
      double seconds = sum.runs ? 1e-9 * double(sum.time) / double(sum.runs) : 0;
      spec::Cost cost = artifact::costOf(program, *action);
      KernelWork work{WorkKind::elementwise, double(cost.flops), double(cost.bytes)};
      if (const artifact::Launch *launch = action->work_as_Launch()) {
        const artifact::Kernel &kernel = *program.kernels()->Get(launch->kernel());
        work.kind = planner::workOf(kernel.shape()->string_view());
        if (kernel.part() > 0)
          all.back().seconds += seconds; // all the work is the first part's
        else
          all.push_back({work, seconds});
      } else if (action->work_as_Call()) {
        spec::Call call = artifact::specOf(*action->work_as_Call());
        work.kind = WorkKind::convolution;
        if (auto *product = std::get_if<spec::Product>(&call))
          all.push_back({*product, seconds});
        else
          all.push_back({work, seconds});
      }
    }
  }

  const artifact::Program &program;
};

void writeZeros(Program &program, const artifact::Entry &step) {
  for (const artifact::Port *port : *step.inputs()) {
    uint64_t bytes = 0;
    artifact::tensorSize(port->dtype(), *port->shape(), bytes);
    program.write(step, *port, std::vector<std::byte>(bytes));
  }
}

std::vector<MeasuredWork> measure(std::vector<std::byte> bytes, int64_t threads) {
  Program program(std::move(bytes), makeDevice, {.device = {.threads = int(threads)}});
  const artifact::Entry &step = *program.entry("step");
  program.run(*program.entry("init"));
  writeZeros(program, step);
  for (int i = 0; i < coldSteps; ++i)
    program.run(step);
  program.trace(0, true);
  int64_t begin = Trace::now();
  for (int i = 0; i < mostSteps; ++i)
    if (i < fewestSteps || 1e-9 * double(Trace::now() - begin) < enoughSeconds)
      program.run(step);
  return Measuring(artifact::programOf(program.plan(), 0), *program.trace()).all;
}

/// What one rank does: gives all others the same bytes, so many times. The first says how long one
/// takes.
void exchangeOften(Transport &transport, int64_t rank, int64_t ranks, size_t bytes, int times,
                   double &seconds) {
  std::vector<std::byte> own(bytes), all(bytes * size_t(ranks));
  std::vector<std::span<const std::byte>> to(size_t(ranks), own);
  std::vector<std::span<std::byte>> from;
  for (size_t member = 0; member < size_t(ranks); ++member)
    from.push_back(std::span(all).subspan(member * bytes, bytes));
  auto exchange = [&] { transport.exchange(0, "the probe", to, from); };
  exchange();
  int64_t begin = Trace::now();
  for (int i = 0; i < times; ++i)
    exchange();
  if (rank == 0)
    seconds = 1e-9 * double(Trace::now() - begin) / times;
}

/// Ranks that are threads, as those of a run: each gives all others the same bytes.
std::vector<MeasuredGather> measureGathers(int64_t ranks) {
  const Mesh mesh = dataParallel(ranks);
  collectives::LocalRanks local(mesh);
  std::vector<MeasuredGather> measured;
  std::mutex mutex;
  std::exception_ptr wrong;
  for (size_t bytes = 256; bytes * size_t(ranks - 1) <= 16 << 20; bytes *= 4) {
    int times = int(std::clamp<size_t>((64 << 20) / bytes, 8, 1000));
    double seconds = 0;
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        try {
          exchangeOften(local.of(rank), rank, ranks, bytes, times, seconds);
        } catch (...) {
          local.end();
          std::lock_guard lock(mutex);
          wrong = std::current_exception();
        }
      });
    threads.clear();
    if (wrong)
      std::rethrow_exception(wrong);
    measured.push_back({double(bytes) * double(ranks - 1), seconds});
  }
  return measured;
}

} // namespace

std::string probeMachine(const ProbeOptions &asked) {
  ProbeOptions options = asked;
  if (!llvm::StringRef(options.target).starts_with("cpu"))
    throw Failure(Exit::usage, "weir probe measures CPUs, but --target is " + options.target +
                                   ": describe GPUs with kind = \"a100-80\", \"h100\" or "
                                   "\"h200\" in the cluster file (docs/guides/planning.md)");
  const int64_t cores = cpu::availableCores();
  options.devices = options.devices ? options.devices : cores;
  if (options.devices > cores)
    throw Failure(Exit::usage, concat("--devices ", options.devices, ": expected at most ", cores,
                                      ", one per core of this process"));
  if (!makeTarget(options.target))
    throw Failure(Exit::usage, "--target " + options.target + ": expected " + targetOptions());
  FatalErrors ends;
  planner::Device device =
      planner::clusterOf("cpu", 1, {}).deviceOf(0); // what is not measured is as usual
  std::vector<MeasuredWork> measured;
  const std::pair<Precision, const char *> precisions[] = {{Precision::f32, "f32"},
                                                           {Precision::bf16, "bf16"}};
  WorkProgress progress(double(std::size(precisions) * std::size(sizes)) + 1);
  for (auto [precision, name] : precisions)
    for (const Size &size : sizes) {
      for (const MeasuredWork &one :
           measure(compileModel(options, precision, size), options.devices))
        // Of other precisions than the first their products alone.
        if (precision == Precision::f32 || std::holds_alternative<spec::Product>(one.work))
          measured.push_back(one);
      progress.worked(1);
    }
  device.name = "core";
  device.target = options.target;
  device.products = {.rate = {{"f32", device.products.rate.at("f32")}}};
  device.peak.clear();
  device.watts = 0;
  planner::fitDevice(device, measured);
  device.hostBandwidth = device.bandwidth;
  if (uint64_t memory = machineMemory())
    device.memory = int64_t(memory) / options.devices;
  planner::Cluster cluster{.name = "here", .groups = {{device, options.devices}}};
  if (options.devices > 1) {
    planner::LinkLevel level{.name = "memory", .devices = options.devices, .overlaps = false};
    planner::fitLinks(level, options.devices, measureGathers(options.devices));
    cluster.levels.push_back(level);
  }
  progress.worked(1);
  return planner::textOf(cluster,
                         concat("weir probe, ", options.devices, " of ", cores, " cores at once"));
}

} // namespace weir

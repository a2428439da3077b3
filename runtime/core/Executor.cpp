//===- Executor.cpp - An entry as a list of prepared steps ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Executor.h"
#include "runtime/core/Steps.h"
#include <cassert>
#include <cstdlib>

namespace weir {

using artifact::Work;

cpu::ProductSpec productSpec(const artifact::Product &p) {
  cpu::ProductSpec spec;
  spec.batch = p.batch(), spec.m = p.m(), spec.n = p.n(), spec.k = p.k();
  spec.aBatch = p.a_batch(), spec.aRow = p.a_row(), spec.aColumn = p.a_column();
  spec.bBatch = p.b_batch(), spec.bRow = p.b_row(), spec.bColumn = p.b_column();
  spec.cBatch = p.c_batch(), spec.cRow = p.c_row();
  spec.bias = p.bias() != nullptr, spec.relu = p.relu(), spec.accumulate = p.accumulate();
  spec.tileBatch = p.tile_batch(), spec.tileM = p.tile_m(), spec.tileN = p.tile_n();
  return spec;
}

cpu::ConvolutionSpec convolutionSpec(const artifact::Convolution &c) {
  using Spec = cpu::ConvolutionSpec;
  Spec spec;
  spec.kind = c.kind() == artifact::ConvolutionKind::forward          ? Spec::Kind::forward
              : c.kind() == artifact::ConvolutionKind::backward_input ? Spec::Kind::backwardInput
                                                                      : Spec::Kind::backwardWeight;
  spec.layout = c.layout() == artifact::Layout::nchw ? Spec::Layout::nchw : Spec::Layout::nhwc;
  spec.images = c.images(), spec.channels = c.channels();
  spec.height = c.height(), spec.width = c.width();
  spec.filters = c.filters();
  spec.kernelHeight = c.kernel_height(), spec.kernelWidth = c.kernel_width();
  spec.strideH = c.stride_h(), spec.strideW = c.stride_w();
  spec.paddingH = c.padding_h(), spec.paddingW = c.padding_w();
  spec.tileImages = c.tile_images();
  return spec;
}

/// Runs its body `count` times.
class RepeatStep : public Step {
public:
  RepeatStep(Executor &executor, Place ordinal, uint32_t count)
      : executor(executor), ordinal(ordinal), count(count) {}

  void run(uint32_t) override {
    for (uint32_t round = 0; round < count; ++round) {
      *ordinal.at<int32_t>(0) = round;
      executor.runAll(body, round);
    }
  }

  std::vector<Executor::Numbered> body;

private:
  Executor &executor;
  const Place ordinal;
  const uint32_t count;
};

Executor::Executor(Machine &machine, const artifact::Entry &entry, uint32_t index)
    : machine(machine), entry(entry), index(index), steps(prepare(*entry.actions(), {})) {}

std::vector<Executor::Numbered> Executor::prepare(const Actions &actions,
                                                  std::optional<uint32_t> around) {
  std::vector<Numbered> list;
  list.reserve(actions.size());
  for (const artifact::Action *action : actions) {
    Numbered numbered;
    numbered.action = nextAction++;
    numbered.step = prepare(*action);
    if (machine.poison)
      numbered.dead = deadAfter(numbered.action, nextAction - 1, around);
    list.push_back(std::move(numbered));
  }
  return list;
}

// The action numbered `first` (a repeat has its body's numbers, to `last`, too) may stand in the
// body of the repeat `around`: what was alive before that repeat stays alive to its end, whatever
// its last use.
std::vector<Executor::Range> Executor::deadAfter(uint32_t first, uint32_t last,
                                                 std::optional<uint32_t> around) const {
  std::vector<Range> dead;
  uint32_t index = 0;
  for (const artifact::Buffer *buffer : *entry.buffers()) {
    bool ends = buffer->last() == last && (first == last || buffer->first() <= first) &&
                (!around || buffer->first() > *around);
    if (ends && !isPort(*entry.outputs(), index))
      dead.push_back({machine.arena + buffer->offset(), buffer->size()});
    ++index;
  }
  return dead;
}

std::unique_ptr<Step> Executor::prepare(const artifact::Action &action) {
  switch (action.work_type()) {
  case Work::Launch: {
    const auto &launch = *action.work_as_Launch();
    std::vector<Place> places;
    for (const artifact::Ref *ref : *launch.operands())
      places.push_back(resolve(*ref));
    return std::make_unique<LaunchStep>(machine, machine.kernels[launch.kernel()],
                                        *machine.plan->kernels()->Get(launch.kernel()),
                                        std::move(places));
  }
  case Work::Product: {
    const auto &product = *action.work_as_Product();
    auto &made = machine.products[productSpec(product)];
    if (!made)
      made = std::make_unique<cpu::Product>(productSpec(product), machine.pool->size());
    return std::make_unique<ProductStep>(machine, *made, resolve(*product.a()),
                                         resolve(*product.b()), resolve(*product.c()),
                                         product.bias() ? resolve(*product.bias()) : Place());
  }
  case Work::Convolution: {
    const auto &convolution = *action.work_as_Convolution();
    auto &made = machine.convolutions[convolutionSpec(convolution)];
    if (!made)
      made = std::make_unique<cpu::Convolution>(convolutionSpec(convolution), machine.pool->size());
    return std::make_unique<ConvolutionStep>(
        machine, *made, resolve(*convolution.input()), resolve(*convolution.weight()),
        resolve(*convolution.output()),
        convolution.partials() ? resolve(*convolution.partials()) : Place());
  }
  case Work::Repeat: {
    const auto &repeat = *action.work_as_Repeat();
    auto step = std::make_unique<RepeatStep>(*this, resolve(*repeat.ordinal()), repeat.count());
    step->body = prepare(*repeat.body(), nextAction - 1);
    return step;
  }
  case Work::Copy: {
    const auto &copy = *action.work_as_Copy();
    return std::make_unique<CopyStep>(machine, resolve(*copy.from()), resolve(*copy.to()),
                                      copy.size());
  }
  case Work::Fill: {
    const auto &fill = *action.work_as_Fill();
    return std::make_unique<FillStep>(machine, resolve(*fill.to()), fill.size(), fill.value());
  }
  default:
    assert(false && "the verifier admits known kinds only");
    std::abort();
  }
}

Place Executor::resolve(const artifact::Ref &ref) const {
  uint64_t offset = ref.space() == artifact::Space::variable
                        ? machine.plan->variables()->Get(ref.index())->offset()
                        : entry.buffers()->Get(ref.index())->offset();
  return {machine.arena + offset + ref.offset(), ref.stride()};
}

bool Executor::isPort(const flatbuffers::Vector<flatbuffers::Offset<artifact::Port>> &ports,
                      uint32_t buffer) const {
  for (const artifact::Port *port : ports)
    if (port->ref()->space() == artifact::Space::buffer && port->ref()->index() == buffer)
      return true;
  return false;
}

void Executor::run() {
  if (machine.poison)
    poisonBefore();
  runAll(steps, 0);
}

void Executor::runAll(std::vector<Numbered> &list, uint32_t round) {
  for (Numbered &numbered : list) {
    if (machine.observer)
      machine.observer->before({index, numbered.action, round});
    if (machine.trace) {
      int64_t start = Trace::now();
      numbered.step->run(round);
      machine.trace->record({index, numbered.action, round, start, Trace::now()});
    } else {
      numbered.step->run(round);
    }
    if (machine.observer)
      machine.observer->after({index, numbered.action, round});
    for (const Range &range : numbered.dead)
      std::memset(range.begin, 0xff, range.size);
  }
}

// Everything but the inputs, which the host has written.
void Executor::poisonBefore() {
  const artifact::Program &plan = *machine.plan;
  std::map<uint64_t, uint64_t> inputs; // offset -> end; alive together, so they do not overlap
  uint32_t index = 0;
  for (const artifact::Buffer *buffer : *entry.buffers())
    if (isPort(*entry.inputs(), index++))
      inputs.emplace(buffer->offset(), buffer->offset() + buffer->size());
  uint64_t begin = plan.persistent();
  inputs.emplace(plan.arena(), plan.arena());
  for (auto [offset, end] : inputs) {
    if (begin < offset)
      std::memset(machine.arena + begin, 0xff, offset - begin);
    begin = end;
  }
  for (int worker = 0; worker < machine.pool->size() && machine.scratchStride; ++worker)
    std::memset(machine.workerScratch(worker), 0xff, machine.scratchStride);
}

size_t libraryScratch(const artifact::Program &program) {
  size_t most = 0;
  auto visit = [&](auto &self, const auto &actions) -> void {
    for (const artifact::Action *action : actions) {
      if (const auto *product = action->work_as_Product())
        most = std::max(most, cpu::productScratch(productSpec(*product)));
      else if (const auto *convolution = action->work_as_Convolution())
        most = std::max(most, cpu::convolutionScratch(convolutionSpec(*convolution)));
      else if (const auto *repeat = action->work_as_Repeat())
        self(self, *repeat->body());
    }
  };
  for (const artifact::Entry *entry : *program.entries())
    visit(visit, *entry->actions());
  return most;
}

} // namespace weir

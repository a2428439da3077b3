//===- Flops.cpp - What an entry computes and moves -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Flops.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "support/spec/Flops.h"
#include <algorithm>
#include <set>

namespace weir::artifact {
namespace {

/// Where a file asks for more than fits: the most there is.
uint64_t added(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
uint64_t multiplied(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

void add(Executed &to, const Executed &more, uint64_t times = 1) {
  to.products = added(to.products, multiplied(more.products, times));
  to.flops = added(to.flops, multiplied(more.flops, times));
  to.bytes = added(to.bytes, multiplied(more.bytes, times));
  to.copied = added(to.copied, multiplied(more.copied, times));
  to.received = added(to.received, multiplied(more.received, times));
  to.known &= more.known;
}

/// Calls `visit(action, times)` for every action, with how often a run of the entry runs it.
template <class Visit>
void forEachAction(const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions, uint64_t times,
                   Visit &visit) {
  for (const Action *action : actions) {
    visit(*action, times);
    if (const auto *body = bodyOf(*action))
      forEachAction(*body, multiplied(times, action->work_as_Loop()->count()), visit);
  }
}

const Kernel *launchedKernel(const Program &program, const Action &action) {
  const Launch *launch = action.work_as_Launch();
  return launch ? program.kernels()->Get(launch->kernel()) : nullptr;
}

/// Of one run of the action.
Executed executedBy(const Program &program, const Action &action) {
  spec::Cost cost = costOf(program, action);
  Executed executed{.flops = cost.flops, .bytes = cost.bytes};
  if (action.work_type() == Work::Copy)
    std::swap(executed.bytes, executed.copied);
  if (const Call *call = action.work_as_Call())
    executed.products = spec::multiplied(specOf(*call)).flops;
  if (const Collective *collective = action.work_as_Collective())
    executed.received = receivedIn(*collective);
  if (const Transfer *transfer = action.work_as_Transfer())
    executed.received = transfer->kind() == TransferKind::receive ? transfer->size() : 0;
  if (const Kernel *kernel = launchedKernel(program, action)) {
    executed.known = kernel->op_flops() || kernel->flops() == 0;
    if (kernel->op_flops())
      for (const OpFlops *op : *kernel->op_flops())
        executed.products = added(executed.products, op->products());
  }
  return executed;
}

/// Calls `visit(program, entry)` for the entry of that name of each rank.
template <class Visit>
void forEachRanksEntry(const Program &program, std::string_view name, Visit visit) {
  for (int64_t rank = 0; rank < meshOf(program).ranks(); ++rank) {
    const Program &own = programOf(program, rank);
    for (const Entry *entry : *own.entries())
      if (entry->name()->string_view() == name)
        visit(own, *entry);
  }
}

ModelLine lineOf(const Location &location) {
  return location.line() ? ModelLine(location.file(), location.line()) : ModelLine();
}

/// The lines of an action, the first one first; none known is one.
std::vector<ModelLine> linesOf(const Action &action) {
  std::vector<ModelLine> lines;
  if (action.locations())
    for (const Location *location : *action.locations())
      if (location->line() &&
          std::find(lines.begin(), lines.end(), lineOf(*location)) == lines.end())
        lines.push_back(lineOf(*location));
  if (lines.empty())
    lines.emplace_back();
  return lines;
}

class ByLine {
public:
  explicit ByLine(const Program &program) : program(program) {}

  void operator()(const Action &action, uint64_t times) {
    Executed all = executedBy(program, action);
    std::vector<ModelLine> lines = artifact::linesOf(action);
    for (size_t i = 0; i < lines.size(); ++i) {
      auto part = [&](uint64_t bytes) { return bytes / lines.size() + (i < bytes % lines.size()); };
      add(work[lines[i]].executed, {.bytes = part(all.bytes), .copied = part(all.copied)}, times);
    }
    const Kernel *kernel = launchedKernel(program, action);
    if (kernel && kernel->op_flops() && action.lines() &&
        action.lines()->size() == kernel->op_flops()->size()) {
      for (uint32_t op = 0; op < action.lines()->size(); ++op) {
        uint16_t line = action.lines()->Get(op);
        const OpFlops &flops = *kernel->op_flops()->Get(op);
        ModelLine at = line == noLine ? ModelLine() : lineOf(*action.locations()->Get(line));
        add(work[at].executed, {.products = flops.products(), .flops = flops.all()}, times);
      }
      add(work[lines.front()].executed, {.flops = kernel->recomputed_flops()}, times);
      return;
    }
    // What a call multiplies stands first (locationsOf in codegen/kernel/ProductSpec.h).
    add(work[lines.front()].executed,
        {.products = all.products, .flops = all.flops, .known = all.known}, times);
  }

  std::map<ModelLine, LineWork> work;

private:
  const Program &program;
};

} // namespace

Executed executedBy(const Program &program, const Entry &entry) {
  Executed sum;
  auto visit = [&](const Action &action, uint64_t times) {
    add(sum, executedBy(program, action), times);
  };
  forEachAction(*entry.actions(), 1, visit);
  return sum;
}

ExecutedByAll executedByAll(const Program &program, std::string_view entry) {
  ExecutedByAll sum{.products = 0};
  forEachRanksEntry(program, entry, [&](const Program &own, const Entry &one) {
    Executed executed = executedBy(own, one);
    sum.received += static_cast<double>(executed.received);
    if (!executed.known)
      sum.products.reset();
    if (sum.products)
      *sum.products += static_cast<double>(executed.products);
  });
  return sum;
}

std::map<ModelLine, LineWork> workByLine(const Program &program, const Entry &entry) {
  ByLine lines(program);
  forEachAction(*entry.actions(), 1, lines);
  if (entry.model_lines())
    for (const LineFlops *line : *entry.model_lines())
      lines.work[lineOf(line->location())].model += line->flops();
  std::erase_if(lines.work, [](const auto &line) {
    const auto &[model, executed] = line.second;
    return !model && !executed.flops && !executed.bytes && !executed.copied;
  });
  return std::move(lines.work);
}

Element multipliedBy(const Program &program, std::string_view entry) {
  std::map<Element, uint64_t> flops;
  auto visit = [&](const Action &action, uint64_t times) {
    if (const Call *call = action.work_as_Call())
      if (auto [factors, amount] = spec::multiplied(specOf(*call)); amount > 0)
        flops[factors] = added(flops[factors], artifact::multiplied(amount, times));
  };
  forEachRanksEntry(program, entry, [&](const Program &, const Entry &one) {
    forEachAction(*one.actions(), 1, visit);
  });
  auto most = std::max_element(flops.begin(), flops.end(),
                               [](auto &a, auto &b) { return a.second < b.second; });
  return most == flops.end() ? Element::f32 : most->first;
}

} // namespace weir::artifact

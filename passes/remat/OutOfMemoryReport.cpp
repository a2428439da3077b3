//===- OutOfMemoryReport.cpp - Reports what uses too much memory ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/OutOfMemoryReport.h"
#include "ir/weir/Locations.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/program/Variable.h"
#include "support/Sizes.h"
#include <map>

using namespace mlir;

namespace weir::remat {
namespace {

constexpr size_t mostNoted = 5;

const char *wordsOf(Role role) {
  switch (role) {
  case Role::parameter:
    return "parameters";
  case Role::optimizer:
    return "optimizer state";
  case Role::state:
  case Role::run:
    return "model state";
  }
  llvm_unreachable("a role");
}

/// The line of the model file, or what stands for it.
Location lineOf(Location at) {
  FileLineColLoc line = modelLine(at);
  return line ? Location(line) : at;
}

/// Tensors that are alike.
struct Alike {
  Location at;
  std::string how; ///< behind "this takes 16.4 kB"
  int64_t bytes;   ///< of each
  int64_t times;
};

std::string howItIsThere(const Step &now, int tensor) {
  const Tensor &one = now.tensors[tensor];
  if (one.madeBy < 0)
    return "";
  const Action &maker = now.actions[one.madeBy];
  return maker.again >= 0      ? " where it is recomputed"
         : maker.away >= 0     ? " where it is copied back from the host"
         : maker.keepsVariable ? " as a copy of the old value"
                               : "";
}

} // namespace

ResidentMemory::ResidentMemory(ModuleOp module, const Reserve &reserve, int64_t threads) {
  for (auto variable : module.getOps<VariableOp>())
    if (!variable.getHost())
      add(lineOf(variable.getLoc()), wordsOf(variable.getRole()),
          int64_t(llvm::alignTo(storageBytes(typeHere(variable)), plan::alignment)));
  for (const char *what : {"parameters", "optimizer state", "model state"}) {
    int64_t bytes = 0;
    for (const Line &line : lines)
      bytes += line.what == StringRef(what) ? line.bytes : 0;
    parts.push_back({what, bytes});
  }
  parts.push_back(
      {"scratch of " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
       reserve.threads});
  parts.push_back({"prefetched batches", reserve.batches});
  parts.push_back({"workspace of the device's library", reserve.library});
  llvm::erase_if(parts, [](const Part &part) { return part.bytes == 0; });
  llvm::stable_sort(lines, [](const Line &a, const Line &b) { return a.bytes > b.bytes; });
}

void ResidentMemory::add(Location at, const char *what, int64_t bytes) {
  for (Line &line : lines)
    if (line.at == at && line.what == StringRef(what)) {
      line.bytes += bytes;
      return;
    }
  lines.push_back({at, what, bytes});
}

int64_t ResidentMemory::bytes() const {
  int64_t all = 0;
  for (const Part &part : parts)
    all += part.bytes;
  return all;
}

std::string ResidentMemory::words() const {
  std::string all;
  for (const Part &part : parts)
    all += (all.empty()              ? ""
            : &part == &parts.back() ? " and "
                                     : ", ") +
           part.what + " " + bytesText(part.bytes);
  return all;
}

void ResidentMemory::note(InFlightDiagnostic &error) const {
  for (const Line &line : ArrayRef(lines).take_front(mostNoted))
    error.attachNote(line.at) << line.what
                              << (line.what == StringRef("parameters") ? " take " : " takes ")
                              << bytesText(line.bytes) << " here";
}

void noteAlive(InFlightDiagnostic &error, const EntryStep &entry, const Step &now) {
  Memory memory = measure(now);
  std::map<int, int> there; // by buffer; the later a tensor is made, the larger is its number
  for (int tensor = 0; tensor < int(now.tensors.size()); ++tensor)
    if (memory.isAlive(tensor, memory.peak)) {
      int &last = there.try_emplace(memory.buffers[tensor], tensor).first->second;
      if (memory.lifetimes[tensor].first >= memory.lifetimes[last].first)
        last = tensor;
    }
  SmallVector<Alike> all;
  for (auto [buffer, tensor] : there) {
    const Tensor &one = now.tensors[tensor];
    Value value = entry.values[one.copyOf >= 0 ? one.copyOf : tensor];
    if (!value)
      continue;
    Alike here{lineOf(value.getLoc()), howItIsThere(now, tensor), one.bytes, 1};
    auto same = llvm::find_if(all, [&](const Alike &other) {
      return other.at == here.at && other.how == here.how && other.bytes == here.bytes;
    });
    if (same == all.end())
      all.push_back(here);
    else
      ++same->times;
  }
  llvm::stable_sort(
      all, [](const Alike &a, const Alike &b) { return a.bytes * a.times > b.bytes * b.times; });
  for (const Alike &one : ArrayRef(all).take_front(mostNoted)) {
    auto &note = error.attachNote(one.at) << "this takes " << bytesText(one.bytes * one.times);
    if (one.times > 1)
      note << " in " << one.times << " tensors";
    note << one.how;
  }
}

} // namespace weir::remat

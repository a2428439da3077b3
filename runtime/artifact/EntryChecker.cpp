//===- EntryChecker.cpp - Rules of one entry ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/Checker.h"
#include "runtime/artifact/Reader.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace weir::artifact {

EntryChecker::EntryChecker(const Program &program, const Entry &entry)
    : program(program), entry(entry) {}

std::string EntryChecker::place() const {
  std::string text = "entry '" + entry.name()->str() + "'";
  if (*kind)
    text += ", action " + std::to_string(current) + " (" + kind + ")";
  return text;
}

void EntryChecker::require(bool holds, const std::string &what) const {
  if (!holds)
    reject(place(), what);
}

void EntryChecker::check() {
  countActions(*entry.actions(), 0);
  checkBuffers();
  checkOverlaps();
  checkPorts(*entry.inputs(), true);
  checkPorts(*entry.outputs(), false);
  current = 0;
  checkActions(*entry.actions());
}

void EntryChecker::countActions(const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions,
                                int depth) {
  for (const Action *action : actions) {
    uint32_t number = actionCount++;
    if (const Repeat *repeat = action->work_as_Repeat()) {
      require(depth == 0, "a repeat stands inside a repeat");
      countActions(*repeat->body(), depth + 1);
      repeats.emplace(number, actionCount - 1);
    }
  }
}

void EntryChecker::checkBuffers() {
  uint32_t index = 0;
  for (const Buffer *buffer : *entry.buffers()) {
    std::string name = "buffer " + std::to_string(index++);
    require(buffer->size() > 0, name + " is empty");
    require(buffer->offset() % alignment == 0, name + "'s offset is not a multiple of 64");
    require(buffer->offset() >= program.persistent(), name + " lies in the persistent segment");
    require(buffer->offset() <= program.arena() &&
                buffer->size() <= program.arena() - buffer->offset(),
            name + " lies outside the arena");
    // Where there are no actions the outputs are inputs.
    require(buffer->first() <= buffer->last() &&
                buffer->last() < std::max<uint32_t>(actionCount, 1),
            name + "'s lifetime is not within the entry's actions");
    // In the next round its place would hold something else.
    auto repeat = repeats.upper_bound(buffer->last());
    if (repeat != repeats.begin()) {
      auto [start, end] = *--repeat;
      require(buffer->first() > start || buffer->last() == start || buffer->last() >= end,
              name + " is alive before the repeat at action " + std::to_string(start) +
                  " and dies inside its body");
    }
  }
}

// Sweeps over time, keeping the ranges that are alive ordered by place, so that a hostile file
// costs n log n.
void EntryChecker::checkOverlaps() {
  const auto &buffers = *entry.buffers();
  struct Event {
    uint32_t action;
    bool begins;
    uint32_t buffer;
  };
  std::vector<Event> events;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    events.push_back({buffers[i]->first(), true, i});
    events.push_back({buffers[i]->last(), false, i});
  }
  // Both ends of a lifetime belong to it: at one action, what begins comes before what ends.
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tuple(a.action, !a.begins, a.buffer) < std::tuple(b.action, !b.begins, b.buffer);
  });
  std::map<uint64_t, uint32_t> alive; // offset -> buffer
  auto end = [&](uint32_t i) { return buffers[i]->offset() + buffers[i]->size(); };
  for (const Event &event : events) {
    uint64_t offset = buffers[event.buffer]->offset();
    if (!event.begins) {
      alive.erase(offset);
      continue;
    }
    auto next = alive.lower_bound(offset);
    bool free = next == alive.end() || next->first >= end(event.buffer);
    uint32_t other = free ? 0 : next->second;
    if (free && next != alive.begin()) {
      auto before = std::prev(next);
      free = end(before->second) <= offset;
      other = before->second;
    }
    require(free, "buffers " + std::to_string(other) + " and " + std::to_string(event.buffer) +
                      " are alive together and overlap");
    alive.emplace(offset, event.buffer);
  }
}

void EntryChecker::checkPorts(const flatbuffers::Vector<flatbuffers::Offset<Port>> &ports,
                              bool input) {
  // The host touches a port before the first action, or after the last.
  current = lastUse = input || actionCount == 0 ? 0 : actionCount - 1;
  std::set<std::pair<std::string_view, std::pair<PortKind, uint32_t>>> seen;
  std::map<std::string_view, bool> ratios;
  for (const Port *port : ports) {
    std::string name = (input ? "input '" : "output '") + port->name()->str() + "'";
    require(port->kind() <= PortKind::MAX, name + ": its kind is unknown");
    require(port->dtype() <= DType::MAX, name + ": its type is unknown");
    // A ratio has a sum and a count for each of its terms; anything else has its name to itself.
    bool ratio = port->kind() == PortKind::sum || port->kind() == PortKind::count;
    bool isNew = seen.insert({port->name()->string_view(), {port->kind(), port->term()}}).second;
    auto [owner, isFirst] = ratios.emplace(port->name()->string_view(), ratio);
    require(isNew && (isFirst || (ratio && owner->second)), name + " is there twice");
    require(input == (port->kind() == PortKind::input), name + ": its kind is another's");
    uint64_t size;
    require(tensorSize(port->dtype(), *port->shape(), size),
            name + ": its shape is not positive or too large");
    checkRef(name.c_str(), *port->ref(), size);
    require(port->ref()->stride() == 0, name + " has a stride");
    if (port->kind() != PortKind::input && port->kind() != PortKind::tensor)
      require(size == 4, name + " must be one number");
    require(std::isfinite(port->weight()), name + ": its weight is not finite");
    require(port->limit() >= 0, name + ": its limit is negative");
    require(port->limit() == 0 || (port->kind() == PortKind::input && port->dtype() != DType::f32),
            name + " has a limit, but is no input of integers");
  }
}

void EntryChecker::checkActions(const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions) {
  for (const Action *action : actions) {
    lastUse = current;
    checkWork(*action);
    kind = "";
    ++current;
  }
}

void EntryChecker::checkWork(const Action &action) {
  switch (action.work_type()) {
  case Work::Launch:
    kind = "launch";
    return checkLaunch(*action.work_as_Launch());
  case Work::Product:
    kind = "product";
    return checkProduct(*action.work_as_Product());
  case Work::Convolution:
    kind = "convolution";
    return checkConvolution(*action.work_as_Convolution());
  case Work::Repeat:
    kind = "repeat";
    return checkRepeat(*action.work_as_Repeat());
  case Work::Copy: {
    kind = "copy";
    const Copy &copy = *action.work_as_Copy();
    require(copy.size() > 0, "it is empty");
    checkRef("from", *copy.from(), copy.size());
    return checkRef("to", *copy.to(), copy.size());
  }
  case Work::Fill: {
    kind = "fill";
    const Fill &fill = *action.work_as_Fill();
    require(fill.size() > 0, "it is empty");
    return checkRef("to", *fill.to(), fill.size());
  }
  default:
    kind = "unknown";
    require(false, "its kind is unknown");
  }
}

void EntryChecker::checkLaunch(const Launch &launch) {
  require(launch.kernel() < program.kernels()->size(),
          "there is no kernel " + std::to_string(launch.kernel()));
  const Kernel &kernel = *program.kernels()->Get(launch.kernel());
  require(kernel.operands()->size() == launch.operands()->size(),
          "kernel '" + kernel.symbol()->str() + "' takes " +
              std::to_string(kernel.operands()->size()) + " operands, not " +
              std::to_string(launch.operands()->size()));
  require(launch.operands()->size() == 0 ||
              reinterpret_cast<uintptr_t>(launch.operands()->Data()) % alignof(Ref) == 0,
          "its operands are not aligned in the file");
  for (uint32_t i = 0; i < launch.operands()->size(); ++i)
    checkRef(("operand " + std::to_string(i)).c_str(), *launch.operands()->Get(i),
             kernel.operands()->Get(i)->size());
}

void EntryChecker::checkProduct(const Product &p) {
  for (auto [dim, tile, name] :
       {std::tuple(p.batch(), p.tile_batch(), "batch"), std::tuple(p.m(), p.tile_m(), "m"),
        std::tuple(p.n(), p.tile_n(), "n"), std::tuple(p.k(), p.k(), "k")}) {
    require(dim > 0 && dim < maxDim, std::string(name) + " is out of range");
    require(tile > 0 && tile <= dim, std::string("the tile of ") + name + " is out of range");
  }
  uint64_t tasks = (p.batch() - 1) / p.tile_batch() + 1; // below 2^31 each: no wrap in pairs
  tasks *= (p.m() - 1) / p.tile_m() + 1;
  require(tasks < maxTasks, "it has too many tiles");
  tasks *= (p.n() - 1) / p.tile_n() + 1;
  require(tasks < maxTasks, "it has too many tiles");
  require(!(p.relu() && p.accumulate()), "it accumulates behind a relu");
  require(p.c_row() >= p.n() || p.m() == 1, "rows of c overlap");
  require(p.c_batch() >= p.n() || p.batch() == 1, "the batch of c overlaps");
  require((p.a_row() || p.m() == 1) && (p.a_column() || p.k() == 1), "a stride of a is 0");
  require((p.b_row() || p.k() == 1) && (p.b_column() || p.n() == 1), "a stride of b is 0");
  checkStrided("a", *p.a(), {{p.batch(), p.a_batch()}, {p.m(), p.a_row()}, {p.k(), p.a_column()}});
  checkStrided("b", *p.b(), {{p.batch(), p.b_batch()}, {p.k(), p.b_row()}, {p.n(), p.b_column()}});
  checkStrided("c", *p.c(), {{p.batch(), p.c_batch()}, {p.m(), p.c_row()}, {p.n(), 1}});
  if (p.bias())
    checkStrided("bias", *p.bias(), {{p.n(), 1}});
}

void EntryChecker::checkConvolution(const Convolution &c) {
  require(c.kind() <= ConvolutionKind::MAX, "its kind is unknown");
  require(c.layout() <= Layout::MAX, "its layout is unknown");
  for (uint64_t dim : {c.images(), c.channels(), c.height(), c.width(), c.filters(),
                       c.kernel_height(), c.kernel_width(), c.stride_h(), c.stride_w()})
    require(dim > 0 && dim < maxDim, "a dimension is out of range");
  require(c.padding_h() < c.kernel_height() && c.padding_w() < c.kernel_width(),
          "its padding is not smaller than the kernel");
  require(c.kernel_height() <= c.height() + 2 * c.padding_h() &&
              c.kernel_width() <= c.width() + 2 * c.padding_w(),
          "its kernel is larger than the padded input");
  require(c.tile_images() > 0 && c.tile_images() <= c.images(), "its tile is out of range");
  uint64_t outHeight = (c.height() + 2 * c.padding_h() - c.kernel_height()) / c.stride_h() + 1;
  uint64_t outWidth = (c.width() + 2 * c.padding_w() - c.kernel_width()) / c.stride_w() + 1;
  auto dense = [&](const char *name, const Ref &ref, std::initializer_list<uint64_t> dims) {
    uint64_t size = 4;
    for (uint64_t dim : dims)
      require(!__builtin_mul_overflow(size, dim, &size), std::string(name) + " is too large");
    require(ref.offset() % 4 == 0 && ref.stride() % 4 == 0, std::string(name) + " is not aligned");
    checkRef(name, ref, size);
  };
  dense("input", *c.input(), {c.images(), c.channels(), c.height(), c.width()});
  dense("weight", *c.weight(), {c.filters(), c.channels(), c.kernel_height(), c.kernel_width()});
  dense("output", *c.output(), {c.images(), c.filters(), outHeight, outWidth});
  uint64_t tiles = (c.images() - 1) / c.tile_images() + 1;
  if (c.kind() == ConvolutionKind::backward_weight && tiles > 1) {
    require(c.partials(), "it has no place for partial gradients");
    dense("partials", *c.partials(),
          {tiles, c.filters(), c.channels(), c.kernel_height(), c.kernel_width()});
  }
}

void EntryChecker::checkRepeat(const Repeat &repeat) {
  require(repeat.count() >= 1 && repeat.count() <= maxRounds, "its count is out of range");
  require(repeat.body()->size() > 0, "its body is empty");
  lastUse = repeats.at(current);
  require(repeat.ordinal()->stride() == 0, "its ordinal has a stride");
  require(repeat.ordinal()->offset() % 4 == 0, "its ordinal is not aligned");
  checkRef("ordinal", *repeat.ordinal(), 4);
  rounds = repeat.count();
  inRepeat = true;
  ++current;
  checkActions(*repeat.body());
  --current;
  inRepeat = false;
  rounds = 1;
}

void EntryChecker::checkRef(const char *name, const Ref &ref, uint64_t size) {
  uint64_t room = 0;
  bool variable = ref.space() == Space::variable;
  std::string operand = name;
  if (variable) {
    require(ref.index() < program.variables()->size(), operand + " is in an unknown variable");
    room = program.variables()->Get(ref.index())->size();
  } else {
    require(ref.space() == Space::buffer, operand + " is in an unknown space");
    require(ref.index() < entry.buffers()->size(), operand + " is in an unknown buffer");
    const Buffer &buffer = *entry.buffers()->Get(ref.index());
    room = buffer.size();
    require(buffer.first() <= current && lastUse <= buffer.last(),
            operand + " is in buffer " + std::to_string(ref.index()) +
                ", which is alive from action " + std::to_string(buffer.first()) + " to " +
                std::to_string(buffer.last()) + " only");
  }
  std::string owner =
      variable ? "variable '" + program.variables()->Get(ref.index())->name()->str() + "'"
               : "buffer " + std::to_string(ref.index());
  require(inRepeat || ref.stride() == 0, operand + " has a stride outside a repeat");
  uint64_t travel;
  bool wraps = __builtin_mul_overflow(ref.stride(), uint64_t(rounds - 1), &travel);
  require(!wraps && travel <= room && ref.offset() <= room - travel &&
              size <= room - travel - ref.offset(),
          operand + " takes " + std::to_string(size) + " bytes at offset " +
              std::to_string(ref.offset()) + ", outside " + owner + " of " + std::to_string(room) +
              " bytes");
}

void EntryChecker::checkStrided(const char *name, const Ref &ref,
                                const std::vector<std::pair<uint64_t, uint64_t>> &dims) {
  uint64_t last = 0;
  bool wraps = false;
  for (auto [dim, stride] : dims) {
    uint64_t travel;
    wraps |= stride >= maxArena;
    wraps |= __builtin_mul_overflow(dim - 1, stride, &travel);
    wraps |= __builtin_add_overflow(last, travel, &last);
  }
  require(!wraps && last < maxArena / 4, std::string(name) + " is larger than any arena");
  require(ref.offset() % 4 == 0 && ref.stride() % 4 == 0, std::string(name) + " is not aligned");
  checkRef(name, ref, (last + 1) * 4);
}

} // namespace weir::artifact

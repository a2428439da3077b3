//===- RandomPlans.cpp - Random planned entries -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/support/planned/RandomPlans.h"
#include <algorithm>
#include <map>

namespace weir::planned {
namespace {

class Planner {
public:
  explicit Planner(Random &random) : random(random) {}

  Entry plan() {
    entry.queues = below(4) + 1;
    entry.events = entry.queues;
    loose = std::vector<double>{0, 0, 0, 0.02, 0.1, 0.3, 0.6}[below(7)];
    uint32_t buffers = below(4) + 1;
    for (uint32_t i = 0; i < buffers; ++i) {
      Buffer buffer;
      buffer.space = chance(0.7) ? Space::scratch : chance(0.6) ? Space::persistent : Space::pinned;
      buffer.holds = buffer.space == Space::persistent && chance(0.7);
      buffer.size = 8;
      entry.buffers.push_back(buffer);
    }
    if (chance(0.3))
      entry.actions = longLoop();
    else
      entry.actions = body(0, 2 + below(7));
    for (uint32_t i = 0; i < buffers; ++i)
      if (!entry.buffers[i].holds && chance(0.95))
        fill(i);
    if (chance(0.5))
      entry.outputs.push_back(whole(below(buffers), Mode::read));
    order();
    place();
    return std::move(entry);
  }

private:
  uint32_t below(uint32_t end) {
    return std::uniform_int_distribution<uint32_t>(0, end - 1)(random);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random); }

  std::vector<Action> body(uint32_t depth, uint32_t length) {
    std::vector<Action> actions;
    for (uint32_t i = 0; i < length; ++i) {
      Action action;
      action.queue = below(entry.queues);
      bool isLoop = depth < 3 && chance(depth ? 0.25 : 0.4);
      if (isLoop) {
        constexpr uint64_t counts[] = {1, 2, 3, 5, 7, 9, 12, 16, 25, 40};
        uint64_t room = entry.queues == 1 ? 300 : 60;
        for (uint64_t around : loops)
          room /= around;
        action.kind = Action::Kind::loop;
        action.count = std::min(std::max<uint64_t>(room, 1), counts[below(10)]);
        loops.push_back(action.count);
      }
      uint32_t accesses = isLoop ? below(2) : 1 + below(3);
      for (uint32_t a = 0; a < accesses; ++a) {
        Access next = access();
        bool writes = next.mode != Mode::read;
        for (Access &other : action.accesses)
          if (writes && other.buffer == next.buffer && other.mode != Mode::read && !chance(0.05))
            next.mode = Mode::read;
        action.accesses.push_back(next);
      }
      if (isLoop) {
        action.body = body(depth + 1, 1 + below(3));
        loops.pop_back();
      }
      actions.push_back(action);
    }
    return actions;
  }

  // Races that only rounds far apart show, such as those of slots by twos and threes.
  std::vector<Action> longLoop() {
    loose = std::vector<double>{0.1, 0.3, 0.5, 0.7}[below(4)];
    Action loop;
    loop.kind = Action::Kind::loop;
    loop.count = 20 + below(41);
    loops = {loop.count};
    for (uint32_t i = 2 + below(2); i > 0; --i) {
      Action action;
      action.queue = below(entry.queues);
      action.accesses = {access()};
      loop.body.push_back(action);
    }
    loops.clear();
    return {loop};
  }

  Access access() {
    Access access;
    access.buffer = below(entry.buffers.size());
    access.mode = chance(0.55) ? Mode::read : chance(0.7) ? Mode::write : Mode::update;
    access.bytes = 4 << below(4);
    int64_t least = 0, most = access.bytes;
    auto spread = [&](int64_t travel) { (travel < 0 ? least : most) += travel; };
    for (uint32_t loop = 0; loop < loops.size(); ++loop) {
      if (chance(0.5))
        continue;
      Stride stride{loop, int64_t(4 << below(3)), chance(0.4) ? 2 + below(3) : 0};
      if (chance(0.2))
        stride.bytes = -stride.bytes;
      access.strides.push_back(stride);
      uint64_t rounds =
          stride.modulus ? std::min<uint64_t>(stride.modulus, loops[loop]) : loops[loop];
      spread(stride.bytes * int64_t(rounds - 1));
    }
    if (chance(0.2)) {
      Dim dim{1 + below(3), int64_t(4 << below(4))};
      if (chance(0.3))
        dim.stride = -dim.stride;
      access.dims.push_back(dim);
      spread(dim.stride * int64_t(dim.count - 1));
    }
    access.offset = 4 * below(8) - least;
    if (chance(0.4))
      access.offset = -least;
    uint64_t &size = entry.buffers[access.buffer].size;
    size = std::max<uint64_t>(size, access.offset + most);
    if (chance(0.002))
      access.offset += 300;
    return access;
  }

  Access whole(uint32_t buffer, Mode mode) {
    Access access;
    access.buffer = buffer;
    access.bytes = entry.buffers[buffer].size;
    access.mode = mode;
    return access;
  }

  static bool uses(const Action &action, uint32_t buffer) {
    return std::any_of(action.accesses.begin(), action.accesses.end(),
                       [&](const Access &a) { return a.buffer == buffer; }) ||
           std::any_of(action.body.begin(), action.body.end(),
                       [&](const Action &a) { return uses(a, buffer); });
  }

  // By the host, or just before its first use, which may be inside a loop.
  void fill(uint32_t buffer) {
    if (chance(0.2)) {
      entry.inputs.push_back(whole(buffer, Mode::write));
      return;
    }
    std::vector<Action> *actions = &entry.actions;
    while (true) {
      auto first = std::find_if(actions->begin(), actions->end(),
                                [&](const Action &a) { return uses(a, buffer); });
      if (first != actions->end() && !first->body.empty() && first->accesses.empty() &&
          chance(0.5)) {
        actions = &first->body;
        continue;
      }
      Action action;
      action.queue = below(entry.queues);
      action.accesses = {whole(buffer, Mode::write)};
      actions->insert(first, action);
      return;
    }
  }

  Action sync(Action::Kind kind, uint32_t queue, uint32_t event) {
    Action action;
    action.kind = kind;
    action.queue = queue;
    action.event = event;
    if (chance(loose / 8))
      action.event = below(entry.events);
    if (chance(loose / 8))
      action.queue = below(entry.queues);
    return action;
  }

  // Each queue has an event, recorded behind each of its works; each work waits for all others'.
  void order() {
    std::vector<Action> forked = {sync(Action::Kind::record, 0, 0)};
    for (uint32_t queue = 1; queue < entry.queues; ++queue)
      forked.push_back(sync(Action::Kind::wait, queue, 0));
    for (uint32_t queue = 1; queue < entry.queues; ++queue)
      forked.push_back(sync(Action::Kind::record, queue, queue));
    std::vector<Action> ordered = order(entry.actions);
    if (!chance(0.03))
      ordered.insert(ordered.begin(), forked.begin(), forked.end());
    for (uint32_t queue = 1; queue < entry.queues; ++queue)
      if (!chance(loose / 8))
        ordered.push_back(sync(Action::Kind::wait, 0, queue));
    entry.actions = ordered;
  }

  std::vector<Action> order(const std::vector<Action> &actions) {
    std::vector<Action> ordered;
    auto add = [&](Action::Kind kind, uint32_t queue, uint32_t event) {
      if (!chance(loose))
        ordered.push_back(sync(kind, queue, event));
    };
    for (Action action : actions) {
      for (uint32_t queue = 0; queue < entry.queues; ++queue)
        if (queue != action.queue)
          add(Action::Kind::wait, action.queue, queue);
      // A loop's own accesses happen in every round, and all that its body does before the next.
      if (action.kind == Action::Kind::loop) {
        action.body = order(action.body);
        if (!action.accesses.empty()) {
          action.body.insert(action.body.begin(),
                             sync(Action::Kind::record, action.queue, action.queue));
          for (uint32_t queue = 0; queue < entry.queues; ++queue)
            if (queue != action.queue && !chance(loose))
              action.body.push_back(sync(Action::Kind::wait, action.queue, queue));
        }
      }
      uint32_t queue = action.queue;
      bool isWork = action.kind == Action::Kind::work;
      ordered.push_back(std::move(action));
      if (isWork)
        add(Action::Kind::record, queue, queue);
    }
    return ordered;
  }

  struct Use {
    uint32_t first = UINT32_MAX, last = 0;
  };

  uint32_t measure(const std::vector<Action> &actions, uint32_t number,
                   std::map<uint32_t, Use> &uses) {
    for (const Action &action : actions) {
      uint32_t self = number++;
      std::map<uint32_t, Use> inside;
      for (const Access &access : action.accesses)
        inside[access.buffer] = {self, self};
      number = measure(action.body, number, inside);
      for (auto [buffer, use] : inside) {
        Use &total = uses[buffer];
        bool before = total.first != UINT32_MAX || use.first == self || carried(buffer);
        bool isLoop = action.kind == Action::Kind::loop;
        total.first =
            std::min(total.first, isLoop && before ? std::min(self, use.first) : use.first);
        total.last = std::max(total.last, isLoop && before ? number - 1 : use.last);
      }
    }
    return number;
  }

  bool carried(uint32_t buffer) {
    return entry.buffers[buffer].holds || hostUses(entry.inputs, buffer);
  }

  static bool hostUses(const std::vector<Access> &accesses, uint32_t buffer) {
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](const Access &a) { return a.buffer == buffer; });
  }

  // Each at the first place that is free as long as it lives.
  void place() {
    std::map<uint32_t, Use> uses;
    uint32_t last = measure(entry.actions, 0, uses) - 1;
    for (uint32_t i = 0; i < entry.buffers.size(); ++i) {
      Buffer &buffer = entry.buffers[i];
      Use use = uses.count(i) ? uses[i] : Use{0, 0};
      buffer.first = carried(i) ? 0 : use.first;
      buffer.last =
          hostUses(entry.outputs, i) || buffer.space == Space::persistent ? last : use.last;
      if (chance(0.01))
        buffer.last = below(last + 1);
      if (chance(0.002))
        buffer.offset = 32;
      for (uint32_t j = 0; j < i;) {
        const Buffer &other = entry.buffers[j];
        bool meets = other.space == buffer.space && other.first <= buffer.last &&
                     buffer.first <= other.last && other.offset < buffer.offset + buffer.size &&
                     buffer.offset < other.offset + other.size;
        if (meets && !chance(0.005)) {
          buffer.offset = (other.offset + other.size + 63) / 64 * 64;
          j = 0;
        } else {
          ++j;
        }
      }
      uint64_t &room = entry.sizes[size_t(buffer.space)];
      room = std::max(room, buffer.offset + buffer.size);
      if (chance(0.003))
        --room;
    }
  }

  Random &random;
  Entry entry;
  double loose = 0;
  std::vector<uint64_t> loops; // the counts of those around
};

} // namespace

Entry randomPlan(Random &random) { return Planner(random).plan(); }

namespace {

class Rubbish {
public:
  explicit Rubbish(Random &random) : random(random) {}

  Entry entry() {
    Entry entry;
    for (size_t i = below(6); i > 0; --i)
      entry.buffers.push_back({Space(below(5)), number() & ~uint64_t(63), number(), "b",
                               below(2) == 0, uint32_t(number()), uint32_t(number())});
    entry.queues = below(3) ? 3 : number();
    entry.events = below(3) ? 3 : number();
    for (uint64_t &size : entry.sizes)
      size = below(3) ? uint64_t(1) << 40 : number();
    for (size_t i = below(3); i > 0; --i)
      entry.inputs.push_back(access(0));
    for (size_t i = below(3); i > 0; --i)
      entry.outputs.push_back(access(0));
    entry.actions = body(0);
    return entry;
  }

private:
  uint32_t below(uint32_t end) {
    return std::uniform_int_distribution<uint32_t>(0, end - 1)(random);
  }

  uint64_t number() {
    constexpr uint64_t edges[] = {0,
                                  1,
                                  63,
                                  64,
                                  INT64_MAX,
                                  uint64_t(INT64_MAX) + 1,
                                  UINT64_MAX,
                                  UINT32_MAX,
                                  uint64_t(1) << 32,
                                  uint64_t(1) << 62};
    switch (below(4)) {
    case 0:
      return edges[below(10)] + below(3) - 1;
    case 1:
      return uint64_t(random()) << below(40);
    default:
      return below(9) * 64;
    }
  }

  Access access(uint32_t loops) {
    Access access;
    access.buffer = below(50) ? below(3) : number();
    access.offset = below(4) ? 0 : number();
    access.bytes = number();
    access.mode = Mode(below(20) ? below(3) : 7);
    for (uint32_t loop = 0; loop < loops + (below(30) == 0); ++loop)
      if (below(2))
        access.strides.push_back({loop, int64_t(number()), below(2) ? 0 : uint32_t(number())});
    for (size_t i = below(4) / 2; i > 0; --i)
      access.dims.push_back({number(), int64_t(number())});
    return access;
  }

  std::vector<Action> body(uint32_t depth) {
    std::vector<Action> actions;
    for (size_t i = below(5); i > 0; --i) {
      Action action;
      action.kind = Action::Kind(below(60) ? below(4) : 9);
      action.queue = below(60) ? below(3) : number();
      action.event = below(60) ? below(3) : number();
      action.count = number();
      bool isLoop = action.kind == Action::Kind::loop;
      if (action.kind <= Action::Kind::loop)
        for (size_t a = below(3); a > 0; --a)
          action.accesses.push_back(access(depth + isLoop));
      if (depth < 6 && (isLoop || below(60) == 0))
        action.body = body(depth + 1);
      actions.push_back(action);
    }
    return actions;
  }

  Random &random;
};

} // namespace

Entry garbage(Random &random) { return Rubbish(random).entry(); }

} // namespace weir::planned

//===- Actions.cpp - What every action of an artifact answers -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "artifact/Sharding.h"
#include <cassert>

namespace weir::artifact {

using spec::Cost;
using spec::Footprint;

std::optional<spec::Call> readSpec(const Call &call, std::string &why) {
  std::optional<spec::Call> read = spec::callOf(call.kind()->string_view());
  if (!read) {
    why = "no library call is called '" + call.kind()->str() + "'";
    return std::nullopt;
  }
  if (!spec::decode({call.fields()->data(), call.fields()->size()}, *read))
    why = "its fields are not those of its kind";
  else
    why = spec::check(*read);
  return why.empty() ? read : std::nullopt;
}

spec::Call specOf(const Call &call) {
  std::string why;
  std::optional<spec::Call> read = readSpec(call, why);
  assert(read && "the program has been verified");
  return *read;
}

namespace {

/// What one kind of action answers.
struct Kind {
  std::vector<Footprint> (*footprints)(const Program &, const Action &);
  Cost (*cost)(const Program &, const Action &);
  std::string (*describe)(const Program &, const Action &);
};

const Kernel &kernelOf(const Program &program, const Action &launch) {
  return *program.kernels()->Get(launch.work_as_Launch()->kernel());
}

std::vector<Footprint> footprintsOfLaunch(const Program &program, const Action &action) {
  std::vector<Footprint> list;
  for (const Operand *operand : *kernelOf(program, action).operands())
    list.push_back({"operand " + std::to_string(list.size()),
                    static_cast<spec::Mode>(operand->mode()),
                    operand->size(),
                    {},
                    false});
  return list;
}

std::string describeLaunch(const Program &program, const Action &action) {
  const Kernel &kernel = kernelOf(program, action);
  return "launch of " + kernel.symbol()->str() + ", " + kernel.shape()->str();
}

std::vector<Footprint> none(const Program &, const Action &) { return {}; }
Cost nothing(const Program &, const Action &) { return {}; }

std::vector<Footprint> footprintsOfCollective(const Program &, const Action &action) {
  spec::Exchange exchange = exchangeOf(*action.work_as_Collective());
  return {{"from", spec::Mode::read, exchange.read(), {}, false},
          {"to", spec::Mode::write, exchange.written(), {}, false}};
}

/// In the schema's order.
constexpr Kind kinds[] = {
    {none, nothing, [](const Program &, const Action &) { return std::string("nothing"); }},
    {footprintsOfLaunch,
     [](const Program &program, const Action &action) {
       const Kernel &kernel = kernelOf(program, action);
       return Cost{kernel.flops(), kernel.bytes()};
     },
     describeLaunch},
    {[](const Program &, const Action &action) {
       return spec::footprints(specOf(*action.work_as_Call()));
     },
     [](const Program &, const Action &action) {
       return spec::costOf(specOf(*action.work_as_Call()));
     },
     [](const Program &, const Action &action) {
       return spec::describe(specOf(*action.work_as_Call()));
     }},
    {[](const Program &, const Action &) {
       return std::vector<Footprint>{{"round", spec::Mode::write, sizeOf(Element::i32), {}, false}};
     },
     nothing, [](const Program &, const Action &) { return std::string("loop"); }},
    {[](const Program &, const Action &action) {
       uint64_t size = action.work_as_Copy()->size();
       return std::vector<Footprint>{{"from", spec::Mode::read, size, {}, false},
                                     {"to", spec::Mode::write, size, {}, false}};
     },
     [](const Program &, const Action &action) {
       return Cost{0, 2 * action.work_as_Copy()->size()};
     },
     [](const Program &, const Action &) { return std::string("copy"); }},
    {none, nothing, [](const Program &, const Action &) { return std::string("record"); }},
    {none, nothing, [](const Program &, const Action &) { return std::string("wait"); }},
    {footprintsOfCollective,
     [](const Program &program, const Action &action) {
       Cost cost;
       for (const Footprint &touched : footprintsOfCollective(program, action))
         cost.bytes += touched.bytes;
       return cost;
     },
     [](const Program &, const Action &action) {
       const Collective &collective = *action.work_as_Collective();
       return std::string(EnumNameCollectiveKind(collective.kind())) + " over " +
              collective.axis()->str();
     }},
    {[](const Program &, const Action &action) {
       const Transfer &transfer = *action.work_as_Transfer();
       bool sends = transfer.kind() == TransferKind::send;
       return std::vector<Footprint>{{sends ? "from" : "to",
                                      sends ? spec::Mode::read : spec::Mode::write,
                                      transfer.size(),
                                      {},
                                      false}};
     },
     [](const Program &, const Action &action) {
       return Cost{0, action.work_as_Transfer()->size()};
     },
     [](const Program &, const Action &action) {
       const Transfer &transfer = *action.work_as_Transfer();
       bool sends = transfer.kind() == TransferKind::send;
       return std::string(EnumNameTransferKind(transfer.kind())) + (sends ? " to " : " from ") +
              transfer.axis()->str() + " " + std::to_string(transfer.peer()) + ", microbatch " +
              std::to_string(transfer.round());
     }},
};
static_assert(std::size(kinds) == static_cast<size_t>(Work::MAX) + 1);

const Kind &kindOf(const Action &action) { return kinds[static_cast<size_t>(action.work_type())]; }

void collect(const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions,
             std::vector<const Action *> &into) {
  for (const Action *action : actions) {
    into.push_back(action);
    if (const auto *body = bodyOf(*action))
      collect(*body, into);
  }
}

} // namespace

static uint64_t startOf(const Program &program, Space space) {
  if (space != Space::pinned && space != Space::host)
    return 0;
  const Device &device = deviceOf(program);
  return device.arena() + (space == Space::host ? device.pinned() : 0);
}

uint64_t addressOf(const Program &program, const Buffer &buffer) {
  return startOf(program, buffer.space()) + buffer.offset();
}

uint64_t addressOf(const Program &program, const Variable &variable) {
  return startOf(program, variable.space()) + variable.offset();
}

uint64_t addressOf(const Program &program, const Entry &entry, const Ref &ref) {
  if (ref.memory() == Memory::variable)
    return addressOf(program, *program.variables()->Get(ref.index())) + ref.offset();
  return addressOf(program, *entry.buffers()->Get(ref.index())) + ref.offset();
}

std::vector<Footprint> footprintsOf(const Program &program, const Action &action) {
  return kindOf(action).footprints(program, action);
}

Cost costOf(const Program &program, const Action &action) {
  return kindOf(action).cost(program, action);
}

std::string describe(const Program &program, const Action &action) {
  return kindOf(action).describe(program, action);
}

std::string placeOf(const Program &program, const Location *at) {
  if (!at || at->line() == 0)
    return "";
  return program.files()->Get(at->file())->str() + ":" + std::to_string(at->line());
}

std::string describeAt(const Program &program, const Action &action) {
  std::string text = describe(program, action);
  if (action.locations())
    for (const Location *at : *action.locations())
      if (std::string place = placeOf(program, at); !place.empty())
        return text + " (" + place + ")";
  return text;
}

const flatbuffers::Vector<flatbuffers::Offset<Action>> *bodyOf(const Action &action) {
  const Loop *loop = action.work_as_Loop();
  return loop ? loop->body() : nullptr;
}

std::vector<const Action *> actionsOf(const Entry &entry) {
  std::vector<const Action *> list;
  collect(*entry.actions(), list);
  return list;
}

} // namespace weir::artifact

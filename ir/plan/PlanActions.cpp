//===- PlanActions.cpp - What each action answers -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/transfer/Transfer.h"

using namespace mlir;

namespace weir::plan {

using Footprints = SmallVector<spec::Footprint>;
using Symbols = SymbolTableCollection;

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

Footprints LaunchOp::footprints(Symbols &symbols) { return footprintsOf(kernelOf(*this, symbols)); }

/// All parts together; the first stands for them.
spec::Cost LaunchOp::cost(Symbols &symbols) {
  if (getPart() != 0)
    return {};
  KernelOp kernel = kernelOf(*this, symbols);
  return {kernel.getFlops(), kernel.getBytes()};
}

std::string LaunchOp::describe(Symbols &symbols) {
  return ("launch of " + getKernel() + ", " +
          stringifyKernelShape(kernelOf(*this, symbols).getShape()))
      .str();
}

Engine LaunchOp::engine() { return Engine::compute; }

//===----------------------------------------------------------------------===//
// call
//===----------------------------------------------------------------------===//

Footprints CallOp::footprints(Symbols &) {
  std::vector<spec::Footprint> list = spec::footprints(getCall());
  return {std::make_move_iterator(list.begin()), std::make_move_iterator(list.end())};
}

spec::Cost CallOp::cost(Symbols &) { return spec::costOf(getCall()); }
std::string CallOp::describe(Symbols &) { return spec::describe(getCall()); }
Engine CallOp::engine() { return Engine::compute; }

//===----------------------------------------------------------------------===//
// copy
//===----------------------------------------------------------------------===//

Footprints CopyOp::footprints(Symbols &) {
  return {{"from", spec::Mode::read, getSize(), {}, false},
          {"to", spec::Mode::write, getSize(), {}, false}};
}

spec::Cost CopyOp::cost(Symbols &) { return {0, 2 * getSize()}; }
std::string CopyOp::describe(Symbols &) { return "copy"; }
Engine CopyOp::engine() { return Engine::copy; }

//===----------------------------------------------------------------------===//
// collective
//===----------------------------------------------------------------------===//

spec::Exchange exchangeOf(CollectiveOp op) {
  return {spec::CollectiveKind(op.getKind()),
          {op.getBytes().begin(), op.getBytes().end()},
          op.getOwn()};
}

Footprints CollectiveOp::footprints(Symbols &) {
  spec::Exchange exchange = exchangeOf(*this);
  return {{"from", spec::Mode::read, exchange.read(), {}, false},
          {"to", spec::Mode::write, exchange.written(), {}, false}};
}

spec::Cost CollectiveOp::cost(Symbols &symbols) {
  uint64_t bytes = 0;
  for (const spec::Footprint &touched : footprints(symbols))
    bytes += touched.bytes;
  return {0, bytes};
}

std::string CollectiveOp::describe(Symbols &) {
  return (stringifyCollectiveKind(getKind()) + " over " + getAxis()).str();
}

Engine CollectiveOp::engine() { return Engine::link; }

//===----------------------------------------------------------------------===//
// transfer
//===----------------------------------------------------------------------===//

Footprints SendOp::footprints(Symbols &) {
  return {{"from", spec::Mode::read, getSize(), {}, false}};
}
Footprints ReceiveOp::footprints(Symbols &) {
  return {{"to", spec::Mode::write, getSize(), {}, false}};
}

spec::Cost SendOp::cost(Symbols &) { return {0, getSize()}; }
spec::Cost ReceiveOp::cost(Symbols &) { return {0, getSize()}; }

template <class Op> static std::string wordsOf(Op op, const char *what) {
  return (what + op.getAxis() + " " + Twine(op.getPeer()) + ", microbatch " + Twine(op.getRound()))
      .str();
}
std::string SendOp::describe(Symbols &) { return wordsOf(*this, "send to "); }
std::string ReceiveOp::describe(Symbols &) { return wordsOf(*this, "receive from "); }

Engine SendOp::engine() { return Engine::link; }
Engine ReceiveOp::engine() { return Engine::link; }

//===----------------------------------------------------------------------===//
// loop, record, wait
//===----------------------------------------------------------------------===//

Footprints LoopOp::footprints(Symbols &) { return {{"round", spec::Mode::write, 4, {}, false}}; }
spec::Cost LoopOp::cost(Symbols &) { return {}; }
std::string LoopOp::describe(Symbols &) { return "loop"; }
Engine LoopOp::engine() { return Engine::control; }

Footprints RecordOp::footprints(Symbols &) { return {}; }
spec::Cost RecordOp::cost(Symbols &) { return {}; }
std::string RecordOp::describe(Symbols &) { return "record"; }
Engine RecordOp::engine() { return Engine::control; }

Footprints WaitOp::footprints(Symbols &) { return {}; }
spec::Cost WaitOp::cost(Symbols &) { return {}; }
std::string WaitOp::describe(Symbols &) { return "wait"; }
Engine WaitOp::engine() { return Engine::control; }

} // namespace weir::plan

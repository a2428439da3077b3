//===- RankInterpreter.cpp - Interprets the programs of all ranks together ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/RankInterpreter.h"
#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/transfer/Transfer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/collectives/LocalRanks.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

namespace weir {

Tensor shareOf(const Tensor &whole, const Layout &layout, const Mesh &mesh, int64_t rank) {
  Tensor share(layout.shape(mesh, rank));
  forEachRun(layout, mesh, rank, [&](int64_t from, int64_t to, int64_t count) {
    std::copy_n(whole.values.begin() + from, count, share.values.begin() + to);
  });
  return share;
}

void putShare(Tensor &whole, const Tensor &share, const Layout &layout, const Mesh &mesh,
              int64_t rank) {
  forEachRun(layout, mesh, rank, [&](int64_t to, int64_t from, int64_t count) {
    std::copy_n(share.values.begin() + from, count, whole.values.begin() + to);
  });
}

namespace {

/// What a collective says, in elements.
struct InElements {
  llvm::StringRef axis;
  spec::Exchange exchange;

  explicit InElements(mlir::Operation *op) {
    if (auto collective = llvm::dyn_cast<plan::CollectiveOp>(op)) {
      axis = collective.getAxis();
      exchange = plan::exchangeOf(collective);
      uint64_t size = sizeOf(*elementOf(collective.getElement()));
      for (uint64_t &bytes : exchange.sizes)
        bytes /= size;
      exchange.own /= size;
      return;
    }
    CollectiveFacts facts = factsOf(op);
    axis = facts.axis;
    exchange = {facts.kind, {facts.rows.begin(), facts.rows.end()}, uint64_t(facts.own)};
    llvm::ArrayRef<int64_t> result = shapeOf(op->getResult(0));
    auto row = uint64_t(mlir::ShapedType::getNumElements(result) / result[0]);
    for (uint64_t &rows : exchange.sizes)
      rows *= row;
    exchange.own *= row;
  }
};

unsigned axisOf(llvm::StringRef name, const Mesh &mesh) {
  int axis = mesh.find({name.data(), name.size()});
  if (axis < 0)
    throw Failure(Exit::internal, concat("it is over no axis of ", mesh.text()));
  return unsigned(axis);
}

std::string wordsOf(mlir::Operation *op, llvm::StringRef axis) {
  return concat(op->getName().getStringRef().str(), " over ", axis.str(), " (",
                describe(op->getLoc()), ")");
}

/// An end of a transfer: sends the input, or gets a tensor of that shape.
template <class Op>
Tensor transferred(Op op, const Tensor &input, std::optional<Shape> got, int64_t round,
                   const Mesh &mesh, Transport &transport) {
  unsigned axis = axisOf(op.getAxis(), mesh);
  if (int64_t(op.getPeer()) >= mesh.axes[axis].size)
    throw Failure(Exit::internal, concat("it is with no rank of ", mesh.text()));
  Transport::Tag tag{uint32_t(op.getNumber()), uint32_t(round)};
  std::string words = wordsOf(op, op.getAxis());
  unsigned peer = unsigned(op.getPeer());
  if (!got) {
    transport.send(axis, peer, tag, words, std::as_bytes(std::span(input.values)));
    return Tensor();
  }
  Tensor result(*got);
  transport.receive(axis, peer, tag, words, std::as_writable_bytes(std::span(result.values)));
  return result;
}

/// The sum of what all members along an axis give, in their order.
Tensor summed(const Tensor &input, llvm::StringRef axisName, mlir::Operation *op, const Mesh &mesh,
              Transport &transport) {
  const unsigned axis = axisOf(axisName, mesh);
  std::vector<Tensor> given(size_t(mesh.axes[axis].size), Tensor(input.shape));
  std::vector<std::span<const std::byte>> to(given.size(), std::as_bytes(std::span(input.values)));
  std::vector<std::span<std::byte>> from;
  for (Tensor &one : given)
    from.push_back(std::as_writable_bytes(std::span(one.values)));
  transport.exchange(axis, wordsOf(op, axisName), to, from);
  const std::optional<Element> element = elementOf(tensorType(op->getResult(0)).getElementType());
  const bool isFloat = llvm::isa<mlir::FloatType>(tensorType(op->getResult(0)).getElementType());
  Tensor sum(input.shape);
  for (size_t i = 0; i < sum.values.size(); ++i) {
    for (const Tensor &one : given)
      sum.values[i] += one.values[i];
    sum.values[i] = isFloat ? (isLow(*element) ? rounded(*element, sum.values[i]) : sum.values[i])
                            : double(int32_t(int64_t(sum.values[i])));
  }
  return sum;
}

/// This rank's rows of a sum.
Tensor rowsOf(const Tensor &sum, ReduceScatterOp op, const Mesh &mesh, int64_t rank) {
  llvm::ArrayRef<int64_t> rows = op.getRows();
  const auto member = size_t(mesh.coordinate(rank, axisOf(op.getAxis(), mesh)));
  Tensor own(shapeOf(op.getResult()));
  if (member >= rows.size() || rows[member] != own.shape[0])
    throw Failure(Exit::internal, concat("its rows are not those of rank ", rank));
  const int64_t width = int64_t(sum.values.size()) / sum.shape[0],
                begin = std::accumulate(rows.begin(), rows.begin() + member, int64_t(0));
  std::copy_n(sum.values.begin() + begin * width, own.values.size(), own.values.begin());
  return own;
}

/// Throws Failure where the members are at something else.
Tensor exchanged(mlir::Operation *op, const Tensor &input, int64_t microbatch, const Mesh &mesh,
                 int64_t rank, Transport &transport) {
  if (auto send = llvm::dyn_cast<SendOp>(op))
    return transferred(send, input, std::nullopt, microbatch, mesh, transport);
  if (auto receive = llvm::dyn_cast<ReceiveOp>(op))
    return transferred(receive, input, Shape(shapeOf(receive.getResult())), microbatch, mesh,
                       transport);
  if (auto send = llvm::dyn_cast<plan::SendOp>(op))
    return transferred(send, input, std::nullopt, send.getRound(), mesh, transport);
  if (auto receive = llvm::dyn_cast<plan::ReceiveOp>(op))
    return transferred(receive, input,
                       Shape{int64_t(receive.getSize() / sizeOf(*elementOf(receive.getElement())))},
                       receive.getRound(), mesh, transport);
  if (auto all = llvm::dyn_cast<AllReduceOp>(op)) {
    Tensor sum = input;
    for (llvm::StringRef axis : all.getAxes().getAsValueRange<mlir::StringAttr>())
      sum = summed(sum, axis, op, mesh, transport);
    return sum;
  }
  if (auto scatter = llvm::dyn_cast<ReduceScatterOp>(op))
    return rowsOf(summed(input, scatter.getAxis(), op, mesh, transport), scatter, mesh, rank);
  InElements what(op);
  const spec::Exchange &exchange = what.exchange;
  unsigned axis = axisOf(what.axis, mesh);
  auto member = size_t(mesh.coordinate(rank, axis));
  Tensor result(op->getNumResults() ? Shape(shapeOf(op->getResult(0)))
                                    : Shape{int64_t(exchange.written())});
  std::span<const double> given(input.values);
  std::span<double> got(result.values);
  std::vector<std::span<const std::byte>> to;
  std::vector<std::span<std::byte>> from;
  for (size_t i = 0; i < exchange.sizes.size(); ++i) {
    to.push_back(std::as_bytes(given.first(exchange.given(member, i))));
    given = given.subspan(exchange.givesEachItsOwn() ? exchange.given(member, i) : 0);
    from.push_back(std::as_writable_bytes(got.first(exchange.got(member, i))));
    got = got.subspan(exchange.got(member, i));
  }
  transport.exchange(axis, wordsOf(op, what.axis), to, from);
  return result;
}

/// What no f32 is, nor NaN: it is the same as nothing that it is compared with.
constexpr double apartFromAll = 1e300;

/// Makes what is not the same in both apartFromAll; whether there was something.
bool part(Tensor &some, const Tensor &others) {
  bool apart = false;
  for (auto [one, other] : llvm::zip_equal(some.values, others.values))
    if (one != other && !(std::isnan(one) && std::isnan(other))) {
      one = apartFromAll;
      apart = true;
    }
  return apart;
}

} // namespace

RankInterpreter::RankInterpreter(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs,
                                 llvm::ArrayRef<uint32_t> programOf)
    : mesh(mesh) {
  assert(int64_t(programOf.size()) == mesh.ranks());
  for (uint32_t number : programOf)
    modules.emplace_back(mlir::ModuleOp(programs[number]).clone());
}

RankInterpreter::RankInterpreter(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs)
    : RankInterpreter(mesh, programs, llvm::to_vector(llvm::seq<uint32_t>(0, programs.size()))) {}

Layout RankInterpreter::layoutOf(ShardingAttr sharding, mlir::Type type) const {
  if (std::optional<Layout> layout = layoutOn(sharding, mesh))
    return *layout;
  return Layout::whole(llvm::cast<mlir::RankedTensorType>(type).getShape());
}

/// Calls `visit(name, sharding, type)` for the variables of a program.
template <class Visit> static void forEachVariable(mlir::ModuleOp program, Visit visit) {
  for (auto variable : program.getOps<VariableOp>())
    visit(variable.getSymName().str(), variable->getAttrOfType<ShardingAttr>(shardingAttrName),
          variable.getType());
  for (auto variable : program.getOps<plan::VariableOp>())
    visit(variable.getSymName().str(), variable.getShardingAttr(), variable.getType());
}

RankInterpreter::Variables RankInterpreter::sharesOf(int64_t rank) const {
  Variables shares;
  forEachVariable(program(rank),
                  [&](const std::string &name, ShardingAttr sharding, mlir::Type type) {
                    if (auto piece = pieceOfBegin(name, mesh))
                      shares[name] = Tensor({}, double(piece->share(mesh, rank).begin));
                    else if (auto found = variables.find(name); found != variables.end())
                      shares[name] = shareOf(found->second, layoutOf(sharding, type), mesh, rank);
                  });
  return shares;
}

Tensors RankInterpreter::argumentsOf(int64_t rank, mlir::func::FuncOp entry,
                                     llvm::ArrayRef<Tensor> inputs) const {
  Tensors arguments;
  for (auto [i, input] : llvm::enumerate(inputs))
    arguments.push_back(shareOf(input,
                                layoutOf(entry.getArgAttrOfType<ShardingAttr>(i, shardingAttrName),
                                         entry.getArgument(i).getType()),
                                mesh, rank));
  return arguments;
}

Tensors RankInterpreter::given(int64_t rank, llvm::StringRef name,
                               llvm::ArrayRef<Tensor> inputs) const {
  Tensors all = argumentsOf(rank, program(rank).lookupSymbol<mlir::func::FuncOp>(name), inputs);
  for (const auto &[variable, share] : sharesOf(rank))
    all.push_back(share);
  return all;
}

mlir::FailureOr<Tensors> RankInterpreter::runWeir(Interpreter &interpreter, int64_t rank,
                                                  llvm::StringRef name,
                                                  llvm::ArrayRef<Tensor> inputs, Variables &own) {
  auto entry = program(rank).lookupSymbol<mlir::func::FuncOp>(name);
  interpreter.variables = std::move(own);
  auto results = interpreter.run(entry, argumentsOf(rank, entry, inputs));
  own = std::move(interpreter.variables);
  return results;
}

mlir::FailureOr<Tensors> RankInterpreter::runPlan(Interpreter &interpreter, int64_t rank,
                                                  llvm::StringRef name,
                                                  llvm::ArrayRef<Tensor> inputs, Variables &own,
                                                  bool offsets) {
  auto entry = program(rank).lookupSymbol<plan::EntryOp>(name);
  Tensors arguments;
  for (auto port : entry.getBody().getOps<plan::PortOp>())
    if (port.getKind() == plan::PortKind::input)
      arguments.push_back(shareOf(inputs[arguments.size()],
                                  layoutOf(port.getShardingAttr(), port.getType()), mesh, rank));
  CellMemory memory(program(rank), offsets);
  PlanInterpreter machine(program(rank), memory, interpreter);
  if (prepare)
    prepare(rank, machine);
  return runEntry(machine, memory, entry, arguments, own);
}

mlir::FailureOr<Tensors> RankInterpreter::run(llvm::StringRef name, llvm::ArrayRef<Tensor> inputs,
                                              bool offsets) {
  problem.reset();
  collectives::LocalRanks meetings(mesh);
  std::mutex mutex;
  std::vector<Variables> shares;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    shares.push_back(sharesOf(rank));
  std::vector<mlir::FailureOr<Tensors>> results(modules.size(), mlir::failure());
  std::vector<char> failsByOthers(modules.size(), false);
  auto runRank = [&](int64_t rank) {
    Interpreter interpreter;
    if (observe)
      interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<Tensor> values) {
        observe(rank, op, values);
      };
    interpreter.exchange = [&](mlir::Operation *op, Tensor input) -> mlir::FailureOr<Tensor> {
      try {
        return exchanged(op, input, interpreter.microbatch, mesh, rank, meetings.of(rank));
      } catch (const Failure &failure) {
        std::lock_guard lock(mutex);
        failsByOthers[size_t(rank)] = true;
        if (!problem)
          problem = Problem{op->getName().getStringRef().str(), op->getLoc(), failure.what()};
        return mlir::failure();
      }
    };
    bool isPlan = program(rank).lookupSymbol<plan::EntryOp>(name) != nullptr;
    results[size_t(rank)] =
        isPlan ? runPlan(interpreter, rank, name, inputs, shares[size_t(rank)], offsets)
               : runWeir(interpreter, rank, name, inputs, shares[size_t(rank)]);
    // One that fails, or is done, keeps none waiting.
    if (mlir::failed(results[size_t(rank)]))
      meetings.end();
    else
      meetings.finish(rank);
  };
  // Threads of ranks make types, which a context of one thread does not guard.
  mlir::MLIRContext *context = modules[0]->getContext();
  bool wasGuarded = context->isMultithreadingEnabled();
  context->enableMultithreading(true);
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      threads.emplace_back(runRank, rank);
  }
  context->enableMultithreading(wasGuarded);
  for (auto [result, byOthers] : llvm::zip_equal(results, failsByOthers))
    if (mlir::failed(result) && !byOthers)
      problem.reset(); // the others waited for one that failed by itself
  for (auto &result : results)
    if (mlir::failed(result))
      return mlir::failure();
  Tensors first = *results[0];
  for (size_t rank = 1; rank < results.size(); ++rank)
    for (auto [i, own] : llvm::enumerate(*results[rank]))
      if (part(first[i], own) && apart.empty())
        apart = concat("result ", i, " of @", name.str(), " is not the same on ranks 0 and ", rank);
  collect(shares);
  return first;
}

void RankInterpreter::collect(llvm::ArrayRef<Variables> shares) {
  forEachVariable(program(0), [&](const std::string &name, ShardingAttr sharding, mlir::Type type) {
    if (!shares[0].contains(name) || pieceOfBegin(name, mesh))
      return;
    Layout layout = layoutOf(sharding, type);
    Tensor whole(layout.shape());
    for (size_t rank = 0; rank < shares.size(); ++rank)
      putShare(whole, shares[rank].at(name), layout, mesh, int64_t(rank));
    for (size_t rank = 0; rank < shares.size(); ++rank) {
      Tensor own = shareOf(whole, layout, mesh, int64_t(rank));
      if (!part(own, shares[rank].at(name)))
        continue;
      putShare(whole, own, layout, mesh, int64_t(rank));
      if (apart.empty())
        apart = concat("'", name, "' is not the same on rank ", rank, " as on others");
    }
    variables[name] = std::move(whole);
  });
}

} // namespace weir

//===- Ranks.cpp - What all ranks of a mesh compute together --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Ranks.h"
#include "ir/weir/Names.h"
#include "mlir/IR/OwningOpRef.h"
#include <algorithm>
#include <condition_variable>
#include <mutex>
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

/// Where the members along an axis meet.
class Meeting {
public:
  explicit Meeting(size_t members) : inputs(members), ops(members) {}

  struct Told {
    llvm::SmallVector<mlir::Operation *> ops;
    Tensors inputs;
  };

  /// What all members have come with, when all have; nothing where one never comes.
  std::optional<Told> come(size_t member, mlir::Operation *op, Tensor input, const bool &ended,
                           std::mutex &mutex, std::condition_variable &changed) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended || !leaving; });
    inputs[member] = std::move(input);
    ops[member] = op;
    if (++here == inputs.size())
      leaving = true;
    changed.notify_all();
    changed.wait(lock, [&] { return ended || leaving; });
    if (!leaving)
      return std::nullopt;
    Told told{ops, inputs};
    if (--here == 0)
      leaving = false;
    changed.notify_all();
    return told;
  }

private:
  Tensors inputs;
  llvm::SmallVector<mlir::Operation *> ops;
  size_t here = 0;
  bool leaving = false;
};

/// The ranks of one run.
class Meetings {
public:
  explicit Meetings(const Mesh &mesh) : mesh(mesh) {}

  mlir::FailureOr<Tensor> exchange(int64_t rank, mlir::Operation *op, Tensor input) {
    int axis = mesh.find(op->getAttrOfType<mlir::StringAttr>("axis").getValue().str());
    if (axis < 0)
      return op->emitOpError("is over no axis of ") << mesh.text();
    std::vector<int64_t> members = mesh.along(rank, axis);
    size_t own = std::ranges::find(members, rank) - members.begin();
    auto told = at({axis, members[0]}, members.size())
                    .come(own, op, std::move(input), ended, mutex, changed);
    if (!told)
      return mlir::failure();
    for (mlir::Operation *other : told->ops)
      if (other->getName() != op->getName())
        return op->emitOpError("meets ") << other->getName() << " of another member";
    auto rows = op->getAttrOfType<mlir::DenseI64ArrayAttr>("rows").asArrayRef();
    Shape shape(shapeOf(op->getResult(0)));
    int64_t elements = mlir::ShapedType::getNumElements(shape) / shape[0];
    Tensor result(shape);
    auto next = result.values.begin();
    for (auto [i, theirs] : llvm::enumerate(told->inputs)) {
      bool gathers = llvm::isa<AllGatherOp>(op);
      auto theirRows = told->ops[i]->getAttrOfType<mlir::DenseI64ArrayAttr>("rows").asArrayRef();
      int64_t first = 0, count = gathers ? rows[i] : rows[own];
      for (size_t before = 0; !gathers && before < own; ++before)
        first += theirRows[before];
      bool agrees = theirRows.size() == rows.size() &&
                    (gathers ? theirs.shape[0] == count : theirRows[own] == count) &&
                    int64_t(theirs.values.size()) == theirs.shape[0] * elements;
      if (!agrees)
        return op->emitOpError("meets one of other sizes of member ") << i;
      next = std::copy_n(theirs.values.begin() + first * elements, count * elements, next);
    }
    return result;
  }

  /// A rank that fails keeps none waiting.
  void end() {
    std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }

private:
  Meeting &at(std::pair<int, int64_t> key, size_t members) {
    std::lock_guard lock(mutex);
    return meetings.try_emplace(key, members).first->second;
  }

  const Mesh &mesh;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int64_t>, Meeting> meetings;
  bool ended = false;
};

} // namespace

Ranks::Ranks(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs)
    : mesh(mesh), programs(programs) {
  assert(int64_t(programs.size()) == mesh.ranks());
}

Layout Ranks::layoutOf(mlir::Operation *op, mlir::Attribute text,
                       mlir::RankedTensorType type) const {
  if (auto string = llvm::dyn_cast_or_null<mlir::StringAttr>(text))
    if (auto layout = Layout::parse(string.getValue().str(), mesh))
      return *layout;
  return Layout::whole(type.getShape());
}

mlir::FailureOr<Tensors> Ranks::run(llvm::StringRef name, llvm::ArrayRef<Tensor> inputs) {
  Meetings meetings(mesh);
  // Threads do not share an op: an interpreter asks for the order in a block, which is numbered
  // then.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<Interpreter> interpreters(programs.size());
  std::vector<Tensors> arguments(programs.size());
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    mlir::ModuleOp program = programs[rank];
    modules.emplace_back(program.clone());
    for (auto variable : program.getOps<VariableOp>()) {
      auto type = llvm::cast<mlir::RankedTensorType>(variable.getType());
      llvm::StringRef symbol = variable.getSymName();
      Layout layout = layoutOf(variable, variable->getAttr(layoutAttrName), type);
      if (auto piece = pieceOfBegin(symbol, mesh)) {
        interpreters[rank].variables[symbol.str()] =
            Tensor({}, double(piece->share(mesh, int64_t(rank)).begin));
      } else if (auto found = variables.find(symbol.str()); found != variables.end()) {
        interpreters[rank].variables[symbol.str()] =
            shareOf(found->second, layout, mesh, int64_t(rank));
      }
    }
    auto entry = modules[rank]->lookupSymbol<mlir::func::FuncOp>(name);
    for (auto [i, input] : llvm::enumerate(inputs))
      arguments[rank].push_back(shareOf(
          input,
          layoutOf(entry, entry.getArgAttr(i, layoutAttrName), tensorType(entry.getArgument(i))),
          mesh, int64_t(rank)));
  }
  std::vector<mlir::FailureOr<Tensors>> results(programs.size(), mlir::failure());
  {
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < programs.size(); ++rank) {
      interpreters[rank].exchange = [&meetings, rank](mlir::Operation *op, Tensor input) {
        return meetings.exchange(int64_t(rank), op, std::move(input));
      };
      threads.emplace_back([&, rank] {
        results[rank] = interpreters[rank].run(
            modules[rank]->lookupSymbol<mlir::func::FuncOp>(name), arguments[rank]);
        if (mlir::failed(results[rank]))
          meetings.end();
      });
    }
  }
  std::vector<std::map<std::string, Tensor>> shares;
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    if (mlir::failed(results[rank]))
      return mlir::failure();
    for (auto [own, first] : llvm::zip_equal(*results[rank], *results[0]))
      if (own.values != first.values) {
        mlir::ModuleOp(programs[rank]).emitError()
            << "@" << name << " of rank " << rank << " has other results than rank 0's";
        return mlir::failure();
      }
    shares.push_back(std::move(interpreters[rank].variables));
  }
  if (mlir::failed(collect(shares)))
    return mlir::failure();
  return results[0];
}

mlir::LogicalResult Ranks::collect(llvm::ArrayRef<std::map<std::string, Tensor>> shares) {
  for (auto variable : mlir::ModuleOp(programs[0]).getOps<VariableOp>()) {
    std::string name = variable.getSymName().str();
    if (!shares[0].contains(name) || pieceOfBegin(name, mesh))
      continue;
    Layout layout = layoutOf(variable, variable->getAttr(layoutAttrName),
                             llvm::cast<mlir::RankedTensorType>(variable.getType()));
    std::vector<int64_t> shape = layout.shape();
    Tensor whole(shape);
    for (size_t rank = 0; rank < shares.size(); ++rank)
      putShare(whole, shares[rank].at(name), layout, mesh, int64_t(rank));
    for (size_t rank = 0; rank < shares.size(); ++rank)
      if (shareOf(whole, layout, mesh, int64_t(rank)).values != shares[rank].at(name).values)
        return variable.emitError() << "`" << name << "` is not the same on the ranks that have it";
    variables[name] = std::move(whole);
  }
  return mlir::success();
}

} // namespace weir

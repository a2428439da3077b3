//===- CutRows.cpp - An entry for fewer rows ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/interfaces/BatchRows.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weir {

namespace {
/// The rows are the only factor that is cut, and no op depends on a row's place.
class RowsAlone : public Shares {
public:
  Value begin(unsigned) override { return nullptr; }
  Value places(ArrayRef<int64_t>) override {
    llvm_unreachable("rows that differ with their places are not independent");
  }
};

/// Copies an entry's ops one by one. Shared values are copied as they are, and once more for each
/// place where rows meet them.
class Cutter {
public:
  Cutter(BatchRows &whole, int64_t rows) : whole(whole), rows(rows), builder(whole.entry()) {}

  func::FuncOp run(StringRef name) {
    func::FuncOp from = whole.entry();
    builder.setInsertionPointAfter(from);
    SmallVector<Type> inputs, outputs;
    for (Value argument : from.getArguments())
      inputs.push_back(typeOf(argument));
    auto to =
        func::FuncOp::create(builder, from.getLoc(), name, builder.getFunctionType(inputs, {}));
    to.setAllArgAttrs(argAttrs(from));
    Block *block = to.addEntryBlock();
    for (auto [old, made] : llvm::zip_equal(from.getArguments(), block->getArguments())) {
      made.setLoc(old.getLoc());
      copies.map(old, made);
    }
    builder.setInsertionPointToStart(block);
    Operation *end = from.getBody().front().getTerminator();
    for (Operation &op : from.getBody().front().without_terminator())
      if (whole.isLive(&op))
        copy(&op);
    SmallVector<Value> results;
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      results.push_back(result(value, from.getResultAttrOfType<StringAttr>(i, partAttrName)));
      outputs.push_back(results.back().getType());
    }
    func::ReturnOp::create(builder, end->getLoc(), results);
    to.setFunctionType(builder.getFunctionType(inputs, outputs));
    for (unsigned i = 0; i < from.getNumResults(); ++i)
      if (auto attributes = from.getResultAttrDict(i))
        to.setResultAttrs(i, attributes);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    return to;
  }

private:
  static SmallVector<DictionaryAttr> argAttrs(func::FuncOp function) {
    SmallVector<DictionaryAttr> all;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      all.push_back(function.getArgAttrDict(i) ? function.getArgAttrDict(i)
                                               : DictionaryAttr::get(function.getContext()));
    return all;
  }

  RankedTensorType cut(RankedTensorType type, RowPlace place) const {
    SmallVector<int64_t> shape(type.getShape());
    shape[place.dimension] = shape[place.dimension] / whole.rows() * rows;
    return type.clone(shape);
  }
  RankedTensorType typeOf(Value value) const {
    RankedTensorType type = tensorType(value);
    return whole.kindOf(value) == BatchRows::Kind::rows ? cut(type, whole.placeOf(value)) : type;
  }

  /// A copy with other operands, and results of other types: as a device that has so many rows
  /// would compute it.
  Operation *clone(Operation *op, ArrayRef<Value> operands, function_ref<Type(Value)> type) {
    SmallVector<Type> types = llvm::map_to_vector(op->getResults(), type);
    RowsAlone shares;
    // Places are those along other dimensions.
    auto localized = isa<IotaOp>(op) ? Localizable() : dyn_cast<Localizable>(op);
    return localized ? localized.localize(builder, operands, types, shares)
                     : cloneWith(builder, op, operands, types);
  }

  void copy(Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(copies.lookup(operand));
    auto has = [&](BatchRows::Kind kind) {
      return llvm::any_of(op->getOperands(),
                          [&](Value value) { return whole.kindOf(value) == kind; });
    };
    if (has(BatchRows::Kind::rows))
      cutShared(op, operands);
    else if (auto shardable = dyn_cast<Shardable>(op);
             shardable && shardable.linearity() == Linearity::together && has(BatchRows::Kind::sum))
      for (auto [made, operand] : llvm::zip_equal(operands, op->getOperands()))
        if (whole.kindOf(operand) == BatchRows::Kind::shared)
          made = part(operand);
    Operation *made = clone(op, operands, [&](Value value) { return typeOf(value); });
    copies.map(op->getResults(), made->getResults());
  }

  /// Of an op on rows, the shared operands that have the rows' factor get as many rows.
  void cutShared(Operation *op, MutableArrayRef<Value> operands) {
    ShardRule rule = cast<Shardable>(op).shardRule();
    std::optional<BatchRows::InFactor> at;
    for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
      if (whole.kindOf(operand) == BatchRows::Kind::rows) {
        RowPlace place = whole.placeOf(operand);
        at = whole.find(rule, dimensions[place.dimension], place.inner);
      }
    for (auto [made, operand, dimensions] :
         llvm::zip_equal(operands, op->getOperands(), rule.operands))
      if (whole.kindOf(operand) == BatchRows::Kind::shared)
        if (auto place = BatchRows::locate(rule, dimensions, *at))
          made = uniform(operand, *place);
  }

  /// A shared value that is the same for all rows, with fewer of them.
  Value uniform(Value value, RowPlace place) {
    std::tuple key(value.getAsOpaquePointer(), place.dimension, place.inner);
    if (auto made = uniforms.find(key); made != uniforms.end())
      return made->second;
    Operation *op = value.getDefiningOp();
    ShardRule rule = cast<Shardable>(op).shardRule();
    unsigned number = cast<OpResult>(value).getResultNumber();
    auto at = whole.find(rule, rule.results[number][place.dimension], place.inner);
    SmallVector<Value> operands;
    for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands)) {
      auto there = BatchRows::locate(rule, dimensions, *at);
      operands.push_back(there ? uniform(operand, *there) : copies.lookup(operand));
    }
    Operation *made = clone(op, operands, [&](Value result) -> Type {
      auto there =
          BatchRows::locate(rule, rule.results[cast<OpResult>(result).getResultNumber()], *at);
      return there ? cut(tensorType(result), *there) : tensorType(result);
    });
    return uniforms[key] = made->getResult(number);
  }

  /// The part of a shared value that counts for so many rows.
  Value part(Value value) {
    double parts = double(whole.rows()) / double(rows);
    RankedTensorType type = tensorType(value);
    if (auto constant = value.getDefiningOp<ConstantOp>()) {
      double whole = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
      return ConstantOp::create(builder, value.getLoc(), type, whole / parts);
    }
    Value divisor = ConstantOp::create(builder, value.getLoc(), type, parts);
    return DivOp::create(builder, value.getLoc(), copies.lookup(value), divisor);
  }

  Value result(Value value, StringAttr kind) {
    if (whole.kindOf(value) != BatchRows::Kind::shared)
      return copies.lookup(value);
    bool figure = kind && (kind.getValue() == "sum" || kind.getValue() == "count");
    return figure ? part(value) : uniform(value, {0, shapeOf(value)[0] / whole.rows()});
  }

  BatchRows &whole;
  const int64_t rows;
  OpBuilder builder;
  IRMapping copies;
  std::map<std::tuple<const void *, int64_t, int64_t>, Value> uniforms;
};
} // namespace

func::FuncOp cutRows(BatchRows &whole, int64_t rows, StringRef name) {
  assert(whole.independent() && rows > 0 && whole.rows() % rows == 0);
  return Cutter(whole, rows).run(name);
}

} // namespace weir

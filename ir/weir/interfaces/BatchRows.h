//===- BatchRows.h - Are the rows of a batch independent? -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the batch through an entry, from its arguments to its results, by the factors of the ops
// (Shardable). The rows are independent where no row is ever seen by another: the batch stays one
// factor of every value that it reaches, and leaves it only in sums that nothing but sums and
// constant multiples are made of. Then the entry over a batch is the sum, or the concatenation, of
// the entry over parts of it, and cutRows() writes the entry for another number of rows.
//
// What has a value of its own for each place in the batch ties the rows too: a parameter of the
// batch's size, the rows' positions, or numbers drawn for each row: they depend on the place alone,
// so that every row of a batch taken row by row would have those of the first.
//
// Where the rows are tied, their places are still followed by the factors: row by row the entry has
// no meaning, but a result of it may have a row for each of the batch.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_BATCHROWS_H
#define WEIR_IR_WEIR_INTERFACES_BATCHROWS_H

#include "ir/weir/WeirDialect.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace weir {

/// Where a value has the rows: in `dimension`, each row as `inner` elements side by side. The
/// dimension's size is a multiple of rows * inner; the batch's own dimension has inner 1.
struct RowPlace {
  int64_t dimension = 0;
  int64_t inner = 1;
  bool operator==(const RowPlace &other) const = default;
};

/// What first ties the rows.
struct TiedRows {
  mlir::Operation *op;     ///< of the entry; its return where it is a result that ties them
  mlir::Location location; ///< in the model; describe() (Locations.h) is its line
  std::string why;         ///< "a maximum over the rows is taken": a clause in the user's words
};

class BatchRows {
public:
  /// How a value depends on the rows.
  enum class Kind {
    shared, ///< not at all
    rows,   ///< a part for each row, which depends on that row alone
    sum,    ///< a sum over the rows, of terms of which each depends on one row alone
  };

  /// `entry` has one block of ops over static tensors; `rows` is positive. `arguments` has, for
  /// each argument, where it has the rows; nothing: it does not depend on them. Results whose
  /// weir.part is "sum" or "count" have to be sums or shared, others have to have the rows first.
  /// With one row there is nothing to be tied to. Where `ends` are given, what they are computed
  /// from is followed instead of what the results are, and the entry needs no return yet.
  BatchRows(mlir::func::FuncOp entry, int64_t rows,
            llvm::ArrayRef<std::optional<RowPlace>> arguments, mlir::ValueRange ends = {});

  /// The same where the rows are the first dimension of every argument.
  static BatchRows ofInputs(mlir::func::FuncOp entry);

  bool independent() const { return !why; }
  /// Where they are not.
  const TiedRows &tied() const { return *why; }
  /// Where a result that has to have the rows first has them elsewhere, or not at all, the rows
  /// being tied or not; not known with one row.
  const std::optional<TiedRows> &misplaced() const { return elsewhere; }

  int64_t rows() const { return count; }
  mlir::func::FuncOp entry() const { return function; }

  /// Whether a result depends on the op: what none does ties nothing.
  bool isLive(mlir::Operation *op) const { return live.contains(op); }
  /// Known of every value of a live op before the one that ties the rows.
  Kind kindOf(mlir::Value value) const;
  /// Of a value of Kind::rows.
  RowPlace placeOf(mlir::Value value) const { return places.at(value); }
  /// Where a value has the rows: by itself, or first and all with one value or with random numbers.
  /// One row is where a first dimension of size 1 is.
  std::optional<RowPlace> findRows(mlir::Value value);
  /// What a shared value may have at the rows' place.
  enum class Same {
    value,       ///< for each row the same
    distribution ///< or random numbers
  };
  bool isUniform(mlir::Value value, RowPlace place, Same same = Same::value);

  /// The factor that has the rows, and how many elements of it a row is, within a dimension made of
  /// `factors`; nothing where the rows are spread over several.
  struct InFactor {
    unsigned factor;
    int64_t inner;
    bool operator==(const InFactor &other) const = default;
  };
  std::optional<InFactor> find(const ShardRule &rule, const ShardRule::Dimension &factors,
                               int64_t inner) const;
  /// Where an operand or result has a factor's rows; nothing where it has not the factor.
  static std::optional<RowPlace>
  locate(const ShardRule &rule, llvm::ArrayRef<ShardRule::Dimension> dimensions, InFactor rows);

private:
  using Clause = std::optional<std::string>;
  void follow(mlir::ValueRange ends);
  Clause visit(mlir::Operation *op);
  Clause visitRows(mlir::Operation *op, const ShardRule &rule);
  Clause visitSums(mlir::Operation *op);
  Clause visitReturn(mlir::Operation *op);
  void trace(mlir::Operation *op);
  bool beginsWithRows(mlir::Value value);
  bool isFigure(unsigned result);

  mlir::func::FuncOp function;
  int64_t count;
  llvm::DenseSet<mlir::Operation *> live;
  llvm::DenseMap<mlir::Value, RowPlace> places;
  llvm::DenseSet<mlir::Value> sums;
  std::map<std::tuple<const void *, int64_t, int64_t, Same>, bool> uniform;
  std::optional<TiedRows> why, elsewhere;
};

/// The entry for `rows` rows instead of all, called `name`, after the entry it is made of: results
/// that have the rows have as many, sums are over them, and what is shared by the rows of a sum
/// counts for the part of it that they are. So sums over parts of a batch add up to the batch's.
/// `whole` is independent, and `rows` divides its rows.
mlir::func::FuncOp cutRows(BatchRows &whole, int64_t rows, llvm::StringRef name);

} // namespace weir

#endif

//===- DumpIr.h - The IR after every pass, in files -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --dump-ir DIR: DIR/00-elaborate.mlir, DIR/01-weir-simplify.step.mlir, ... in the order of the
// compile; a pass on a function writes that function. Each file is whole: weir-opt reads it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_DUMPIR_H
#define WEIR_TOOLS_WEIR_COMMANDS_DUMPIR_H

#include "mlir/IR/Operation.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace weir {

/// The op's text with its locations.
std::string printed(mlir::Operation *op);

class DumpIr {
public:
  /// Writes nothing if `folder` is empty.
  explicit DumpIr(std::string folder) : folder(std::move(folder)) {}

  bool enabled() const { return !folder.empty(); }

  /// Makes the folder. Throws Failure(Exit::storage).
  void prepare();

  /// Passes of MLIR's stand between a file that cannot be written and the command, and nothing can
  /// be thrown through them: the first such failure is kept, and no file is written after it.
  void write(const std::string &name, mlir::Operation *op);
  /// The same of any text: `file` is a name with its extension.
  void writeText(const std::string &file, const std::string &text);

  /// Writes after each pass of `manager`, whose context must run on one thread. This object
  /// outlives it.
  void watch(mlir::PassManager &manager);

  /// Throws Failure(Exit::storage) where a file could not be written.
  void requireWritten() const;

private:
  std::string folder;
  std::string failure; // of the first file that could not be written; "": none
  unsigned next = 0;
};

} // namespace weir

#endif

//===- Tensors.h - A program's variables as stored tensors ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the variables of a loaded program, by their role, become the files of a checkpoint and come
// back.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_TENSORS_H
#define WEIR_RUNTIME_CHECKPOINT_TENSORS_H

#include "runtime/checkpoint/SafeTensors.h"
#include "runtime/core/Program.h"

namespace weir {

StoredTensor stored(const TensorView &variable);

/// Parameters (model.safetensors), or everything else (state.safetensors).
std::vector<StoredTensor> storedParameters(const std::vector<TensorView> &variables);
std::vector<StoredTensor> storedState(const std::vector<TensorView> &variables);

/// The parts of such a state that a program has where its loss scale is dynamic, and no other.
std::vector<StoredTensor> storedLossScale();

/// To so many tensors that no model has it is added which of its own may be meant: each takes as
/// long as there are names, and few are read.
constexpr int mostHints = 20;

/// Whether copy() makes one of the other: a variable is F32 or BF16, and files have F64, F32, F16
/// and BF16.
bool converts(const StoredTensor &from, const StoredTensor &to);

/// Whether that loses digits: what is stored has more of them.
bool isRounded(const StoredTensor &from, const StoredTensor &to);

/// Copies a stored tensor into a variable of its shape and type, or of one that it converts() to:
/// widened or rounded to nearest, and what is finite stays so.
void copy(const StoredTensor &tensor, const TensorView &variable);

/// Whether copy() may convert.
enum class Masters { same, either };

/// "other type", "other shape" or both of a variable and what is stored for it; "" where there is
/// nothing of it.
std::string mismatch(const StoredTensor &variable, const StoredTensor &found,
                     Masters masters = Masters::either);

/// What stands between `wanted` and `found` being the same tensors, as mismatch() says it, one line
/// each; empty where nothing does. `optional` may be absent.
std::vector<std::string> differences(const std::vector<StoredTensor> &wanted,
                                     const std::map<std::string, StoredTensor> &found,
                                     const std::vector<StoredTensor> &optional = {},
                                     Masters masters = Masters::either);

/// Copies each tensor of the file into the variable of its name. differences() was empty. Throws
/// Failure where the file was changed since it was opened.
void restore(const std::vector<TensorView> &variables, const SafeTensors &file);

} // namespace weir

#endif

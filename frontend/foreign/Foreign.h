//===- Foreign.h - What people bring from elsewhere -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and words of Python, PyTorch, NumPy and JAX that Weir has otherwise. A report about an
// unknown name asks here what to write instead.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_FOREIGN_FOREIGN_H
#define WEIR_FRONTEND_FOREIGN_FOREIGN_H

#include <string>
#include <string_view>
#include <vector>

namespace weir {

enum class Foreign {
  call,      ///< `reshape(…)`, `x.reshape(…)`, `torch.reshape(…)`
  argument,  ///< `dim = …`; `softmax.dim` is that of one function
  value,     ///< `True`, `x.shape`
  statement, ///< `def`, `import`: the first word of a statement or item
};

struct ForeignName {
  Foreign use;
  const char *name;
  const char *code; ///< what to write, valid as it stands among the test's names; "" where nothing
  const char *note; ///< more about it; may be ""

  /// "write `CODE`: NOTE"
  std::string help() const;
};

const std::vector<ForeignName> &foreignNames();

/// The row of a name, or of what follows its last `.`; null where there is none.
const ForeignName *foreignName(Foreign use, std::string_view name);

/// The row of a named argument of a call: the function's own, or that of any.
const ForeignName *foreignArgument(std::string_view callee, std::string_view name);

} // namespace weir

#endif

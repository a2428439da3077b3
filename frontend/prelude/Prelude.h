//===- Prelude.h - The library that every model may use -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers, activations, losses, schedules and optimizers in the language itself, built into the
// compiler as text.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_PRELUDE_PRELUDE_H
#define WEIR_FRONTEND_PRELUDE_PRELUDE_H

#include <vector>

namespace weir {

struct PreludeFile {
  const char *name; ///< as locations print it: "prelude/layers.weir"
  const char *text;
};

const std::vector<PreludeFile> &preludeFiles();

} // namespace weir

#endif

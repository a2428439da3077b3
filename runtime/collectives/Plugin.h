//===- Plugin.h - Opening the plug-in that connects processes -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_PLUGIN_H
#define WEIR_RUNTIME_COLLECTIVES_PLUGIN_H

#include "runtime/collectives/Links.h"

namespace weir::collectives {

/// Opens libweir-gloo.so beside the program, once. Throws Failure(Exit::device) where it or a
/// library that it is linked with is missing, or where it is of another build.
const LinksPlugin &linksPlugin();

} // namespace weir::collectives

#endif

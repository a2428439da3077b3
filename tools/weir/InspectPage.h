//===- InspectPage.h - weir inspect --html --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECTPAGE_H
#define WEIR_TOOLS_WEIR_INSPECTPAGE_H

#include <string>

namespace weir {

/// Writes a page about the artifact at `path` to `output`, "-" being standard output. Throws
/// Failure, Exit::usage where it would be written over the artifact or a file of the model.
void inspectPage(const std::string &path, const std::string &output);

} // namespace weir

#endif

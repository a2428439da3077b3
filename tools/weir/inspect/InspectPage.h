//===- InspectPage.h - weir inspect --html --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTPAGE_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTPAGE_H

#include <string>
#include <vector>

namespace weir {

/// Writes a page about the artifact at `path` to `output`, "-" being standard output, with the text
/// of the model where it lies beside the artifact or is one of `models`. Throws Failure,
/// Exit::usage where it would be written over the artifact or a file of the model.
void inspectPage(const std::string &path, const std::string &output,
                 const std::vector<std::string> &models);

} // namespace weir

#endif

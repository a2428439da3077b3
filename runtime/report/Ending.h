//===- Ending.h - Files called what they are not --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each output has one format, whatever the file is called: `-o out.csv` of predictions is an .npy
// file, which is said.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_ENDING_H
#define WEIR_RUNTIME_REPORT_ENDING_H

#include <functional>
#include <string>
#include <string_view>

namespace weir {

/// The warning about an output whose ending is that of another format than `ending`, ".npy"; ""
/// where it is that one, or says nothing.
std::string wrongEnding(const std::string &option, const std::string &path,
                        std::string_view ending);

/// What an option that names an output does with its value (CLI::Option::each): warns on standard
/// error of a wrong ending.
std::function<void(const std::string &)> warnsOfEnding(const std::string &option,
                                                       const std::string &ending);

} // namespace weir

#endif

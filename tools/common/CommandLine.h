//===- CommandLine.h - What the command-line tools share ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing with the nearest name for a misspelt one, or what to write for a name of another tool
// (ForeignOptions.h), and the one place where failures become messages and exit statuses.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_COMMON_COMMANDLINE_H
#define WEIR_TOOLS_COMMON_COMMANDLINE_H

#include "support/Error.h"
#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <vector>

namespace weir {

/// Gives a program -V and --version: its name, Weir's version, and the CPU level.
void addVersionOption(CLI::App &app, const std::string &program);

/// The words of a command line with `help` and `help COMMAND` written as the option: `--help`,
/// `COMMAND --help`. The first word is the program's.
std::vector<const char *> expandHelp(int argc, const char *const *argv);

/// Parses into `app`. Nothing to return: go on. Otherwise the program ends with this status: ok
/// after --help or --version (on standard output), usage after a message on standard error that
/// names the nearest command or option, or what another tool's is called here.
std::optional<Exit> parseCommandLine(CLI::App &app, int argc, const char *const *argv);

/// Runs `body` and returns the process's exit status. Failures are printed as "error: ..." on
/// standard error; results that standard output did not take are one. A limit on the size of files
/// (ulimit -f) is from then on an error of the write, as a full disk is, and not a SIGXFSZ. Where
/// the environment variable WEIR_MAX_CPU is wrong, `body` does not run (support/system/CpuLevel.h).
int guarded(const std::function<Exit()> &body);

/// Whether to colour standard error: a terminal that is not dumb, and NO_COLOR unset.
bool colouredErrors();

} // namespace weir

#endif

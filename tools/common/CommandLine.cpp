//===- CommandLine.cpp - What the command-line tools share ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include "support/system/CpuLevel.h"
#include "tools/common/ForeignOptions.h"
#include "tools/common/RenamedOptions.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace weir {
namespace {

std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::vector<std::string> commandNames(CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  return names;
}

/// The command that was given, or the app itself.
CLI::App &chosen(CLI::App &app) {
  auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

/// Where an option is that `command` does not have: "weir run and weir train", or "".
std::string ownersOf(const std::string &option, CLI::App &app) {
  std::vector<std::string> owners;
  for (const CLI::App *other : app.get_subcommands(nullptr))
    if (other->get_option_no_throw(option))
      owners.push_back(app.get_name() + " " + other->get_name());
  if (owners.size() < 2)
    return join(owners);
  std::string last = owners.back();
  owners.pop_back();
  return concat(join(owners), " and ", last);
}

/// What to write for another tool's option, value or command: "write `--set batch=N`: …", and of
/// which command it is where it is not of `command`.
std::string adviceOf(const ForeignOption &row, const CLI::App &command, CLI::App &app) {
  std::string code = row.code, advice;
  if (!code.empty()) {
    advice = concat("write `", code, "`");
    std::string option = code.substr(0, code.find(' '));
    if (option.starts_with("-") && !command.get_option_no_throw(option)) {
      std::string owners = ownersOf(option, app);
      advice +=
          owners.empty() ? " when it is compiled with weir" : concat(", an option of ", owners);
    }
  }
  return concat("; ", advice, advice.empty() || !*row.note ? "" : ": ", row.note);
}

/// The rest of the message about an option that a command does not have.
std::string insteadOf(const std::string &option, const CLI::App &command, CLI::App &app) {
  if (std::string now = nameNow(option); !now.empty())
    return concat("; it is now ", now, insteadOf(now, command, app));
  if (const ForeignOption *row = foreignOption(option))
    return adviceOf(*row, command, app);
  if (std::string owners = ownersOf(option, app); !owners.empty())
    return concat("; it is an option of ", owners);
  if (app.get_name().starts_with("weir-run") && isCompileOption(option))
    return "; it is an option of weir compile: compile the artifact again with it";
  return didYouMean(option, optionNames(command));
}

/// What is wrong with values that another tool has, or "".
std::string foreignValues(CLI::App &app) {
  CLI::App &command = chosen(app);
  for (const CLI::Option *option : command.get_options())
    for (const std::string &value : option->results())
      for (const std::string &name : option->get_lnames())
        if (const ForeignOption *row = foreignOption(concat("--", name, "=", value)))
          return concat("--", name, " ", value, " is another tool's value",
                        adviceOf(*row, command, app));
  return "";
}

/// What is wrong with the words that nothing took, or "". A misspelt option also explains why a
/// required one is missing, so this is asked first.
std::string strangers(CLI::App &app) {
  CLI::App &command = chosen(app);
  std::string unexpected;
  for (CLI::App *part : {&app, &command}) {
    bool optionsEnded = false;
    for (const std::string &extra : part->remaining()) {
      if (extra == "--") {
        optionsEnded = true;
      } else if (extra.size() > 1 && extra[0] == '-' && !optionsEnded) {
        std::string name = extra.substr(0, extra.find('='));
        return concat("unknown option '", name, "'", insteadOf(name, *part, app));
      } else if (unexpected.empty()) {
        unexpected = extra;
      }
    }
  }
  if (unexpected.empty())
    return "";
  if (&command == &app && !commandNames(app).empty()) {
    const ForeignOption *row = foreignOption(unexpected);
    return concat("unknown command '", unexpected, "'",
                  row ? adviceOf(*row, command, app) : didYouMean(unexpected, commandNames(app)));
  }
  return concat("unexpected argument '", unexpected, "'");
}

/// Of an option or argument that was given nothing. It is a variable of the shell, most of the
/// time, that is not set; nothing would be done as if the option were not there.
std::string isEmpty(const std::string &name) {
  return concat(
      name,
      ": its value is empty; leave the option out, or give it one (is a shell variable unset?)");
}

/// What is wrong with `--name=`, or "". The parser gives it the next word.
std::string emptyBehindEquals(int argc, const char *const *argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i)
    if (std::string word = argv[i]; word.starts_with("--") && word.find('=') == word.size() - 1)
      return isEmpty(word.substr(0, word.size() - 1));
  return "";
}

/// What is wrong with values that are empty words, or "".
std::string emptyValues(CLI::App &app) {
  for (const CLI::App *part : {&app, &chosen(app)})
    for (const CLI::Option *option : part->get_options())
      for (const std::string &value : option->results())
        if (value.empty() && option->get_items_expected_max() > 0)
          return isEmpty(option->get_name());
  return "";
}

/// What is wrong with `--name --other`, or "": the parser takes the other option for the value.
/// Asked before what was left over, as the other option's value then is.
std::string optionsAsValues(CLI::App &app) {
  CLI::App &command = chosen(app);
  for (const CLI::App *part : {&app, &command})
    for (const CLI::Option *option : part->get_options())
      for (const std::string &value : option->results())
        if (value.starts_with("-") && option->nonpositional() &&
            option->get_items_expected_max() > 0 &&
            (command.get_option_no_throw(value) || app.get_option_no_throw(value)))
          return concat(option->get_name(), ": expected a value, found the option ", value);
  return "";
}

/// What is wrong with the words, or "".
std::string wrongWords(CLI::App &app, int argc, const char *const *argv) {
  std::string problem = emptyBehindEquals(argc, argv);
  if (problem.empty())
    problem = optionsAsValues(app);
  if (problem.empty())
    problem = strangers(app);
  if (problem.empty())
    problem = emptyValues(app);
  if (problem.empty())
    problem = foreignValues(app);
  return problem;
}

/// In one write, so that lines of several ranks do not run into each other.
void printError(const std::string &message) { std::cerr << concat("error: ", message, "\n"); }

std::string fullName(CLI::App &app) {
  CLI::App &command = chosen(app);
  return &command == &app ? app.get_name() : app.get_name() + " " + command.get_name();
}

/// What the name of a group of options ends with that --help leaves out and --help-all lists.
constexpr std::string_view furtherSuffix = " (more)";

/// One line for each option, in groups. In the list of commands, a command's first sentence.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_subcommand(const CLI::App *command) const override {
    std::string about = command->get_description();
    return line(command->get_name(), about.substr(0, about.find('\n')), 14);
  }

  std::string make_description(const CLI::App *app) const override {
    return Formatter::make_description(app) + "\n";
  }

  std::string make_help(const CLI::App *app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return concat(make_description(app), make_usage(app, std::move(name)), make_positionals(app),
                  groups(app, mode), make_subcommands(app, mode), "\n", make_footer(app));
  }

  std::string make_option(const CLI::Option *option, bool isPositional) const override {
    std::string left = make_option_name(option, isPositional);
    std::string type = option->get_type_name();
    type.resize(std::min(type.size(), type.find(":{"))); // what a check says of itself
    if (option->get_type_size() != 0 && !type.empty() && !isPositional)
      left += " " + type;
    std::string about = option->get_description(), usual = option->get_default_str();
    if (!usual.empty() && about.find("(default") == std::string::npos)
      about += concat(" (default: ", usual, ")");
    return line(left, about, 36);
  }

private:
  std::string groups(const CLI::App *app, CLI::AppFormatMode mode) const {
    std::vector<std::string> names;
    bool hasFurther = false;
    for (std::string group : app->get_groups()) {
      bool isFurther = group.ends_with(furtherSuffix);
      hasFurther |= isFurther;
      if (isFurther)
        group.resize(group.size() - furtherSuffix.size());
      bool isListed = !group.empty() && (mode == CLI::AppFormatMode::All || !isFurther);
      if (isListed && !std::ranges::count(names, group))
        names.push_back(group);
    }
    // --help itself stands last.
    std::ranges::stable_partition(names, [](const std::string &name) { return name != "Options"; });
    std::string text;
    for (const std::string &name : names)
      text += make_group(name, false, app->get_options([&](const CLI::Option *option) {
        const std::string &group = option->get_group();
        return option->nonpositional() && (group == name || (mode == CLI::AppFormatMode::All &&
                                                             group == concat(name, furtherSuffix)));
      }));
    if (hasFurther && mode != CLI::AppFormatMode::All)
      text +=
          concat("\nAll options: ", app->get_parent() ? app->get_parent()->get_name() + " " : "",
                 app->get_name(), " --help-all\n");
    return text;
  }

  static std::string line(const std::string &left, const std::string &right, size_t column) {
    std::string text = "  " + left;
    text.resize(std::max(text.size() + 2, column), ' ');
    return concat(text, right, "\n");
  }
};

} // namespace

void addVersionOption(CLI::App &app, const std::string &program) {
  app.set_version_flag("-V,--version",
                       concat(program, " " WEIR_VERSION "\nCPU level: ", cpuLevel()));
}

std::vector<const char *> expandHelp(int argc, const char *const *argv) {
  std::vector<const char *> words(argv, argv + argc);
  if (argc > 1 && std::strcmp(argv[1], "help") == 0) {
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  return words;
}

std::optional<Exit> parseCommandLine(CLI::App &app, int givenCount, const char *const *given) {
  const RenamedOptions renamed = RenamedOptions::in(app, givenCount, given);
  std::vector<const char *> words;
  for (const std::string &word : renamed.words)
    words.push_back(word.c_str());
  const int argc = int(words.size());
  const char *const *argv = words.data();
  bool hasCommands = !commandNames(app).empty();
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  // With a second command the first one's file could be called like it.
  app.require_subcommand(0, 1)->allow_extras()->formatter(formatter);
  for (CLI::App *command : app.get_subcommands(nullptr))
    command->allow_extras()->formatter(formatter);
  for (CLI::App *part : hasCommands ? app.get_subcommands(nullptr) : std::vector<CLI::App *>{&app})
    part->set_help_all_flag("--help-all", "Print this help with all options and exit");
  std::string problem;
  try {
    app.parse(argc, argv);
    problem = wrongWords(app, argc, argv);
    if (problem.empty() && hasCommands && app.get_subcommands().empty())
      problem = "no command given";
  } catch (const CLI::Success &help) {
    // Of a command that there is not: `help trian`.
    if (hasCommands && app.get_subcommands().empty())
      problem = strangers(app);
    if (problem.empty()) {
      app.exit(help, std::cout, std::cerr);
      return Exit::ok;
    }
  } catch (const CLI::ParseError &error) {
    problem = wrongWords(app, argc, argv);
    if (problem.empty())
      problem = error.what();
  }
  for (const std::string &note : renamed.notes)
    std::cerr << concat("note: ", note, "; the old name is accepted for one release\n");
  if (problem.empty())
    return std::nullopt;
  printError(concat(printable(problem), "\nhelp: ", fullName(app), " --help"));
  return Exit::usage;
}

/// A file opened while one of the three standard streams is closed takes its number, and then what
/// is printed goes into it. What stands in fails as a closed stream does.
static void occupyStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    while (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
        return;
}

int guarded(const std::function<Exit()> &body) {
  occupyStandardStreams();
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    cpuLevel(); // report an invalid WEIR_MAX_CPU first
    Exit exit = body();
    if (exit == Exit::ok && (!std::cout.flush() || std::ferror(stdout)))
      throw Failure(
          Exit::storage,
          "standard output: cannot write all of the results; check that its disk is not full");
    return static_cast<int>(exit);
  } catch (const Failure &failure) {
    printError(printable(failure.what()));
    return static_cast<int>(failure.exit);
  } catch (const std::bad_alloc &) {
    std::cerr << "error: out of memory\n"; // without memory of its own
    return static_cast<int>(Exit::device);
  } catch (const std::system_error &error) {
    // Of the places that ask the system without a message of their own: a path that leads nowhere,
    // a thread, memory or an open file that is not to be had.
    bool scarce = error.code() == std::errc::resource_unavailable_try_again ||
                  error.code() == std::errc::not_enough_memory ||
                  error.code() == std::errc::too_many_files_open ||
                  error.code() == std::errc::too_many_files_open_in_system;
    std::string advice;
    if (rlimit limit;
        error.code() == std::errc::too_many_files_open && getrlimit(RLIMIT_NOFILE, &limit) == 0)
      advice = concat("; raise the limit on open files, which is now ", uint64_t(limit.rlim_cur),
                      " (ulimit -n)");
    printError(concat(printable(error.what()), advice));
    return static_cast<int>(scarce ? Exit::device : Exit::storage);
  } catch (const std::exception &fault) {
    printError(concat("a fault of Weir's own, please report it: ", printable(fault.what())));
    return static_cast<int>(Exit::internal);
  }
}

bool colouredErrors() {
  const char *term = std::getenv("TERM");
  const char *off = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && !(off && *off) && !(term && std::strcmp(term, "dumb") == 0);
}

} // namespace weir

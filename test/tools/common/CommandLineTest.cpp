//===- CommandLineTest.cpp ------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "runtime/run/OptionRanges.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <iostream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weir;

namespace {

struct CommandLine : testing::Test {
  CLI::App app{"A tool.", "tool"};
  int steps = 0;
  std::string model;

  CommandLine() {
    CLI::App *train = app.add_subcommand("train", "Trains.\n\nExamples:\n  tool train m");
    train->add_option("model", model)->required();
    train->add_option("--steps", steps);
  }

  /// The status, and what was printed on standard error.
  std::pair<std::optional<Exit>, std::string> parse(std::vector<const char *> words) {
    words.insert(words.begin(), "tool");
    testing::internal::CaptureStderr();
    auto exit = parseCommandLine(app, words.size(), words.data());
    return {exit, testing::internal::GetCapturedStderr()};
  }

  void refused(std::vector<const char *> words, const std::string &message) {
    auto [exit, said] = parse(std::move(words));
    EXPECT_EQ(exit, Exit::usage);
    EXPECT_EQ(said.substr(0, said.find('\n')), "error: " + message);
  }
};

TEST_F(CommandLine, ParsesWhatIsRight) {
  auto [exit, said] = parse({"train", "m.weir", "--steps", "3"});
  EXPECT_FALSE(exit);
  EXPECT_EQ(said, "");
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(model, "m.weir");
}

TEST_F(CommandLine, NamesTheNearestCommand) {
  refused({"trian", "m.weir"}, "unknown command 'trian'; did you mean 'train'?");
}

TEST_F(CommandLine, NamesTheNearestOptionEvenWhereItHidAnother) {
  refused({"train", "m.weir", "--setps", "3"}, "unknown option '--setps'; did you mean '--steps'?");
  refused({"train", "--setps=3"}, "unknown option '--setps'; did you mean '--steps'?");
}

TEST_F(CommandLine, AnswersWhatOtherToolsHave) {
  app.add_subcommand("compile", "Compiles.")->add_option("--precision", model);
  app.get_subcommand("train")->add_option("--set", model);
  refused({"train", "m", "--max_steps", "3"}, "unknown option '--max_steps'; write `--steps N`");
  refused({"train", "m", "--Batch-Size=3"},
          "unknown option '--Batch-Size'; write `--set batch=N`: sizes are configs of the model, "
          "`config batch = 32`; the first dimension of each input is the batch");
  refused({"train", "m", "--fp16"},
          "unknown option '--fp16'; write `--precision f16`, an option of tool compile");
  refused({"train", "m", "--precision=f16"},
          "unknown option '--precision'; it is an option of tool compile");
  refused({"compile", "--precision", "float16"},
          "--precision float16 is another tool's value; write `--precision f16`");
  refused({"train", "m", "--export"},
          "unknown option '--export'; run the artifact itself with weir-run or weir predict");
  refused({"fit", "m"}, "unknown command 'fit'; write `weir train`");
}

TEST_F(CommandLine, HelpIsACommandToo) {
  const char *given[] = {"tool", "help", "train"};
  std::vector<std::string> expanded;
  for (const char *word : expandHelp(3, given))
    expanded.push_back(word);
  EXPECT_EQ(expanded, (std::vector<std::string>{"tool", "train", "--help"}));
  EXPECT_EQ(expandHelp(2, given).size(), 2u);
  EXPECT_STREQ(expandHelp(2, given)[1], "--help");
  const char *file[] = {"tool", "train", "help"};
  EXPECT_STREQ(expandHelp(3, file)[2], "help");
}

TEST_F(CommandLine, RefusesWhatIsTooMuchOrTooLittle) {
  refused({"train", "a", "b"}, "unexpected argument 'b'");
  refused({"train"}, "model is required");
  refused({}, "no command given");
}

TEST_F(CommandLine, TwoDashesEndTheOptions) {
  for (std::vector<const char *> words : {std::vector<const char *>{"train", "--", "-m.weir"},
                                          {"train", "--steps", "3", "--", "-m.weir"}}) {
    EXPECT_FALSE(parse(words).first);
    EXPECT_EQ(model, "-m.weir");
  }
  EXPECT_FALSE(parse({"train", "m", "--"}).first);
  refused({"train", "-m.weir"}, "unknown option '-m.weir'");
  refused({"train", "--", "a", "--steps"}, "unexpected argument '--steps'");
  refused({"train", "--stpes", "--", "a"}, "unknown option '--stpes'; did you mean '--steps'?");
  refused({"train", "a", "--", "b"}, "unexpected argument 'b'");
}

TEST_F(CommandLine, RefusesWhatStandsOutsideTheCommand) {
  app.add_subcommand("check", "Checks.");
  refused({"--trian", "train", "m"}, "unknown option '--trian'");
  refused({"train", "m", "check"}, "unexpected argument 'check'");
  EXPECT_FALSE(parse({"train", "check"}).first);
  EXPECT_EQ(model, "check");
}

TEST_F(CommandLine, RefusesAnOptionInAValuesPlace) {
  std::string path;
  app.get_subcommand("train")->add_option("-o,--output", path);
  refused({"train", "m", "--steps", "-o", "x"}, "--steps: expected a value, found the option -o");
  refused({"train", "m", "-o", "--steps"}, "--output: expected a value, found the option --steps");
  refused({"train", "m", "-o", "--steps", "3"},
          "--output: expected a value, found the option --steps");
  EXPECT_FALSE(parse({"train", "m", "-o", "-x"}).first);
  EXPECT_EQ(path, "-x");
  EXPECT_FALSE(parse({"train", "--", "--steps"}).first);
  EXPECT_EQ(model, "--steps");
}

TEST_F(CommandLine, RefusesEmptyValues) {
  std::string path;
  std::vector<std::string> list;
  std::optional<int64_t> seed;
  bool flag = false;
  CLI::App *train = app.get_subcommand("train");
  train->add_option("--init", path);
  train->add_option("-o,--output", path);
  train->add_option("--data", list)->expected(1)->take_all()->allow_extra_args(false);
  train->add_option("--seed", seed);
  train->add_flag("--resume", flag);
  for (const char *name : {"--init", "--output", "--data", "--seed", "--steps"}) {
    auto [exit, said] = parse({"train", "m.weir", name, ""});
    EXPECT_EQ(exit, Exit::usage) << name;
    EXPECT_NE(said.find(std::string(name) + ": its value is empty"), std::string::npos) << said;
    EXPECT_EQ(parse({"train", "m.weir", (std::string(name) + "=").c_str()}).first, Exit::usage);
  }
  EXPECT_EQ(parse({"train", "m.weir", "--data", "a=b", "--data", ""}).first, Exit::usage);
  // The next word is not blamed.
  EXPECT_NE(parse({"train", "m.weir", "--init=", "-o", "a"}).second.find("--init: its value"),
            std::string::npos);
  EXPECT_EQ(parse({"train", ""}).first, Exit::usage);
  EXPECT_FALSE(parse({"train", "m.weir", "--init", "a", "--resume"}).first);
}

TEST_F(CommandLine, NumbersAreDecimal) {
  CLI::App *train = app.get_subcommand("train");
  int64_t seed = 0;
  int every = 0;
  std::optional<int64_t> limit;
  double part = 0;
  train->add_option("--seed", seed)->transform(integerWithin(-2, INT64_MAX));
  train->add_option("--checkpoint-every", every)->transform(integerWithin(1, 500));
  train->add_option("--limit", limit)->transform(integerWithin(1, 9));
  train->add_option("--part", part)->check(within(0.0, 1.0, "a part"));
  EXPECT_FALSE(parse({"train", "m", "--seed", "010", "--checkpoint-every", "0500", "--limit", "08",
                      "--part", "00.125"})
                   .first);
  EXPECT_EQ(seed, 10);
  EXPECT_EQ(every, 500);
  EXPECT_EQ(limit, 8);
  EXPECT_EQ(part, 0.125);
  EXPECT_FALSE(parse({"train", "m", "--seed", "-02"}).first);
  EXPECT_EQ(seed, -2);
  EXPECT_FALSE(parse({"train", "m", "--seed", "9223372036854775807"}).first);
  EXPECT_EQ(seed, INT64_MAX);
  for (std::string bad : {"0", "0x10", "0b1", "1e2", "5.0", "5 ", "-18446744073709551617"})
    refused({"train", "m", ("--checkpoint-every=" + bad).c_str()},
            "--checkpoint-every: expected a whole number of 1 or more, found '" + bad + "'");
  for (std::string bad : {"501", "18446744073709551617"})
    refused({"train", "m", "--checkpoint-every", bad.c_str()},
            "--checkpoint-every: expected a whole number of at most 500, found '" + bad + "'");
  for (std::string bad : {"nan", "-0.1", "1.1", "0x1p-2", "1e999", "0.5x"})
    refused({"train", "m", ("--part=" + bad).c_str()},
            "--part: expected a part, found '" + bad + "'");
}

TEST_F(CommandLine, HelpShowsExamplesOfACommandOnlyInItsOwn) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse({"--help"}).first, Exit::ok);
  std::string whole = testing::internal::GetCapturedStdout();
  EXPECT_NE(whole.find("train"), std::string::npos);
  EXPECT_EQ(whole.find("Examples:"), std::string::npos);
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse({"train", "--help"}).first, Exit::ok);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("Examples:"), std::string::npos);
}

TEST(Guarded, TurnsFailuresIntoStatuses) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded([] { return Exit::requeue; }), 75);
  EXPECT_EQ(guarded([]() -> Exit { throw Failure(Exit::data, "short.idx: too short"); }), 4);
  EXPECT_EQ(guarded([]() -> Exit { throw std::bad_alloc(); }), 6);
  EXPECT_EQ(guarded([]() -> Exit { throw std::logic_error("x"); }), 1);
  EXPECT_EQ(guarded([]() -> Exit {
              throw std::system_error(std::make_error_code(std::errc::io_error), "\x1b[2J");
            }),
            8);
  EXPECT_EQ(guarded([]() -> Exit {
              throw std::system_error(
                  std::make_error_code(std::errc::too_many_files_open_in_system), "t");
            }),
            6);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "error: short.idx: too short\n"
            "error: out of memory\n"
            "error: a fault of Weir's own, please report it: x\n"
            "error: \\x1b[2J: Input/output error\n"
            "error: t: Too many open files in system\n");
}

TEST(Guarded, TooFewOpenFilesSayWhatToRaise) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded([]() -> Exit {
              throw std::system_error(EMFILE, std::generic_category(), "cannot link");
            }),
            6);
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(
      said.find(
          "error: cannot link: Too many open files; raise the limit on open files, which is now "),
      0u);
  EXPECT_TRUE(said.ends_with(" (ulimit -n)\n")) << said;
}

TEST(Guarded, FullStandardOutput) {
  for (auto [place, wanted] : {std::pair("/dev/full", Exit::storage), {"/dev/null", Exit::ok}}) {
    pid_t child = fork();
    if (child == 0) {
      dup2(open(place, O_WRONLY), STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      _exit(guarded([] {
        std::cout << "loss 1\n";
        return Exit::ok;
      }));
    }
    int status;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(wanted)) << place;
  }
}

TEST(Guarded, ALimitOnTheSizeOfFilesIsAnErrorOfTheWrite) {
  std::FILE *file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  pid_t child = fork();
  if (child == 0) {
    rlimit little{100, 100};
    if (setrlimit(RLIMIT_FSIZE, &little) != 0)
      _exit(1);
    _exit(guarded([&] {
      char bytes[200] = {};
      bool cut = write(fileno(file), bytes, 200) == 100 && write(fileno(file), bytes, 1) < 0;
      return cut && errno == EFBIG ? Exit::ok : Exit::internal;
    }));
  }
  int status;
  waitpid(child, &status, 0);
  std::fclose(file);
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace

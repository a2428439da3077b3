//===- Forked.cpp - Runs in a process of its own --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-smith/Forked.h"
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir::smith {

void dieWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

ForkResult runForked(const std::function<void(const std::function<void(std::string)> &)> &work,
                     unsigned seconds) {
  int ends[2];
  FILE *errors = std::tmpfile();
  if (!errors || pipe(ends) != 0)
    return {{}, std::string("cannot start a process: ") + std::strerror(errno)};
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    dieWithParent();
    close(ends[0]);
    dup2(fileno(errors), STDERR_FILENO);
    rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    work([&](std::string line) {
      line += '\n';
      for (size_t at = 0; at < line.size();) {
        ssize_t written = write(ends[1], line.data() + at, line.size() - at);
        if (written <= 0)
          _exit(1);
        at += written;
      }
    });
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, got);
  close(ends[0]);
  ForkResult result;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    result.lines.push_back(text.substr(at, end - at));
  int status = 0;
  if (child < 0)
    result.death = "cannot start a process";
  else
    waitpid(child, &status, 0);
  if (status != 0) {
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.death = signal == SIGKILL || signal == SIGXCPU
                       ? "took more than " + std::to_string(seconds) + " seconds"
                   : signal ? std::string(strsignal(signal))
                            : "exit status " + std::to_string(WEXITSTATUS(status));
    std::rewind(errors);
    size_t got = std::fread(buffer, 1, sizeof buffer, errors);
    result.death += ": " + std::string(buffer, got);
  }
  std::fclose(errors);
  return result;
}

} // namespace weir::smith

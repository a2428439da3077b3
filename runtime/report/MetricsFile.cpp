//===- MetricsFile.cpp - A run as a program reads it ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/MetricsFile.h"
#include "support/Error.h"
#include "support/Number.h"
#include "support/Text.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {
namespace {

std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Whether the line is a step's or an event's, of a step up to `doneSteps`, and not the end of a
/// run.
bool isToKeep(const std::string &line, int64_t doneSteps) {
  auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("step"))
    return false;
  const nlohmann::json &step = json["step"];
  // A number above int64 is unsigned, and would be another one as an int64.
  if (!step.is_number_integer() ||
      (step.is_number_unsigned() && step.get<uint64_t>() > INT64_MAX) ||
      step.get<int64_t>() > doneSteps)
    return false;
  return !json.contains("event") || (json["event"].is_string() && json["event"] != "done");
}

/// The length of the part of the file that tells of steps up to `doneSteps`, in whole lines.
size_t lengthToKeep(const std::string &path, int64_t doneSteps) {
  std::ifstream in(path, std::ios::binary);
  size_t length = 0;
  for (std::string line; std::getline(in, line) && !in.eof() && isToKeep(line, doneSteps);
       length += line.size() + 1) {
  }
  return length;
}

} // namespace

MetricsFile::MetricsFile(std::string name, int64_t doneSteps) : path(std::move(name)) {
  bool standard = path == "-";
  file = standard ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                  : ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
  if (standard)
    path = "standard output";
  if (file < 0)
    throw Failure(isScarce(errno) ? Exit::device : Exit::storage,
                  concat(path, ": cannot write the metrics: ", std::strerror(errno)));
  // Of a pipe, a terminal or a device there is nothing to keep or to cut.
  struct stat facts;
  if (standard || ::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))
    return;
  if (::ftruncate(file, doneSteps > 0 ? lengthToKeep(path, doneSteps) : 0) != 0) {
    int reason = errno;
    ::close(file);
    throw Failure(Exit::storage,
                  concat(path, ": cannot write the metrics: ", std::strerror(reason)));
  }
}

MetricsFile::~MetricsFile() { ::close(file); }

void MetricsFile::step(const StepRecord &record, const std::string &unit) {
  std::string line = concat("{\"step\":", record.step);
  for (const auto &[name, value] : record.values)
    line += concat(",", quoted(name), ":", jsonNumber(value));
  line +=
      concat(",\"step_ms\":", jsonNumber(1e3 * record.seconds), ",\"", unit,
             "_per_second\":", jsonNumber(record.seconds > 0 ? record.units / record.seconds : 0));
  for (const auto &[name, value] : {std::pair("mfu", record.mfu), {"hfu", record.hfu}})
    if (value)
      line += concat(",\"", name, "\":", jsonNumber(*value));
  write(line + "}\n");
}

void MetricsFile::event(const std::string &event, int64_t step, const Values &values,
                        double seconds) {
  std::string line = concat("{\"event\":", quoted(event), ",\"step\":", step);
  for (const auto &[name, value] : values)
    line += concat(",", quoted(name), ":", jsonNumber(value));
  write(line + concat(",\"seconds\":", jsonNumber(seconds), "}\n"));
}

void MetricsFile::write(const std::string &line) {
  for (size_t done = 0; done < line.size();) {
    ssize_t wrote = ::write(file, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0) {
      Failure failure(Exit::storage,
                      concat(path, ": cannot write the metrics: ", std::strerror(errno)));
      // What is read later ends with a whole line.
      if (off_t end = ::lseek(file, 0, SEEK_END); end >= static_cast<off_t>(done))
        (void)!::ftruncate(file, end - static_cast<off_t>(done));
      throw failure;
    }
    done += wrote;
  }
}

} // namespace weir

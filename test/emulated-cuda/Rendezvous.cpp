//===- Rendezvous.cpp - Where emulated devices meet ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Rendezvous.h"
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::emulated {

namespace fs = std::filesystem;

static constexpr const char *abandoned = "/abandoned";

Rendezvous::Rendezvous(const std::string &name, int members, int own)
    : folder(name), members(members), own(own) {
  mkdir(folder.c_str(), S_IRWXU); // by the member that comes first
}

std::string Rendezvous::newName() {
  std::error_code none;
  std::random_device random;
  uint64_t number = uint64_t(random()) << 32 | random();
  return (fs::temp_directory_path(none) / ("weir-nccl-" + std::to_string(number))).string();
}

std::string Rendezvous::path(int member, int64_t number) const {
  return folder + "/" + std::to_string(number) + "-" + std::to_string(member);
}

void Rendezvous::leave(int64_t number, const std::string &bytes) const {
  std::string whole = path(own, number), part = whole + ".part";
  std::ofstream(part, std::ios::binary) << bytes;
  rename(part.c_str(), whole.c_str());
}

bool Rendezvous::allHaveLeft(int64_t number) const {
  for (int member = 0; member < members; ++member)
    if (access(path(member, number).c_str(), F_OK))
      return false;
  return true;
}

std::string Rendezvous::of(int member, int64_t number) const {
  std::ostringstream bytes;
  bytes << std::ifstream(path(member, number), std::ios::binary).rdbuf();
  return bytes.str();
}

void Rendezvous::remove(int64_t number) const { unlink(path(own, number).c_str()); }

void Rendezvous::abandon() const { std::ofstream(folder + abandoned) << own; }

bool Rendezvous::isAbandoned() const { return access((folder + abandoned).c_str(), F_OK) == 0; }

void Rendezvous::close() const {
  constexpr int64_t ofClosing = -2;
  leave(ofClosing, "");
  std::error_code none;
  if (allHaveLeft(ofClosing))
    fs::remove_all(folder, none);
}

} // namespace weir::emulated

//===- TensorBoard.cpp - A run as TensorBoard reads it --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/TensorBoard.h"
#include "support/Error.h"
#include "support/Text.h"
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace weir {
namespace {

constexpr std::array<uint32_t, 256> crcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit)
      sum = sum >> 1 ^ (sum & 1 ? 0x82F63B78u : 0);
    table[byte] = sum;
  }
  return table;
}();

/// Protocol buffers' wire format.
enum class Wire { varint = 0, bits64 = 1, bytes = 2, bits32 = 5 };

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
void appendKey(std::string &out, int field, Wire wire) {
  appendVarint(out, field << 3 | static_cast<int>(wire));
}
template <typename T> void appendRaw(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}
void appendBytes(std::string &out, int field, std::string_view bytes) {
  appendKey(out, field, Wire::bytes);
  appendVarint(out, bytes.size());
  out += bytes;
}

std::string eventAt(double wallTime) {
  std::string event;
  appendKey(event, 1, Wire::bits64);
  appendRaw(event, wallTime);
  return event;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t sum = ~0u;
  for (unsigned char byte : bytes)
    sum = sum >> 8 ^ crcTable[(sum ^ byte) & 0xFF];
  return ~sum;
}

uint32_t maskedCrc32c(std::string_view bytes) {
  uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xA282EAD8u;
}

std::string framed(std::string_view bytes) {
  std::string record;
  appendRaw<uint64_t>(record, bytes.size());
  appendRaw(record, maskedCrc32c(record));
  record += bytes;
  appendRaw(record, maskedCrc32c(bytes));
  return record;
}

TensorBoard::TensorBoard(const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  // TensorBoard finds its files by "tfevents" and orders them by the time in the name.
  path = (std::filesystem::path(directory) / concat("events.out.tfevents.",
                                                    static_cast<int64_t>(now()), ".", host, ".",
                                                    getpid(), ".weir"))
             .string();
  file = std::fopen(path.c_str(), "wbex");
  if (!file)
    throw Failure(isScarce(errno) ? Exit::device : Exit::storage,
                  concat(path, ": cannot write TensorBoard's events: ", std::strerror(errno)));
  std::string event = eventAt(now());
  appendBytes(event, 3, "brain.Event:2");
  write(event);
}

TensorBoard::~TensorBoard() { std::fclose(file); }

void TensorBoard::scalars(int64_t step, const Values &values) {
  std::string summary;
  for (const auto &[name, value] : values) {
    std::string scalar;
    appendBytes(scalar, 1, name);
    appendKey(scalar, 2, Wire::bits32);
    appendRaw(scalar, static_cast<float>(value));
    appendBytes(summary, 1, scalar);
  }
  std::string event = eventAt(now());
  appendKey(event, 2, Wire::varint);
  appendVarint(event, step);
  appendBytes(event, 5, summary);
  write(event);
}

void TensorBoard::write(const std::string &event) {
  std::string record = framed(event);
  if (std::fwrite(record.data(), 1, record.size(), file) != record.size() || std::fflush(file) != 0)
    throw Failure(Exit::storage,
                  concat(path, ": cannot write TensorBoard's events: ", std::strerror(errno)));
}

} // namespace weir

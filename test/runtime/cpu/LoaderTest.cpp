//===- LoaderTest.cpp -----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Loader.h"
#include "support/Error.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <vector>

using namespace weir;

using Kernel = void (*)(void *const *, long, long, void *);

static std::vector<std::byte> object(const std::string &style) {
  std::ifstream file(KERNELS "/kernels-" + style + ".so", std::ios::binary);
  std::vector<char> text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  EXPECT_FALSE(bytes.empty());
  return bytes;
}

TEST(Loader, RunsRelocatedCode) {
  for (const char *style : {"sysv", "gnu"}) {
    cpu::Loader loader(object(style));
    float input[3] = {1, 2, 3}, output[3] = {};
    int choice = 1;
    void *operands[] = {input, output, &choice};
    auto pick = reinterpret_cast<Kernel>(loader.symbol("pick"));
    ASSERT_TRUE(pick) << style;
    pick(operands, 0, 3, nullptr);
    EXPECT_EQ(output[2], 5);
    choice = 0;
    pick(operands, 1, 3, nullptr);
    EXPECT_EQ(output[0], 3);
    EXPECT_EQ(output[2], 4);
    EXPECT_EQ(loader.symbol("absent"), nullptr);
  }
}

static std::string messageOf(const std::vector<std::byte> &bytes) {
  try {
    cpu::Loader loader(bytes);
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
    return failure.what();
  }
  return "";
}

TEST(Loader, RefusesWhatIsNoObject) {
  EXPECT_NE(messageOf({}).find("cannot be loaded"), std::string::npos);
  std::vector<std::byte> bytes = object("gnu");
  bytes[0] = std::byte(0);
  EXPECT_NE(messageOf(bytes).find("not a shared object for x86-64"), std::string::npos);
  bytes = object("gnu");
  bytes[offsetof(Elf64_Ehdr, e_machine)] = std::byte(EM_AARCH64);
  EXPECT_NE(messageOf(bytes).find("not a shared object for x86-64"), std::string::npos);
}

static void changeSegment(std::vector<std::byte> &bytes, uint32_t type, auto change) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (int i = 0; i < header.e_phnum; ++i) {
    std::byte *place = bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, place, sizeof(segment));
    if (segment.p_type != type)
      continue;
    change(segment);
    std::memcpy(place, &segment, sizeof(segment));
  }
}

TEST(Loader, RefusesBadSegments) {
  std::vector<std::byte> bytes = object("gnu");
  changeSegment(bytes, PT_LOAD, [](Elf64_Phdr &s) { s.p_flags = PF_R | PF_W | PF_X; });
  EXPECT_NE(messageOf(bytes).find("writable and executable"), std::string::npos);
  bytes = object("gnu");
  changeSegment(bytes, PT_LOAD, [](Elf64_Phdr &s) { s.p_filesz = s.p_memsz = ~0ull; });
  EXPECT_NE(messageOf(bytes).find("a segment lies outside"), std::string::npos);
  bytes = object("gnu");
  changeSegment(bytes, PT_LOAD, [](Elf64_Phdr &s) { s.p_offset = ~0ull - 100; });
  EXPECT_NE(messageOf(bytes).find("a segment lies outside"), std::string::npos);
  bytes = object("gnu");
  changeSegment(bytes, PT_LOAD, [](Elf64_Phdr &s) { s.p_vaddr &= 0xfff; });
  EXPECT_NE(messageOf(bytes).find("share a page"), std::string::npos);
  bytes = object("gnu");
  changeSegment(bytes, PT_DYNAMIC, [](Elf64_Phdr &s) { s.p_vaddr = ~0ull - 8; });
  EXPECT_NE(messageOf(bytes).find("outside of it"), std::string::npos);
}

TEST(Loader, SurvivesTruncationAndDamage) {
  for (const char *style : {"sysv", "gnu"}) {
    const std::vector<std::byte> whole = object(style);
    for (size_t length = 0; length < whole.size(); length += 7) {
      std::vector<std::byte> cut(whole.begin(), whole.begin() + length);
      messageOf(cut);
    }
    std::mt19937 engine(1);
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::byte> bytes = whole;
      for (int flips = engine() % 4 + 1; flips > 0; --flips)
        bytes[engine() % bytes.size()] ^= std::byte(1 << engine() % 8);
      messageOf(bytes); // loads or says why not
    }
  }
}

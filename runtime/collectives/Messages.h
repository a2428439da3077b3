//===- Messages.h - What processes say to each other besides data ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message is its length, 4 bytes, little endian, then its kind and the fields of all messages,
// of which it uses some. It may come from anybody who reaches the port: a length is believed only
// within bounds, and what is not exactly a message is none.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_MESSAGES_H
#define WEIR_RUNTIME_COLLECTIVES_MESSAGES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::collectives {

struct Message {
  enum class Kind : uint8_t {
    hello,   ///< rank, size, status: the protocol, text: the job, parts: the generation it was of
    welcome, ///< to who said hello
    refused, ///< text: why
    parts,   ///< what a rank has for each, or all have for it
    beat,    ///< is alive
    lost,    ///< rank, text: what is known of its end
    ended,   ///< rank, status, text: how it failed
    bye,     ///< ends as all do
    last = bye
  };
  Kind kind = Kind::beat;
  uint32_t rank = 0, size = 0, status = 0;
  std::string text = {};
  std::vector<std::string> parts = {};

  bool operator==(const Message &) const = default;

  // The most that there may be of each.
  static constexpr size_t mostText = 4096, mostParts = 4096, mostOfPart = 256;
  /// Bytes behind the length: of any message, and of who has not proved anything yet.
  static constexpr size_t mostBytes = 2 << 20, mostOfStranger = 1024;
};

/// With its length before it. What is too long is cut short; parts are not.
std::string encode(const Message &message);

/// What stands behind the length; nothing where it is no message.
std::optional<Message> decode(std::string_view bytes);

} // namespace weir::collectives

#endif

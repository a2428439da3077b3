//===- Messages.cpp - What processes say to each other besides data -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Messages.h"
#include <bit>
#include <cassert>
#include <cstring>

namespace weir::collectives {
namespace {

static_assert(std::endian::native == std::endian::little, "messages are little endian");

void put(std::string &out, uint32_t number) {
  out.append(reinterpret_cast<const char *>(&number), sizeof number);
}

void put(std::string &out, std::string_view text, size_t most) {
  text = text.substr(0, most);
  put(out, uint32_t(text.size()));
  out += text;
}

/// Takes from the front of what is left; once something is missing, nothing is there any more.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}

  uint32_t number() {
    uint32_t number = 0;
    std::string_view bytes = take(sizeof number);
    if (whole)
      std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  std::string text(size_t most) {
    uint32_t size = number();
    whole &= size <= most;
    return std::string(take(size));
  }
  std::string_view take(size_t size) {
    whole = whole && size <= rest.size();
    if (!whole)
      return {};
    std::string_view front = rest.substr(0, size);
    rest.remove_prefix(size);
    return front;
  }
  bool isWhole() const { return whole; }
  bool isDone() const { return whole && rest.empty(); }

private:
  std::string_view rest;
  bool whole = true;
};

} // namespace

std::string encode(const Message &message) {
  assert(message.parts.size() <= Message::mostParts);
  std::string out(sizeof(uint32_t), '\0');
  out += char(message.kind);
  put(out, message.rank);
  put(out, message.size);
  put(out, message.status);
  put(out, message.text, Message::mostText);
  put(out, uint32_t(message.parts.size()));
  for (const std::string &part : message.parts) {
    assert(part.size() <= Message::mostOfPart);
    put(out, part, Message::mostOfPart);
  }
  uint32_t length = uint32_t(out.size() - sizeof(uint32_t));
  assert(length <= Message::mostBytes);
  std::memcpy(out.data(), &length, sizeof length);
  return out;
}

std::optional<Message> decode(std::string_view bytes) {
  Reader reader(bytes);
  std::string_view kind = reader.take(1);
  if (!reader.isWhole() || uint8_t(kind[0]) > uint8_t(Message::Kind::last))
    return std::nullopt;
  Message message{.kind = Message::Kind(kind[0])};
  message.rank = reader.number();
  message.size = reader.number();
  message.status = reader.number();
  message.text = reader.text(Message::mostText);
  uint32_t parts = reader.number();
  if (parts > Message::mostParts)
    return std::nullopt;
  for (uint32_t i = 0; i < parts && reader.isWhole(); ++i)
    message.parts.push_back(reader.text(Message::mostOfPart));
  if (!reader.isDone())
    return std::nullopt;
  return message;
}

} // namespace weir::collectives

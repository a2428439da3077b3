//===- SafeTensors.cpp - Tensors in a file, by name -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/SafeTensors.h"
#include "runtime/data/MappedFile.h"
#include "runtime/data/Recognize.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include "support/precision/Element.h"
#include <algorithm>
#include <cassert>
#include <cstring>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Json = nlohmann::json;

constexpr size_t maxHeader = 100'000'000;

/// One tensor as the header states it.
struct Entry {
  std::string name, dtype;
  std::vector<uint64_t> shape, offsets;
  bool hasShape = false;
};

/// Accepts exactly the format's shape of JSON: {name: {dtype: string, shape: [n...], data_offsets:
/// [begin, end]}...} and
/// __metadata__: {string: string}. Anything else ends the parse with `error` set.
class HeaderReader : public nlohmann::json_sax<Json> {
public:
  std::vector<Entry> entries;
  std::string error;

  bool start_object(size_t) override {
    if (depth == 0 || (depth == 1 && !inArray && !member.empty())) {
      ++depth;
      return true;
    }
    return stop("an unexpected object");
  }
  bool end_object() override {
    --depth;
    if (depth == 1 && !metadata) {
      const Entry &entry = entries.back();
      if (entry.dtype.empty() || !entry.hasShape || entry.offsets.size() != 2)
        return stop("the tensor '" + shownName(entry.name) +
                    "' without dtype, shape or two data_offsets");
    }
    if (depth == 1)
      metadata = false;
    return true;
  }
  bool key(string_t &name) override {
    member = name;
    if (depth == 1) {
      if (name.empty())
        return stop("a tensor without a name");
      metadata = name == "__metadata__";
      if (metadata && std::exchange(seenMetadata, true))
        return stop("__metadata__ twice");
      if (!metadata)
        entries.push_back({name, "", {}, {}, false});
    }
    return true;
  }
  bool string(string_t &value) override {
    if (depth == 2 && !inArray && metadata)
      return true;
    if (depth == 2 && !inArray && member == "dtype" && entries.back().dtype.empty()) {
      if (!findSafetensors(value))
        return stop("the unknown dtype '" + shownName(value) + "', of the tensor '" +
                    shownName(entries.back().name) + "'");
      entries.back().dtype = value;
      return true;
    }
    return stop("an unexpected string");
  }
  bool start_array(size_t) override {
    if (depth != 2 || inArray || metadata)
      return stop("an unexpected array");
    Entry &entry = entries.back();
    bool shape = member == "shape" && !entry.hasShape;
    if (!shape && !(member == "data_offsets" && entry.offsets.empty()))
      return stop("an unknown or repeated field '" + shownName(member) + "'");
    entry.hasShape |= shape;
    return inArray = true;
  }
  bool end_array() override {
    inArray = false;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!inArray)
      return stop("an unexpected number");
    auto &list = member == "shape" ? entries.back().shape : entries.back().offsets;
    if (list.size() >= 64)
      return stop("a list that is too long");
    list.push_back(value);
    return true;
  }
  bool null() override { return stop("a null"); }
  bool boolean(bool) override { return stop("a boolean"); }
  bool number_integer(number_integer_t) override { return stop("a negative number"); }
  bool number_float(number_float_t, const string_t &) override {
    return stop("a number that is not an integer");
  }
  bool binary(binary_t &) override { return stop("binary data"); }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    return stop("invalid JSON at byte " + std::to_string(position));
  }

private:
  bool stop(std::string what) {
    if (error.empty())
      error = std::move(what);
    return false;
  }
  int depth = 0;
  bool inArray = false, metadata = false, seenMetadata = false;
  std::string member;
};

} // namespace

std::string describe(const StoredTensor &tensor) { return tensor.dtype + shapeText(tensor.shape); }

std::string safeTensorsHeader(const std::vector<StoredTensor> &tensors) {
  // transformers wants to know which framework's conventions the tensors follow.
  Json header = {{"__metadata__", {{"format", "pt"}}}};
  size_t at = 0;
  for (const StoredTensor &tensor : tensors) {
    assert(!header.contains(tensor.name) && findSafetensors(tensor.dtype));
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.size}}};
    at += tensor.size;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) + text;
}

void writeSafeTensors(FileWriter &file, const std::vector<StoredTensor> &tensors) {
  std::string header = safeTensorsHeader(tensors);
  file.write(header.data(), header.size());
  for (const StoredTensor &tensor : tensors)
    file.write(tensor.data, tensor.size);
}

/// What people have in the place of weights.
static void refuseOthers(std::span<const std::byte> bytes, const std::string &path, Exit exit) {
  auto refuse = [&](const char *what, const char *advice) {
    throw Failure(exit, concat(path, ": ", what, ", not safetensors", *advice ? "; " : "", advice));
  };
  if (isSafeTensors(bytes))
    return;
  if (const ForeignFile *other = foreignFile(bytes))
    refuse(other->what, other->asWeights ? other->asWeights : "");
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '{') {
    bool isIndex = text.substr(0, maxHeader).find("\"weight_map\"") != text.npos;
    refuse(isIndex ? "is the index of weights in several files" : "is a JSON file",
           isIndex ? "merge them in Python: load each file with safetensors.torch.load_file, write "
                     "all tensors to one file with safetensors.torch.save_file, and give that file"
                   : "give the .safetensors file next to it");
  }
  if (text.starts_with("version https://git-lfs"))
    refuse("is a Git LFS pointer", "fetch the file: git lfs pull");
}

std::map<std::string, StoredTensor> parseSafeTensors(std::span<const std::byte> bytes,
                                                     const std::string &path, Exit exit) {
  auto fail = [&](const auto &...parts) {
    return Failure(exit, concat(path, ": is not a valid safetensors file: ", parts...));
  };
  refuseOthers(bytes, path, exit);
  uint64_t length = 0;
  if (bytes.size() < sizeof length)
    throw fail("it has ", bytes.size(), " bytes, at least 8 expected");
  std::memcpy(&length, bytes.data(), sizeof length);
  size_t rest = bytes.size() - sizeof length;
  if (length > maxHeader)
    throw fail("its header would have ", length, " bytes, at most ", maxHeader, " expected");
  if (length > rest)
    throw fail("its header would have ", length, " bytes, ", rest, " found");
  auto *text = reinterpret_cast<const char *>(bytes.data()) + sizeof length;
  if (length < 2 || text[0] != '{')
    throw fail("its header does not begin with '{'");

  HeaderReader header;
  if (!Json::sax_parse(text, text + length, &header))
    throw fail("its header has ", header.error.empty() ? "invalid JSON" : header.error);

  const std::byte *data = bytes.data() + sizeof length + length;
  size_t dataSize = rest - length;
  std::map<std::string, StoredTensor> found;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const Entry &entry : header.entries) {
    uint64_t size = findSafetensors(entry.dtype)->bytes, begin = entry.offsets[0],
             end = entry.offsets[1];
    for (uint64_t d : entry.shape)
      if (d > INT64_MAX || __builtin_mul_overflow(size, d, &size))
        throw fail("the shape of '", shownName(entry.name), "' is too large");
    if (begin > end || end > dataSize)
      throw fail("'", shownName(entry.name), "' has data_offsets from ", begin, " to ", end,
                 ", but the file has ", dataSize, " bytes of data");
    if (size != end - begin)
      throw fail("'", shownName(entry.name), "' needs ", size,
                 " bytes for its shape, but its data_offsets span ", end - begin);
    StoredTensor tensor{
        entry.name, entry.dtype, {entry.shape.begin(), entry.shape.end()}, data + begin, size};
    if (!found.emplace(entry.name, std::move(tensor)).second)
      throw fail("'", shownName(entry.name), "' appears twice");
    ranges.emplace_back(begin, end);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t covered = 0;
  for (auto [begin, end] : ranges) {
    if (begin != covered)
      throw fail(begin < covered ? "two tensors overlap at byte " : "a gap before byte ", begin,
                 " of the data");
    covered = end;
  }
  if (covered != dataSize)
    throw fail(dataSize - covered, " bytes at its end belong to no tensor");
  return found;
}

SafeTensors::SafeTensors(const std::string &path, Exit exit) {
  file = MappedFile::open(path, exit);
  all = file->bytes();
  try {
    found = parseSafeTensors(all, path, exit);
  } catch (const Failure &) {
    file->requireIntact(); // or it was not the file's content that was parsed
    throw;
  }
}

void SafeTensors::requireIntact() const { file->requireIntact(); }

} // namespace weir

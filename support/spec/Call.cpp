//===- Call.cpp - What a library is asked to do ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/spec/Call.h"

namespace weir::spec {
namespace {

struct Encoder {
  std::vector<int64_t> numbers;

  void operator()(const char *, int64_t number) { numbers.push_back(number); }
  void operator()(const char *, bool holds) { numbers.push_back(holds); }
  void operator()(const char *, const std::vector<int64_t> &list) {
    numbers.push_back(static_cast<int64_t>(list.size()));
    numbers.insert(numbers.end(), list.begin(), list.end());
  }
  template <class Enum, class Names> void operator()(const char *, Enum value, const Names &) {
    numbers.push_back(static_cast<int64_t>(value));
  }
};

struct Decoder {
  std::span<const int64_t> rest;
  bool fits = true;

  int64_t take(int64_t below) {
    if (rest.empty() || (below && (rest.front() < 0 || rest.front() >= below))) {
      fits = false;
      return 0;
    }
    int64_t number = rest.front();
    rest = rest.subspan(1);
    return number;
  }
  void operator()(const char *, int64_t &number) { number = take(0); }
  void operator()(const char *, bool &holds) { holds = take(2); }
  void operator()(const char *, std::vector<int64_t> &list) {
    auto size = static_cast<size_t>(take(static_cast<int64_t>(rest.size())));
    list.assign(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(size));
    rest = rest.subspan(size);
  }
  template <class Enum, class Names>
  void operator()(const char *, Enum &value, const Names &names) {
    if (rest.empty())
      return;
    value = static_cast<Enum>(take(static_cast<int64_t>(names.size())));
  }
};

template <size_t at = 0> std::optional<Call> callAt(std::string_view kind) {
  if constexpr (at < std::variant_size_v<Call>) {
    using Kind = std::variant_alternative_t<at, Call>;
    return Kind::kind == kind ? Call(Kind()) : callAt<at + 1>(kind);
  }
  return std::nullopt;
}

} // namespace

std::optional<Call> callOf(std::string_view kind) { return callAt(kind); }

std::string_view kindOf(const Call &call) {
  return std::visit([](auto &one) { return one.kind; }, call);
}
std::string check(const Call &call) {
  return std::visit([](auto &one) { return one.check(); }, call);
}
std::vector<Footprint> footprints(const Call &call) {
  return std::visit([](auto &one) { return one.footprints(); }, call);
}
Cost costOf(const Call &call) {
  return std::visit([](auto &one) { return one.cost(); }, call);
}
std::string describe(const Call &call) {
  return std::visit([](auto &one) { return one.describe(); }, call);
}
std::string_view opOf(const Call &call) {
  return std::visit([](auto &one) { return one.op(); }, call);
}

std::vector<int64_t> encode(const Call &call) {
  Encoder encoder;
  forEachField(call, encoder);
  return std::move(encoder.numbers);
}

bool decode(std::span<const int64_t> numbers, Call &call) {
  Decoder decoder{numbers};
  forEachField(call, decoder);
  return decoder.fits && decoder.rest.empty();
}

} // namespace weir::spec

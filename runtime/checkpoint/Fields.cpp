//===- Fields.cpp - The fields of manifest.json ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Fields.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include <limits>
#include <stdexcept>

namespace weir {

using Json = nlohmann::json;

Json parseManifest(std::string_view text) {
  constexpr size_t longest = 64 << 20;
  static constexpr int deepest = 8;
  if (text.size() > longest)
    throw std::runtime_error(
        concat("manifest.json has ", text.size(), " bytes; at most ", longest, " expected"));
  auto bounded = [](int depth, Json::parse_event_t event, Json &) {
    if (depth > deepest && event != Json::parse_event_t::value)
      throw std::runtime_error(concat("manifest.json nests deeper than ", deepest));
    return true;
  };
  try {
    Json json = Json::parse(text, bounded);
    if (!json.is_object())
      throw std::runtime_error("manifest.json is not a JSON object");
    return json;
  } catch (const Json::parse_error &error) {
    throw std::runtime_error(concat("manifest.json is not valid JSON at byte ", error.byte));
  } catch (const Json::exception &) { // such as a number that no double holds
    throw std::runtime_error("manifest.json is not valid JSON");
  }
}

Fields::Fields(const Json &object, std::string path) : json(object), path(std::move(path)) {}

std::string Fields::pathOf(const std::string &name) const {
  return path.empty() ? name : path + "." + name;
}

const Json *Fields::find(const std::string &name) const {
  auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

void Fields::fail(const std::string &name, const std::string &expected) const {
  const Json *found = find(name);
  std::string text = "nothing";
  if (found)
    text = found->is_object() ? "an object"
           : found->is_array()
               ? "a list"
               : shownName(found->dump(-1, ' ', true, Json::error_handler_t::replace));
  throw std::runtime_error(concat("manifest.json: '", shownName(pathOf(name)), "': expected ",
                                  expected, ", found ", text));
}

bool Fields::has(const std::string &name) const { return find(name); }

int64_t Fields::whole(const std::string &name, int64_t least, int64_t most) const {
  const Json *found = find(name);
  bool good = found && found->is_number_integer() &&
              // What is above int64 is unsigned in nlohmann's eyes.
              (!found->is_number_unsigned() ||
               found->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
  if (!good || found->get<int64_t>() < least || found->get<int64_t>() > most)
    fail(name, concat("a whole number from ", least, " to ", most));
  return found->get<int64_t>();
}

double Fields::number(const std::string &name, double least, double most) const {
  const Json *found = find(name);
  if (!found || !found->is_number() || !(found->get<double>() >= least) ||
      !(found->get<double>() <= most))
    fail(name, concat("a number from ", least, " to ", most));
  return found->get<double>();
}

bool Fields::truth(const std::string &name) const {
  const Json *found = find(name);
  if (!found || !found->is_boolean())
    fail(name, "true or false");
  return found->get<bool>();
}

std::string Fields::text(const std::string &name) const {
  const Json *found = find(name);
  if (!found || !found->is_string())
    fail(name, "a text");
  return found->get<std::string>();
}

std::string Fields::hash(const std::string &name) const {
  constexpr size_t digits = 16;
  const Json *found = find(name);
  if (!found || !found->is_string() || found->get_ref<const std::string &>().size() != digits ||
      found->get_ref<const std::string &>().find_first_not_of("0123456789abcdef") !=
          std::string::npos)
    fail(name, concat(digits, " hexadecimal digits"));
  return found->get<std::string>();
}

Fields Fields::object(const std::string &name) const {
  const Json *found = find(name);
  if (!found || !found->is_object())
    fail(name, "an object");
  return Fields(*found, pathOf(name));
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> all;
  for (const auto &[name, value] : json.items())
    all.push_back(name);
  return all;
}

} // namespace weir

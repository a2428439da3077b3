//===- Fields.h - The fields of manifest.json -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the manifest. A field is read with the range that it has to be in. What is wrong is a
// std::runtime_error that names the field, what it should be, and what was found.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_FIELDS_H
#define WEIR_RUNTIME_CHECKPOINT_FIELDS_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// The object that the whole text is. Nothing in it nests deeper than a manifest does, so it may be
/// printed and walked.
nlohmann::json parseManifest(std::string_view text);

/// One object of it, which has to outlive this.
class Fields {
public:
  explicit Fields(const nlohmann::json &object, std::string path = "");

  bool has(const std::string &name) const;
  int64_t whole(const std::string &name, int64_t least, int64_t most) const;
  double number(const std::string &name, double least, double most) const;
  bool truth(const std::string &name) const;
  std::string text(const std::string &name) const;
  /// 16 lower-case hexadecimal digits.
  std::string hash(const std::string &name) const;
  Fields object(const std::string &name) const;

  std::vector<std::string> names() const;

  [[noreturn]] void fail(const std::string &name, const std::string &expected) const;

private:
  std::string pathOf(const std::string &name) const;
  const nlohmann::json *find(const std::string &name) const;

  const nlohmann::json &json;
  std::string path; ///< "data.window", or "" of the whole
};

} // namespace weir

#endif

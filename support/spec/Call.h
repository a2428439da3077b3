//===- Call.h - What a library is asked to do -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every library call of a plan is one of these structs: the plan dialect's attribute holds it, the
// artifact has its fields, devices serve it. A struct has
//
//   kind          its name in plans, artifacts and reports
//   fields()      visits (name, field) of each field: int64_t, bool, a list of int64_t, or
//                 (name, enum, names). What is added later is an enum, and stands last
//   check()       what is wrong with it, or "". Nothing else is asked of one that fails
//   footprints()  of its operands, in their order
//   cost(), describe()
//   op()          the op of the weir dialect that it computes
//
// To add one: a header and a source here, a row in Call, and what docs/checklists/library-call.md
// says.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_CALL_H
#define WEIR_SUPPORT_SPEC_CALL_H

#include "support/spec/Convolution.h"
#include "support/spec/Pooling.h"
#include "support/spec/Product.h"
#include <optional>
#include <span>
#include <variant>

namespace weir::spec {

using Call = std::variant<Product, Convolution, Pooling>;

/// One of that kind with its fields as they are by default, or none.
std::optional<Call> callOf(std::string_view kind);

std::string_view kindOf(const Call &call);
std::string check(const Call &call);
std::vector<Footprint> footprints(const Call &call);
Cost costOf(const Call &call);
std::string describe(const Call &call);
std::string_view opOf(const Call &call);

/// The fields in order as numbers: truth values and enums as one each, a list as its length and its
/// elements.
std::vector<int64_t> encode(const Call &call);

/// Sets the fields of `call`; false where there are too few or too many numbers, or one that a
/// field cannot hold. Enums at the end may be left out, which leaves them as they are: files are
/// read that were written before there were such.
bool decode(std::span<const int64_t> numbers, Call &call);

/// Visits (name, field[, names]) of each field.
template <class Visit> void forEachField(const Call &call, Visit &&visit) {
  std::visit([&](auto &one) { one.fields(one, visit); }, call);
}
template <class Visit> void forEachField(Call &call, Visit &&visit) {
  std::visit([&](auto &one) { one.fields(one, visit); }, call);
}

} // namespace weir::spec

#endif

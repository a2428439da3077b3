//===- ItemsTest.cpp - Items and their signatures --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/parser/Parsed.h"

#include <chrono>

namespace weir {
namespace {

using namespace ast;

TEST(Items, ConfigConstRequire) {
  Parsed parsed("config a = 1, b = 2.5,\n       c = true; const d = f(1)\n"
                "require a % 2 == 0, \"a must be even\" // why\n");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *config = parsed.item<ConfigItem>(0);
  ASSERT_TRUE(config);
  ASSERT_EQ(config->entries.size(), 3u);
  EXPECT_EQ(config->entries[2].name.text, "c");
  EXPECT_EQ(show(config->entries[1].value.get()), "2.5f");
  ASSERT_TRUE(parsed.item<ConstItem>(1));
  auto *require = parsed.item<RequireItem>(2);
  ASSERT_TRUE(require);
  EXPECT_EQ(require->requirement.message, "a must be even");
  EXPECT_EQ(show(require->requirement.condition.get()), "((a % 2) == 0)");
}

TEST(Items, Signatures) {
  Parsed parsed("fn f(x: [b, .., 4 * w], ids: i32[b, t], m: bool[..], im: u8[2], s: [], p,\n"
                "     rate: float, n: int = 2, on: bool = true, lr: f32, eps = 1e-5)\n"
                "    -> ([..], [c], ratio) {\n  return x, m, s\n}\n");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *fn = parsed.item<CallableItem>();
  ASSERT_TRUE(fn);
  EXPECT_EQ(fn->callableKind, CallableKind::function);
  std::string shown;
  for (const Parameter &parameter : fn->parameters)
    shown += parameter.name.text + ":" + show(parameter.type.get()) +
             (parameter.defaultValue ? "=" + show(parameter.defaultValue.get()) : "") + " ";
  EXPECT_EQ(shown, "x:f32[b, .., (4 * w)] ids:i32[b, t] m:bool[..] im:u8[2] s:f32[] p: "
                   "rate:float n:int=2 on:bool=true lr:f32 eps:=1e-05f ");
  ASSERT_EQ(fn->results.size(), 3u);
  EXPECT_EQ(show(fn->results[0].get()), "f32[..]");
  EXPECT_EQ(show(fn->results[2].get()), "ratio");
}

TEST(Items, SignatureErrors) {
  auto error = [](const std::string &text) {
    Messages messages = errorsOf(text + " {\n  return x\n}\nconst y = 1\n");
    return messages.size() == 1 ? messages[0] : std::to_string(messages.size()) + " errors";
  };
  EXPECT_EQ(error("fn (x)"), "1:4: expected the fn's name, found `(`");
  EXPECT_EQ(error("block b"), "1:9: expected `(` and the parameters, found `{`");
  EXPECT_EQ(error("fn f(x: [n, c)"), "1:9: expected `]` to close the type opened here");
  EXPECT_EQ(error("fn f(x: [n, c]"), "1:5: expected `)` to close the parameters opened here");
  EXPECT_EQ(error("fn f(x: i23[n])"), "1:9: unknown element type `i23`");
  EXPECT_EQ(error("fn f(x: flot)"), "1:9: unknown type `flot`");
  EXPECT_EQ(error("fn f(x: [.., n, ..])"), "1:17: a tensor type has at most one `..`");
  EXPECT_EQ(error("fn f(x) -> "), "1:13: expected a type, found `{`");
  EXPECT_EQ(error("fn f(x) -> n, c]"),
            "1:12: expected `[` before a result's dimensions, found `n`");
  EXPECT_EQ(error("fn f(x) -> ([n], c, 2 * d])"),
            "1:18: expected `[` before a result's dimensions, found `c`");
}

TEST(Items, ManyResults) {
  // A fraction of a second; what looks ahead from each of them to the end takes minutes.
  auto start = std::chrono::steady_clock::now();
  std::string results = "f32";
  for (int i = 0; i < 300'000; ++i)
    results += ",f32";
  EXPECT_EQ(errorsOf("fn f(x) -> (" + results + ") {\n  return x\n}\n"), Messages{});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Items, Plan) {
  Parsed parsed("plan {\n  precision f32 where contains(name, \"router\"); precision bf16\n"
                "  recompute where matches(path, \"h.*\"); recompute\n"
                "  shard \"h.*.c_fc.weight\" on tp dim 1 - 1\n}\n");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *plan = parsed.item<PlanItem>();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->entries.size(), 5u);
  auto *first = static_cast<PinEntry *>(plan->entries[0].get());
  ASSERT_EQ(first->kind(), Kind::pin);
  EXPECT_EQ(first->precision.text, "f32");
  EXPECT_EQ(show(first->where.get()), "contains(name, 'router')");
  auto *second = static_cast<PinEntry *>(plan->entries[1].get());
  ASSERT_EQ(second->kind(), Kind::pin);
  EXPECT_EQ(second->precision.text, "bf16");
  EXPECT_FALSE(second->where);
  auto *third = static_cast<RecomputeEntry *>(plan->entries[2].get());
  ASSERT_EQ(third->kind(), Kind::recompute);
  EXPECT_EQ(show(third->where.get()), "matches(path, 'h.*')");
  EXPECT_FALSE(static_cast<RecomputeEntry *>(plan->entries[3].get())->where);
  auto *fifth = static_cast<ShardEntry *>(plan->entries[4].get());
  ASSERT_EQ(fifth->kind(), Kind::shard);
  EXPECT_EQ(show(fifth->pattern.get()), "'h.*.c_fc.weight'");
  EXPECT_EQ(fifth->axis.text, "tp");
  EXPECT_EQ(show(fifth->dimension.get()), "(1 - 1)");
  EXPECT_EQ(errorsOf("const plan = 1"), Messages{});
}

TEST(Items, PlanErrors) {
  EXPECT_EQ(errorsOf("plan {\n  mesh 2\n  precison f32\n  precision 3\n  precision f32 were a\n}\n"
                     "const a = 1"),
            (Messages{"2:3: expected `precision`, `recompute` or `shard`, found `mesh`",
                      "3:3: expected `precision`, `recompute` or `shard`, found `precison`",
                      "4:13: expected a precision, found `3`",
                      "5:17: expected `where`, or the end of the line, found `were`"}));
  EXPECT_EQ(errorsOf("plan {\n  shard \"w\" at tp dim 0\n  shard \"w\" on 3 dim 0\n"
                     "  shard \"w\" on tp 0\n  shard \"w\" on tp dim\n}\n"),
            (Messages{"2:13: expected `on`, found `at`",
                      "3:16: expected an axis of a mesh, such as tp, found `3`",
                      "4:19: expected `dim`, found `0`",
                      "5:22: expected an expression, found the end of the line"}));
  EXPECT_EQ(errorsOf("pln {}"), (Messages{"1:1: expected config, require, const, fn, block, "
                                          "optimizer, model, train or plan, found `pln`"}));
}

} // namespace
} // namespace weir

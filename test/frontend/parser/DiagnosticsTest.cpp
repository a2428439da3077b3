//===- DiagnosticsTest.cpp - Messages as text ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/parser/Parsed.h"

#include <fstream>

namespace weir {
namespace {

using namespace ast;

TEST(Diagnostics, Rendering) {
  SourceManager sources;
  const SourceFile &file = sources.add("models/x.weir", "\xC3\xA9 = 1\n\tx = foo(a, bar)\r\n");
  Diagnostics diagnostics;
  diagnostics.error({&file, 19, 22}, "unknown name `bar`")
      .note({&file, 0, 2}, "bound here")
      .suggest(std::string("baz"));
  diagnostics.error({&file, 19, 22}, "unknown name `bar`").note({&file, 0, 2}, "again");
  diagnostics.warning({&file, 0, 2}, Warning::unusedBinding, "odd name");
  diagnostics.error({}, "no config `q`");
  EXPECT_EQ(diagnostics.errorCount(), 2u);
  EXPECT_EQ(diagnostics.render(), "models/x.weir:1:1: warning: odd name [-Wunused-binding]\n"
                                  "    1 | \xC3\xA9 = 1\n"
                                  "      | ^\n"
                                  "models/x.weir:2:13: error: unknown name `bar`\n"
                                  "    2 | \tx = foo(a, bar)\n"
                                  "      | \t           ^~~\n"
                                  "models/x.weir:1:1: note: bound here\n"
                                  "    1 | \xC3\xA9 = 1\n"
                                  "      | ^\n"
                                  "  help: did you mean `baz`?\n"
                                  "error: no config `q`\n");
  EXPECT_EQ(diagnostics.renderJson().substr(0, 116),
            "{\"severity\":\"warning\",\"message\":\"odd name\",\"file\":\"models/x.weir\","
            "\"line\":1,\"column\":1,\"endLine\":1,\"endColumn\":2,\"not");
  EXPECT_NE(diagnostics.render(true).find("\033[1;31merror:\033[0m"), std::string::npos);
}

TEST(Diagnostics, NotesAreNoErrors) {
  SourceManager sources;
  const SourceFile &file = sources.add("x.weir", "abc");
  Diagnostics diagnostics;
  diagnostics.note({&file, 0, 3}, "renamed");
  diagnostics.makeWarningsErrors();
  EXPECT_FALSE(diagnostics.hasErrors());
  EXPECT_EQ(diagnostics.render(), "x.weir:1:1: note: renamed\n"
                                  "    1 | abc\n"
                                  "      | ^~~\n");
  EXPECT_EQ(diagnostics.renderJson().substr(0, 38),
            "{\"severity\":\"note\",\"message\":\"renamed\"");
  for (uint32_t i = 0; i < 20; ++i)
    diagnostics.note({&file, 0, 1}, std::to_string(i));
  EXPECT_TRUE(diagnostics.render().ends_with("too many notes, 1 more not shown\n"));
}

TEST(Diagnostics, JsonIsUtf8WhateverTheModelIs) {
  SourceManager sources;
  const SourceFile &file = sources.add("x.weir", "abc");
  Diagnostics diagnostics;
  diagnostics.error({}, "\"\xFF\\\x1b\n\xC3\xA9").note({&file, 0, 1}, "here").note({}, "there");
  EXPECT_EQ(diagnostics.renderJson(),
            "{\"severity\":\"error\",\"message\":\"\\\"\uFFFD\\\\\\u001b\\n\xC3\xA9\",\"notes\":["
            "{\"message\":\"here\",\"file\":\"x.weir\",\"line\":1,\"column\":1,\"endLine\":1,"
            "\"endColumn\":2},{\"message\":\"there\"}],\"helps\":[]}\n");
}

TEST(Diagnostics, WhatATerminalWouldObeyIsLeftOut) {
  SourceManager sources;
  const SourceFile &file = sources.add("x.weir", "a\x1b[2J \xC2\x9B \xE2\x80\xAE \x7F \xC3\xA9 b");
  Diagnostics diagnostics;
  diagnostics.error({&file, 18, 19}, "\x1b]0;title\x07\xE2\x81\xA6");
  EXPECT_EQ(diagnostics.render(), "x.weir:1:15: error: ?]0;title??\n"
                                  "    1 | a?[2J ? ? ? \xC3\xA9 b\n"
                                  "      |               ^\n");
}

TEST(Diagnostics, Warnings) {
  SourceManager sources;
  const SourceFile &file = sources.add("x.weir", "abc");
  Diagnostics diagnostics;
  diagnostics.silence({Warning::unusedInput});
  diagnostics.warning({&file, 0, 1}, Warning::unusedInput, "silenced").help("likewise");
  diagnostics.warning({&file, 1, 2}, Warning::unusedState, "said");
  EXPECT_EQ(diagnostics.errorCount(), 0u);
  EXPECT_EQ(diagnostics.renderJson(),
            "{\"severity\":\"warning\",\"message\":\"said\",\"file\":\"x.weir\",\"line\":1,"
            "\"column\":2,\"endLine\":1,\"endColumn\":3,\"notes\":[],\"helps\":[],"
            "\"warning\":\"unused-state\"}\n");
  diagnostics.makeWarningsErrors();
  EXPECT_EQ(diagnostics.errorCount(), 1u);
  EXPECT_EQ(diagnostics.render().substr(0, 45), "x.weir:1:2: error: said [-Wunused-state]\n    ");
  std::ifstream page(WEIR_SOURCE_DIR "/docs/reference/language.md");
  std::string text(std::istreambuf_iterator<char>(page), {});
  for (const std::string &name : warningNames()) {
    EXPECT_EQ(nameOf(*warningNamed(name)), name);
    EXPECT_NE(text.find("| `" + name + "` |"), std::string::npos) << name;
  }
  EXPECT_FALSE(warningNamed("unused"));
}

} // namespace
} // namespace weir

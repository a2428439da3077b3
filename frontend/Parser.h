//===- Parser.h - Tokens to a syntax tree ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar is docs/reference/language.md's. After a mistake the parser goes on with the next
// statement or item, so every independent mistake is reported, once. It never fails otherwise: any
// bytes give a tree or diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_PARSER_H
#define WEIR_FRONTEND_PARSER_H

#include "frontend/AST.h"
#include "frontend/Diagnostics.h"

namespace weir {

/// Never null; to be used only if no error was reported.
std::unique_ptr<ast::Module> parse(const SourceFile &file, Diagnostics &diagnostics);

} // namespace weir

#endif

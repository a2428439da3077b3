//===- Strategy.td - The strategy of a module --------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STRATEGY_TD
#define WEIR_STRATEGY_TD

include "ir/weir/WeirBase.td"
include "mlir/IR/AttrTypeBase.td"

def Weir_Strategy : AttrDef<Weir_Dialect, "Strategy"> {
  let mnemonic = "strategy";
  let summary = "every decision about how a step is carried out: a weir::Strategy, of which the "
                "fields that are given are printed";
  let description =
      "`#weir.strategy<\"mesh=dp=2,tp=2 zero=1\">`; docs/reference/strategy.md lists the fields.";
  let parameters =
      (ins AttrParameter<"::weir::Strategy", "the strategy", "const ::weir::Strategy &">:$value);
  let hasCustomAssemblyFormat = 1;
}

#endif

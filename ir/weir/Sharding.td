//===- Sharding.td - Meshes and shardings as attributes ----*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SHARDING_TD
#define WEIR_SHARDING_TD

include "ir/weir/WeirBase.td"
include "mlir/IR/AttrTypeBase.td"

def Weir_Mesh : AttrDef<Weir_Dialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "a mesh of devices: its axes with their sizes, the last of which changes first from rank to rank";
  let description = [{
    `#weir.mesh<dp = 2, tp = 4>`; an axis with unequal shares lists them, `dp = 3:1` (support/mesh/Mesh.h).
    C1: no axis is there twice.  C2: it has no more than 65536 ranks.
  }];
  let parameters = (ins AttrParameter<"::weir::Mesh", "the mesh", "const ::weir::Mesh &">:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Weir_Sharding : AttrDef<Weir_Dialect, "Sharding"> {
  let mnemonic = "sharding";
  let summary = "the sharding of a tensor: the axes over which each dimension is sharded; it is replicated over the others";
  let description = [{
    `#weir.sharding<[12@dp, 64]>` is sharded over dp along its first dimension. Sizes are those of the whole tensor, not of a shard:
    over dp = 2, each rank has 6 of the 12. A dimension may be a product of pieces of which some are sharded, `3*16@tp*64`: the
    outermost first. `partial tp` says that each rank along tp has a term of a sum that is still to be reduced; `on pp = 1`, that
    only the ranks at this coordinate have the tensor. support/mesh/Layout.h has the algebra.
    C1: sizes are positive.  C2: no axis is there twice.
  }];
  let parameters = (ins AttrParameter<"::weir::Sharding", "the sharding", "const ::weir::Sharding &">:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif

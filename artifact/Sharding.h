//===- Sharding.h - Programs of several ranks -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes of variables and ports are those of the whole tensors, sizes and places those of one rank.
// Of verified programs, but where it says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_SHARDING_H
#define WEIR_ARTIFACT_SHARDING_H

#include "artifact/Artifact_generated.h"
#include "support/mesh/Layout.h"
#include "support/spec/Exchange.h"
#include <vector>

namespace weir::artifact {

/// What the program runs on; one rank where it says none.
Mesh meshOf(const Program &program);

/// The processes that have its ranks: the mesh, where a process has one.
Mesh hostsOf(const Program &program);

/// How a variable or port lies on the mesh.
template <class Tensor> Layout layoutOf(const Mesh &mesh, const Tensor &tensor) {
  if (tensor.layout())
    return *Layout::parse(tensor.layout()->string_view(), mesh);
  return Layout::whole({tensor.shape()->data(), tensor.shape()->size()});
}

/// The bytes of a tensor that the rank has whose sizes a program has; false where the shape is not
/// positive or too large, or the layout is none of that shape. Of a program whose mesh is verified.
bool ownSize(const Program &program, DType dtype, const flatbuffers::Vector<int64_t> &shape,
             const flatbuffers::String *layout, uint64_t &size);

/// What the members of a collective give each other, in bytes.
spec::Exchange exchangeOf(const Collective &collective);

/// The bytes that a rank gets of the other members in a collective of its program.
uint64_t receivedIn(const Collective &collective);

/// What a rank runs.
const Program &programOf(const Program &program, int64_t rank);

/// What ranks run, each once.
std::vector<const Program *> programsOf(const Program &program);

} // namespace weir::artifact

#endif

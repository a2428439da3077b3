//===- OneDnn.h - oneDNN, opened when a program needs it --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_ONEDNN_H
#define WEIR_RUNTIME_CPU_ONEDNN_H

namespace weir::cpu {

/// The calling thread's team in the OpenMP that oneDNN computes with. Both open oneDNN at the
/// first call, as every function of dnnl.h does, and throw Failure{Exit::device} where there is
/// none.
int openMPTeamSize();
void setOpenMPTeamSize(int threads);

} // namespace weir::cpu

#endif

//===- RangesTest.cpp -------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Ranges.h"
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace weir::cuda {

TEST(CudaRanges, AreAProfilers) {
#ifdef WEIR_INJECTION
  // Asked for at the first range of the process.
  setenv("NVTX_INJECTION64_PATH", WEIR_INJECTION, 1);
  {
    Range outer("step");
    Range inner("kernel_3, matmul, model.weir:12");
  }
  void *library = dlopen(WEIR_INJECTION, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_TRUE(library) << "NVTX did not load it";
  auto *noted = reinterpret_cast<const char *(*)()>(dlsym(library, "weirNotedRanges"));
  ASSERT_TRUE(noted);
  EXPECT_STREQ(noted(), "step{kernel_3, matmul, model.weir:12{}}");
#else
  GTEST_SKIP() << "no headers of NVTX (the CUDA toolkit's nvtx3 folder) were found";
#endif
}

} // namespace weir::cuda

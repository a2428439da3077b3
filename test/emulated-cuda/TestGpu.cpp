//===- TestGpu.cpp - The stand-ins as a test sees them ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <cstdlib>
#include <dlfcn.h>

namespace weir::cuda {

static void *openLibrary(const char *name) {
  const char *folder = std::getenv("WEIR_EMULATED_LIBRARIES");
  void *library = dlopen((std::string(folder ? folder : LIBRARIES) + "/" + name).c_str(),
                         RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return library;
}

const Api &api() {
  static const Api api = [] {
    Api made;
    void *library = openLibrary("libcuda.so.1");
#define WEIR_EMULATED_FILL(type, name, arguments)                                                  \
  made.name = reinterpret_cast<decltype(made.name)>(dlsym(library, #name));                        \
  if (!made.name)                                                                                  \
    ADD_FAILURE() << #name << " is not exported";
    WEIR_CUDA_DRIVER(WEIR_EMULATED_FILL)
    made.reset = reinterpret_cast<decltype(made.reset)>(dlsym(library, "weirEmulatedReset"));
    made.faults = reinterpret_cast<decltype(made.faults)>(dlsym(library, "weirEmulatedFaults"));
    library = openLibrary("libnvrtc.so.13");
    WEIR_CUDA_NVRTC(WEIR_EMULATED_FILL)
    library = openLibrary("libcublasLt.so.13");
    WEIR_CUDA_CUBLASLT(WEIR_EMULATED_FILL)
    library = openLibrary("libnccl.so.2");
    WEIR_CUDA_NCCL(WEIR_EMULATED_FILL)
#undef WEIR_EMULATED_FILL
    return made;
  }();
  return api;
}

Gpu::Gpu(uint64_t seed, bool checked) {
  setenv("WEIR_EMULATED_MODE", checked ? "check" : "plain", 1);
  api().reset(checked, seed);
  static CUcontext context = nullptr;
  if (!context) {
    EXPECT_EQ(api().cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(api().cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  }
  EXPECT_EQ(api().cuCtxSetCurrent(context), CUDA_SUCCESS);
}

CUfunction Gpu::kernel(const std::string &text, const char *name) {
  nvrtcProgram program = nullptr;
  const char *texts[] = {"this is replaced"}, *names[] = {"weir_prims.h"};
  const char *options[] = {"--gpu-architecture=sm_90", "--fmad=false", "--ftz=true"};
  api().nvrtcCreateProgram(&program, ("#include \"weir_prims.h\"\n" + text).c_str(), "kernel.cu", 1,
                           texts, names);
  nvrtcResult result = api().nvrtcCompileProgram(program, 3, options);
  size_t size = 0;
  api().nvrtcGetProgramLogSize(program, &size);
  std::string log(size, ' ');
  api().nvrtcGetProgramLog(program, log.data());
  EXPECT_EQ(result, NVRTC_SUCCESS) << log;
  std::vector<char> code;
  if (api().nvrtcGetCUBINSize(program, &size) == NVRTC_SUCCESS) {
    code.resize(size);
    api().nvrtcGetCUBIN(program, code.data());
  }
  api().nvrtcDestroyProgram(&program);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(api().cuModuleLoadData(&module, code.data()), CUDA_SUCCESS);
  EXPECT_EQ(api().cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
  return function;
}

CUdeviceptr Gpu::memory(size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_EQ(api().cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
  return address;
}

CUstream Gpu::stream(unsigned flags) {
  CUstream stream = nullptr;
  EXPECT_EQ(api().cuStreamCreate(&stream, flags), CUDA_SUCCESS);
  return stream;
}

CUevent Gpu::event() {
  CUevent event = nullptr;
  EXPECT_EQ(api().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  return event;
}

CUresult Gpu::launch(CUfunction function, unsigned blocks, unsigned threads, Arguments arguments,
                     unsigned sharedBytes, CUstream stream) {
  return api().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, sharedBytes, stream,
                              arguments.pointers(), nullptr);
}

std::vector<float> ramp(size_t count, float step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(i) * step;
  return values;
}

} // namespace weir::cuda

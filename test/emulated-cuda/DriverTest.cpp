//===- DriverTest.cpp - The device, its limits, modules, and what compiling says --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace weir::cuda {
namespace {

const char *const sharedUser = R"(
extern "C" __global__ void __launch_bounds__(128) kernel_0(float *out) {
  weir_shared[threadIdx.x] = 1;
  if (threadIdx.x == 0)
    out[blockIdx.x] = weir_shared[0];
}
)";

TEST(EmulatedDriver, SaysWhatItIs) {
  Gpu gpu;
  char name[64];
  EXPECT_EQ(api().cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "Weir emulated GPU");
  auto attribute = [](int which) {
    int value = 0;
    EXPECT_EQ(api().cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 227 << 10);
  size_t bytes = 0;
  EXPECT_EQ(api().cuDeviceTotalMem_v2(&bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(bytes, size_t(16) << 30);
  int count = 0, device = 0;
  EXPECT_EQ(api().cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 8); // WEIR_EMULATED_DEVICES says another number
  EXPECT_EQ(api().cuDeviceGet(&device, count - 1), CUDA_SUCCESS);
  EXPECT_EQ(api().cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  const char *text = nullptr;
  EXPECT_EQ(api().cuGetErrorName(716, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_MISALIGNED_ADDRESS");
}

TEST(EmulatedDriver, WantsAContextInEachThread) {
  Gpu gpu;
  std::thread([] {
    CUdeviceptr memory = 0;
    EXPECT_EQ(api().cuMemAlloc_v2(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST(EmulatedLaunch, LimitsAreChecked) {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(sharedUser);
  CUdeviceptr out = gpu.memory(64);
  auto launch = [&](unsigned blocks, unsigned threads, unsigned sharedBytes) {
    return gpu.launch(kernel, blocks, threads, Arguments(out), sharedBytes);
  };
  EXPECT_EQ(launch(1, 128, 128), CUDA_SUCCESS);
  EXPECT_EQ(launch(0, 128, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 0, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1025, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 129, 128), CUDA_ERROR_INVALID_VALUE); // its launch bounds
  EXPECT_EQ(launch(1, 128, 48 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch(1, 128, (48 << 10) + 16), CUDA_ERROR_INVALID_VALUE);
  constexpr int attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(api().cuFuncSetAttribute(kernel, attribute, 228 << 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuFuncSetAttribute(kernel, attribute, 227 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch(1, 128, 227 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch(1, 128, (227 << 10) + 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 128, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(gpu.synchronize(), CUDA_SUCCESS); // none of these is sticky
}

TEST(EmulatedLaunch, LargestBlock) {
  forEachSeed(5, [](uint64_t seed) {
    Gpu gpu(seed);
    CUfunction kernel = gpu.kernel(R"(
extern "C" __global__ void kernel_0(const float *in, float *out) {
  float *s = reinterpret_cast<float *>(weir_shared);
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[1023 - threadIdx.x];
})");
    CUdeviceptr out = gpu.memory(4096);
    ASSERT_EQ(gpu.launch(kernel, 1, 1024, Arguments(gpu.holding(ramp(1024)), out), 4096),
              CUDA_SUCCESS);
    EXPECT_EQ(gpu.read<float>(out, 1024)[0], 1023.0f);
  });
}

TEST(EmulatedModule, CodeOfARealGpuIsRefused) {
  Gpu gpu;
  // The head of a cubin: ELF for EM_CUDA, no segments.
  char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33};
  CUmodule module = nullptr;
  EXPECT_EQ(api().cuModuleLoadData(&module, cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(api().cuModuleLoadData(&module, "not code"), CUDA_ERROR_INVALID_IMAGE);
}

TEST(EmulatedModule, OnlyItsKernelsAreFound) {
  Gpu gpu;
  gpu.kernel(std::string(sharedUser) + "// extern \"C\" __global__ void kernel_9(float *out) {\n");
  nvrtcProgram program = nullptr;
  ASSERT_EQ(api().nvrtcCreateProgram(&program, "#include \"weir_prims.h\"\n", "none.cu", 0, nullptr,
                                     nullptr),
            NVRTC_SUCCESS);
  ASSERT_EQ(api().nvrtcCompileProgram(program, 0, nullptr), NVRTC_SUCCESS);
  size_t size = 0;
  ASSERT_EQ(api().nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
  std::vector<char> code(size);
  api().nvrtcGetCUBIN(program, code.data());
  CUmodule module = nullptr;
  ASSERT_EQ(api().cuModuleLoadData(&module, code.data()), CUDA_SUCCESS);
  CUfunction function = nullptr;
  EXPECT_EQ(api().cuModuleGetFunction(&function, module, "kernel_0"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(api().cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(api().cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  api().nvrtcDestroyProgram(&program);
}

TEST(EmulatedModule, PlainCodeIsRefusedWhereAllIsChecked) {
  std::string text = "extern \"C\" __global__ void kernel_0(float *out) { out[0] = 1; }";
  Gpu(0, false).kernel(text);
  api().reset(1, 0);
  setenv("WEIR_EMULATED_MODE", "plain", 1);
  nvrtcProgram program = nullptr;
  api().nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr);
  ASSERT_EQ(api().nvrtcCompileProgram(program, 0, nullptr), NVRTC_SUCCESS);
  size_t size = 0;
  api().nvrtcGetCUBINSize(program, &size);
  std::vector<char> code(size);
  api().nvrtcGetCUBIN(program, code.data());
  api().nvrtcDestroyProgram(&program);
  CUmodule module = nullptr;
  EXPECT_EQ(api().cuModuleLoadData(&module, code.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST(EmulatedNvrtc, ErrorsComeWithALog) {
  nvrtcProgram program = nullptr;
  api().nvrtcCreateProgram(&program, "\nextern \"C\" __global__ void kernel_0() { wrong; }\n",
                           "kernel.cu", 0, nullptr, nullptr);
  EXPECT_EQ(api().nvrtcCompileProgram(program, 0, nullptr), NVRTC_ERROR_COMPILATION);
  size_t size = 0;
  api().nvrtcGetProgramLogSize(program, &size);
  std::string log(size, ' ');
  api().nvrtcGetProgramLog(program, log.data());
  EXPECT_NE(log.find("kernel.cu:2"), std::string::npos) << log;
  EXPECT_NE(log.find("wrong"), std::string::npos) << log;
  EXPECT_NE(api().nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
  api().nvrtcDestroyProgram(&program);
}

TEST(EmulatedReport, SectorsOfEachLaunch) {
  std::string path = testing::TempDir() + "/weir-emulated-report-" + std::to_string(getpid());
  std::remove(path.c_str());
  pid_t child = fork();
  if (child == 0) {
    // The environment is read where the library is opened: in a process that has not done so.
    setenv("WEIR_EMULATED_REPORT", path.c_str(), 1);
    execl("/proc/self/exe", "emulated-cuda-test", "--gtest_also_run_disabled_tests",
          "--gtest_filter=EmulatedReport.DISABLED_Launch", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::ifstream file(path);
  std::string name;
  unsigned read = 0, written = 0;
  file >> name >> read >> written;
  EXPECT_EQ(name, "kernel_0");
  EXPECT_EQ(read, 32u);   // 64 floats that are 16 bytes apart
  EXPECT_EQ(written, 8u); // 64 floats side by side
  std::remove(path.c_str());
}

TEST(EmulatedReport, DISABLED_Launch) {
  Gpu gpu;
  CUfunction kernel =
      gpu.kernel("extern \"C\" __global__ void kernel_0(const float *in, float *out) "
                 "{\n  out[threadIdx.x] = in[4 * threadIdx.x];\n}");
  CUdeviceptr out = gpu.memory(256);
  ASSERT_EQ(gpu.launch(kernel, 1, 64, Arguments(gpu.holding(ramp(256)), out)), CUDA_SUCCESS);
  EXPECT_EQ(gpu.synchronize(), CUDA_SUCCESS);
}

} // namespace
} // namespace weir::cuda

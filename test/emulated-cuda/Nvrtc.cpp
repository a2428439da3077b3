//===- Nvrtc.cpp - The stand-in's libnvrtc: its exported functions ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Api.h"
#include "test/emulated-cuda/HostCompiler.h"
#include "test/emulated-cuda/Planted.h"
#include <cstring>

namespace weir::cuda {

extern "C" {
#define WEIR_EMULATED_DECLARE(type, name, arguments)                                               \
  __attribute__((visibility("default"))) type name arguments;
WEIR_CUDA_NVRTC(WEIR_EMULATED_DECLARE)
#undef WEIR_EMULATED_DECLARE
}

struct _nvrtcProgram {
  emulated::Program program;
  emulated::Compiled compiled;
};

enum : nvrtcResult { NVRTC_ERROR_INVALID_INPUT = 3, NVRTC_ERROR_INVALID_PROGRAM = 4 };

extern "C" {

const char *nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
  case NVRTC_SUCCESS:
    return "NVRTC_SUCCESS";
  case NVRTC_ERROR_INVALID_INPUT:
    return "NVRTC_ERROR_INVALID_INPUT";
  case NVRTC_ERROR_INVALID_PROGRAM:
    return "NVRTC_ERROR_INVALID_PROGRAM";
  case NVRTC_ERROR_COMPILATION:
    return "NVRTC_ERROR_COMPILATION";
  case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
    return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
  case NVRTC_ERROR_INTERNAL_ERROR:
    return "NVRTC_ERROR_INTERNAL_ERROR";
  default:
    return "NVRTC_ERROR unknown";
  }
}

/// The minor version stands for the compiler, its options and the headers: who keeps code by the
/// version and the text alone never meets that of another emulation.
nvrtcResult nvrtcVersion(int *major, int *minor) {
  *major = 13;
  *minor = int(1000 + emulated::compilerVersion());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                               int headers, const char *const *headerTexts,
                               const char *const *headerNames) {
  if (!program || !source || headers < 0 || (headers && (!headerTexts || !headerNames)))
    return NVRTC_ERROR_INVALID_INPUT;
  auto *made = new _nvrtcProgram;
  made->program.name = name ? name : "default_program";
  made->program.text = source;
  for (int i = 0; i < headers; ++i)
    made->program.headers.emplace_back(headerNames[i], headerTexts[i]);
  *program = made;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  if (!program || !*program)
    return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int options, const char *const *texts) {
  if (!program)
    return NVRTC_ERROR_INVALID_PROGRAM;
  for (int i = 0; i < options; ++i) {
    std::string option = texts[i];
    if (option == "--ftz=true" || option == "-ftz=true")
      program->program.flushesToZero = true;
    if (option.rfind("--std=", 0) == 0)
      program->program.standard = option.substr(6);
    if (option.rfind("-D", 0) == 0)
      program->program.defines.push_back(option);
  }
  if (emulated::isPlanted("builtins"))
    return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  program->compiled = emulated::compileForHost(program->program);
  if (program->compiled.hasNoCompiler)
    return NVRTC_ERROR_INTERNAL_ERROR;
  return program->compiled.isRight ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
  if (!program)
    return NVRTC_ERROR_INVALID_PROGRAM;
  *size = program->compiled.log.size() + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
  if (!program)
    return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(log, program->compiled.log.c_str(), program->compiled.log.size() + 1);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
  if (!program || !program->compiled.isRight)
    return NVRTC_ERROR_INVALID_PROGRAM;
  *size = program->compiled.code.size();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *code) {
  if (!program || !program->compiled.isRight)
    return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(code, program->compiled.code.data(), program->compiled.code.size());
  return NVRTC_SUCCESS;
}

} // extern "C"

} // namespace weir::cuda

//===- Code.cpp - The kernels of a program, loaded --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Code.h"
#include "runtime/cuda/Compiler.h"
#include "support/Error.h"
#include <algorithm>
#include <map>
#include <set>

namespace weir::cuda {

[[noreturn]] static void reject(const std::string &why) {
  throw Failure(Exit::model, "the artifact's code for GPUs " + why + ": compile the model again");
}

static bool isIdentifier(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

const artifact::CudaCode *codeOf(const artifact::Program &program) {
  if (program.kernels()->size() == 0)
    return nullptr;
  const artifact::Blob &blob = *program.blobs()->Get(0);
  if (blob.format() != artifact::BlobFormat::cuda)
    reject("is of another kind");
  flatbuffers::Verifier verifier(blob.bytes()->data(), blob.bytes()->size());
  if (!verifier.VerifyBuffer<artifact::CudaCode>(artifact::CudaCodeIdentifier()))
    reject("is damaged");
  const auto *code = flatbuffers::GetRoot<artifact::CudaCode>(blob.bytes()->data());
  std::set<std::string> symbols;
  for (const artifact::CudaUnit *unit : *code->units()) {
    if (unit->symbols() && unit->symbols()->size() != unit->functions()->size())
      reject("has " + std::to_string(unit->symbols()->size()) + " symbols for functions: " +
             std::to_string(unit->functions()->size()) + " are expected");
    for (const flatbuffers::String *name : *unit->functions())
      if (!isIdentifier(name->string_view()))
        reject("has a function whose name is not an identifier");
    for (unsigned i = 0; i < unit->functions()->size(); ++i)
      if (std::string symbol = symbolOf(*unit, i); !symbols.insert(symbol).second)
        reject("has two kernels '" + symbol + "'");
  }
  for (const artifact::Kernel *kernel : *program.kernels())
    if (!symbols.contains(kernel->symbol()->str()))
      reject("has no kernel '" + kernel->symbol()->str() + "'");
  return code;
}

std::string symbolOf(const artifact::CudaUnit &unit, unsigned function) {
  return (unit.symbols() ? unit.symbols() : unit.functions())->Get(function)->str();
}

/// Whether machine code for one architecture runs on another: within a generation, on the same or a
/// later one.
static bool runsOn(int code, int device) { return code / 10 == device / 10 && code <= device; }

bool Code::load(const artifact::CudaUnit &unit, const void *image) {
  CUmodule module = nullptr;
  std::string first = unit.functions()->size() ? unit.functions()->Get(0)->str() : "no kernel";
  CUresult result = driver.cuModuleLoadData(&module, image);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_IMAGE)
    return false;
  check(driver, result, "loading the code of " + first);
  modules.emplace_back(module, Unload{&driver});
  for (unsigned i = 0; i < unit.functions()->size(); ++i) {
    CUfunction function = nullptr;
    std::string name = unit.functions()->Get(i)->str();
    CUresult found = driver.cuModuleGetFunction(&function, module, name.c_str());
    if (found == CUDA_ERROR_NOT_FOUND)
      reject("has no function '" + name + "'");
    check(driver, found, "looking for " + name);
    known.emplace_back(symbolOf(unit, i), function);
  }
  return true;
}

Code::Code(const Session &session, const std::string &folder, bool takesCubins,
           const artifact::Program &program)
    : driver(session.driver) {
  const artifact::CudaCode *code = codeOf(program);
  if (!code)
    return;
  std::vector<const artifact::CudaUnit *> rest;
  takesCubins &= runsOn(int(code->architecture()), session.architecture);
  for (const artifact::CudaUnit *unit : *code->units()) {
    std::vector<uint8_t> aligned;
    if (takesCubins && unit->cubin())
      aligned.assign(unit->cubin()->begin(), unit->cubin()->end());
    if (aligned.empty() || !load(*unit, aligned.data()))
      rest.push_back(unit);
  }
  if (!rest.empty()) {
    std::vector<Header> headers;
    for (const artifact::CudaHeader *header : *code->headers())
      headers.push_back({header->name()->str(), header->text()->str()});
    std::vector<std::string> sources;
    for (const artifact::CudaUnit *unit : rest)
      sources.push_back(unit->source()->str());
    const Nvrtc &nvrtc = openNvrtc(folder, session.driverVersion,
                                   "compile for the device at hand (--target cuda:sm_90) on a "
                                   "machine that has it");
    Compiler compiler(nvrtc, session.architecture, std::move(headers), folder,
                      Compiler::From::artifact);
    std::vector<Compiler::Cubin> cubins = compiler.compile(sources);
    for (size_t i = 0; i < rest.size(); ++i)
      if (!load(*rest[i], cubins[i].data()))
        throw Failure(Exit::device, "the GPU's driver does not load what NVRTC compiled for it: "
                                    "install a driver of NVRTC's version or a later one");
  }
  std::map<std::string_view, CUfunction> byName(known.begin(), known.end());
  for (const artifact::Kernel *kernel : *program.kernels())
    functions.push_back(byName.at(kernel->symbol()->string_view()));
}

} // namespace weir::cuda

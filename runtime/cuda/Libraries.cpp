//===- Libraries.cpp - CUDA's libraries, opened when they are needed --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Libraries.h"
#include "runtime/base/ElfFile.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace weir::cuda {
namespace {

/// The folders to look in, each with a slash behind it; "" is where the system looks.
std::vector<std::string> foldersOf(const std::string &folder, bool elsewhere) {
  if (!folder.empty())
    return {folder + "/"};
  std::vector<std::string> list = {""};
  const char *named = elsewhere ? std::getenv("WEIR_CUDA_LIBRARIES") : nullptr;
  for (std::string rest = named ? named : ""; !rest.empty();) {
    size_t end = std::min(rest.find(':'), rest.size());
    if (end)
      list.push_back(rest.substr(0, end) + "/");
    rest.erase(0, end + 1);
  }
  return list;
}

struct Wanted {
  const char *purpose; ///< "the NVIDIA driver"
  const char *remedy;
  std::vector<std::string> names; ///< the best first
  bool elsewhere;                 ///< whether WEIR_CUDA_LIBRARIES counts
};

/// "libcublasLt.so.13" and those of other versions: the one of the driver's first, older ones next,
/// which every driver serves, newer ones last.
std::vector<std::string> versionsOf(const std::string &name, int ofDriver) {
  constexpr int newest = 14, oldest = 12;
  std::vector<std::string> names;
  auto add = [&](int version) { names.push_back(name + std::to_string(version)); };
  for (int version = std::min(ofDriver, newest); version >= oldest; --version)
    add(version);
  for (int version = std::max(ofDriver + 1, oldest); version <= newest; ++version)
    add(version);
  return names;
}

/// The folders that were named, whose libraries are the tests': the loader takes a library of a
/// name that is loaded for any of that name.
std::set<std::string> &namedFolders() {
  static std::set<std::string> folders;
  return folders;
}

bool isFrom(void *library, const std::string &folder) {
  if (!folder.empty()) {
    namedFolders().insert(folder);
    return true;
  }
  link_map *map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map->l_name)
    return true;
  std::string path = map->l_name;
  return !namedFolders().contains(path.substr(0, path.rfind('/')));
}

/// A folder is named for the emulated GPU alone (emulatedFolder in CudaDevice.cpp).
std::string remedyFor(const std::string &folder, const Wanted &wanted) {
  if (folder.empty())
    return wanted.remedy;
  return concat("build the emulated GPU again: tools/dev/build release emulated-cuda (with a GPU: ",
                wanted.remedy, ")");
}

void *openLibrary(const std::string &folder, const Wanted &wanted) {
  std::string why;
  for (const std::string &name : wanted.names)
    for (const std::string &in : foldersOf(folder, wanted.elsewhere)) {
      if (std::string fault = in.empty() ? "" : faultOfLibrary(in + name); !fault.empty()) {
        why = concat(in, name, " ", fault);
        continue;
      }
      void *library = dlopen((in + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library && isFrom(library, folder))
        return library;
      if (why.empty())
        why = library ? name + " of the tests is loaded" : dlerror();
    }
  throw Failure(Exit::device, concat(wanted.purpose, " cannot be opened (", why,
                                     "): ", remedyFor(folder, wanted)));
}

template <class Library, class Fill>
const Library &openOnce(const std::string &folder, const Wanted &wanted, Fill &&fill) {
  static std::mutex mutex;
  static std::map<std::string, Library> opened;
  std::lock_guard lock(mutex);
  if (auto known = opened.find(folder); known != opened.end())
    return known->second;
  void *library = openLibrary(folder, wanted);
  Library functions;
  fill(functions, [&](const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol)
      throw Failure(Exit::device, concat(wanted.purpose, " has no ", name, ": it is too old, ",
                                         remedyFor(folder, wanted)));
    return symbol;
  });
  return opened.emplace(folder, functions).first->second;
}

} // namespace

#define WEIR_CUDA_FILL(type, name, arguments)                                                      \
  library.name = reinterpret_cast<decltype(library.name)>(symbol(#name));

const Driver &openDriver(const std::string &folder) {
  return openOnce<Driver>(folder,
                          {"the NVIDIA driver's library",
                           "install the driver of CUDA 13, or compile with --target cpu",
                           {"libcuda.so.1"},
                           false},
                          [](Driver &library, auto &&symbol) { WEIR_CUDA_DRIVER(WEIR_CUDA_FILL) });
}

const Nvrtc &openNvrtc(const std::string &folder, int driverVersion, const char *otherwise) {
  std::string remedy =
      std::string("install the CUDA toolkit, name its folder in WEIR_CUDA_LIBRARIES, or ") +
      otherwise;
  return openOnce<Nvrtc>(folder,
                         {"NVRTC, which compiles kernels,", remedy.c_str(),
                          versionsOf("libnvrtc.so.", driverVersion), true},
                         [](Nvrtc &library, auto &&symbol) { WEIR_CUDA_NVRTC(WEIR_CUDA_FILL) });
}

const CublasLt &openCublasLt(const std::string &folder, int driverVersion) {
  return openOnce<CublasLt>(
      folder,
      {"cuBLASLt, which multiplies matrices,",
       "install the CUDA toolkit, name its folder in WEIR_CUDA_LIBRARIES, or compile for no "
       "libraries (--target cuda+none)",
       versionsOf("libcublasLt.so.", driverVersion), true},
      [](CublasLt &library, auto &&symbol) { WEIR_CUDA_CUBLASLT(WEIR_CUDA_FILL) });
}

const Nccl &openNccl(const std::string &folder) {
  return openOnce<Nccl>(folder,
                        {"NCCL, by which several GPUs train together,",
                         "install NCCL 2.14 or newer (Debian's libnccl2, PyPI's nvidia-nccl-cu13), "
                         "name its folder in "
                         "WEIR_CUDA_LIBRARIES, or compile for one GPU",
                         {"libnccl.so.2"},
                         true},
                        [](Nccl &library, auto &&symbol) { WEIR_CUDA_NCCL(WEIR_CUDA_FILL) });
}

#undef WEIR_CUDA_FILL

/// What an error means to a user, and what helps against it.
struct Remedy {
  CUresult error;
  const char *text;
};
static constexpr char ownFault[] =
    "a fault of Weir's own, please report it with the model; CUDA_LAUNCH_BLOCKING=1 names the "
    "action that fails and its line";
static constexpr Remedy remedies[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, "compile with a smaller batch or model, or free the device"},
    {CUDA_ERROR_STUB_LIBRARY, "the toolkit's stub was opened instead of the driver's libcuda.so.1: "
                              "take its folder out of LD_LIBRARY_PATH"},
    {CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "install a newer driver"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE,
     "another process has the device for itself (nvidia-smi shows its compute mode)"},
    {CUDA_ERROR_NO_DEVICE,
     "this machine shows no GPU (is CUDA_VISIBLE_DEVICES set?); compile with --target cpu"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, ownFault},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, ownFault},
    {CUDA_ERROR_LAUNCH_TIMEOUT,
     "the device also serves a display, which ends long kernels: compile "
     "with a smaller batch, or use a device without one"},
    {CUDA_ERROR_ASSERT, ownFault},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, ownFault},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, ownFault},
    {CUDA_ERROR_MISALIGNED_ADDRESS, ownFault},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, ownFault},
    {CUDA_ERROR_LAUNCH_FAILED, ownFault},
    {CUDA_ERROR_SYSTEM_NOT_READY,
     "the machine's GPUs are not ready: is nvidia-fabricmanager running?"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
     "the driver's library and its kernel module differ: restart the machine after an update"},
};

static std::string driverRemedy(CUresult result) {
  for (const Remedy &remedy : remedies)
    if (remedy.error == result)
      return std::string(": ") + remedy.text;
  return "";
}

void check(const Driver &driver, CUresult result, const std::string &doing) {
  if (result == CUDA_SUCCESS)
    return;
  const char *name = nullptr;
  if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "an unknown error";
  throw Failure(Exit::device,
                doing + ": " + name + " (" + std::to_string(result) + ")" + driverRemedy(result));
}

} // namespace weir::cuda

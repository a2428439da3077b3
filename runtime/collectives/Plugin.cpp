//===- Plugin.cpp - Opening the plug-in that connects processes -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Plugin.h"
#include "runtime/base/ElfFile.h"
#include "support/Error.h"
#include "support/Text.h"
#include <dlfcn.h>
#include <filesystem>

namespace weir::collectives {

static constexpr const char *file = "libweir-gloo.so";

/// What builds it, in a checkout of Weir.
static constexpr const char *build = "build it with: tools/dev/build release weir-gloo";

static Failure unusable(const std::string &what) {
  return Failure(Exit::device,
                 concat("a run with several processes needs the plug-in ", file, ", ", what));
}

const LinksPlugin &linksPlugin() {
  static const LinksPlugin &opened = []() -> const LinksPlugin & {
    std::error_code none;
    std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none),
                          path = program.parent_path() / file;
    if (!std::filesystem::exists(path, none))
      throw unusable(concat("which is not in the directory of ", program.filename().string(), ", ",
                            program.parent_path().string(), "; ", build));
    if (std::string fault = faultOfLibrary(path); !fault.empty())
      throw unusable(concat("but ", path.string(), " ", fault, "; ", build));
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw unusable(concat("which cannot be loaded (", dlerror(),
                            "): it needs Gloo and OpenSSL; install Debian's packages libgloo0 and "
                            "libssl3; if they are installed, the file is damaged: ",
                            build));
    auto *plugin = static_cast<const LinksPlugin *>(dlsym(library, "weirLinks"));
    if (!plugin || plugin->version != LinksPlugin::currentVersion)
      throw unusable(concat("but ", path.string(), " is from another build of Weir; ", build));
    return *plugin;
  }();
  return opened;
}

} // namespace weir::collectives

//===- Plugin.cpp - Opening what connects processes -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Plugin.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <dlfcn.h>
#include <filesystem>

namespace weir::collectives {

static constexpr const char *file = "libweir-gloo.so";

static Failure notToBeHad(const std::string &reason) {
  return Failure(Exit::device,
                 concat("what connects processes is not to be had (", reason, "): it is ", file,
                        " beside the program, and needs Gloo and OpenSSL (Debian's libgloo0 and "
                        "libssl3)"));
}

const LinksPlugin &linksPlugin() {
  static const LinksPlugin &opened = []() -> const LinksPlugin & {
    std::error_code none;
    std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    void *library = dlopen((folder / file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw notToBeHad(dlerror());
    auto *plugin = static_cast<const LinksPlugin *>(dlsym(library, "weirLinks"));
    if (!plugin || plugin->version != LinksPlugin::currentVersion)
      throw notToBeHad(concat((folder / file).string(), " is of another build of Weir"));
    return *plugin;
  }();
  return opened;
}

} // namespace weir::collectives

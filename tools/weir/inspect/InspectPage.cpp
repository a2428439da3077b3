//===- InspectPage.cpp - weir inspect --html ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/InspectPage.h"
#include "artifact/Reader.h"
#include "runtime/run/resume/OverwriteCheck.h"
#include "support/Error.h"
#include "tools/common/Files.h"
#include "tools/weir/page/Page.h"
#include "tools/weir/page/PageFacts.h"

namespace weir {

void inspectPage(const std::string &path, const std::string &output,
                 const std::vector<std::string> &models) {
  std::vector<std::byte> bytes = readUndamagedArtifact(path);
  const artifact::Program &program = artifact::verify(bytes);
  std::vector<NamedPath> read = {namedByOption("ARTIFACT", path)};
  for (const flatbuffers::String *file : *program.files())
    read.push_back(namedByOption("MODEL", file->str()));
  for (const std::string &model : models)
    read.push_back(namedByOption("--model", model));
  if (output != "-")
    checkOverwrites({namedByOption("--html", output)}, read);
  // An older artifact may keep kernels in a form that is read no more: the rest of it is known.
  PageTypes types;
  try {
    types.kernels = kernelElements(bytes);
  } catch (const Failure &failure) {
    types.whyNone = failure.what();
  }
  writeFile(output, pageOf(pageFacts(program, types, readSources(program, path, models))));
}

} // namespace weir

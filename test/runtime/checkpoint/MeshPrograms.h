//===- MeshPrograms.h - One model on several meshes -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_CHECKPOINT_MESHPROGRAMS_H
#define WEIR_TEST_RUNTIME_CHECKPOINT_MESHPROGRAMS_H

#include "runtime/core/Program.h"
#include "runtime/devices/MeshDevice.h"
#include "runtime/null/NullDevice.h"
#include "support/mesh/Layout.h"
#include "test/runtime/core/TestProgram.h"

namespace weir {

struct MeshVariable {
  std::string name;
  std::vector<int64_t> shape;
  std::string layout = ""; ///< "": each rank has it
  artifact::Role role = artifact::Role::parameter;
  artifact::DType dtype = artifact::DType::f32;
};

/// The ranks and the processes of "dp=4,tp=2 on dp=2", or of "dp=4,tp=2", where each is one.
inline std::pair<std::string, std::string> meshAndHosts(const std::string &text) {
  size_t at = text.find(" on ");
  return at == std::string::npos ? std::pair(text, std::string())
                                 : std::pair(text.substr(0, at), text.substr(at + 4));
}

inline int64_t processesOf(const std::string &text) {
  auto [mesh, hosts] = meshAndHosts(text);
  return std::get<Mesh>(Mesh::parse(hosts.empty() ? mesh : hosts)).ranks();
}

/// A program that computes nothing, of ranks that have their shares of the variables.
inline std::vector<std::byte> meshProgram(const std::string &text,
                                          const std::vector<MeshVariable> &variables) {
  auto [mesh, hosts] = meshAndHosts(text);
  if (mesh.empty()) {
    TestProgram test;
    for (const MeshVariable &variable : variables)
      test.variable(variable.name, variable.shape, variable.dtype, variable.role);
    return test.file();
  }
  Mesh parsed = std::get<Mesh>(Mesh::parse(mesh));
  std::vector<TestProgram> programs;
  std::vector<std::vector<uint64_t>> sizes;
  std::vector<uint32_t> programOf;
  for (int64_t rank = 0; rank < parsed.ranks(); ++rank) {
    TestProgram test;
    test.program.mesh = mesh;
    test.program.hosts = hosts;
    test.program.rank = uint64_t(rank);
    std::vector<uint64_t> own;
    for (const MeshVariable &variable : variables) {
      std::vector<int64_t> shape = variable.shape;
      if (!variable.layout.empty())
        shape = Layout::parse(variable.layout, parsed)->shape(parsed, rank);
      artifact::VariableT &made =
          *test.program
               .variables[test.variable(variable.name, shape, variable.dtype, variable.role)];
      own.push_back(made.size);
      made.shape = variable.shape;
      made.layout = variable.layout;
    }
    auto found = std::ranges::find(sizes, own);
    programOf.push_back(uint32_t(found - sizes.begin()));
    if (found == sizes.end()) {
      sizes.push_back(own);
      programs.push_back(std::move(test));
    }
  }
  if (programs.size() > 1)
    programs[0].program.program_of = programOf;
  for (size_t i = 1; i < programs.size(); ++i)
    programs[0].program.others.push_back(
        std::make_unique<artifact::ProgramT>(std::move(programs[i].program)));
  return programs[0].file();
}

inline std::unique_ptr<Program> loaded(const std::string &mesh,
                                       const std::vector<MeshVariable> &variables,
                                       Group *group = nullptr) {
  MakeDevice make = [](const artifact::Program &program, const DeviceOptions &options) {
    return program.mesh() ? makeMeshDevice(program, options, null::makeDevice)
                          : null::makeDevice(program, options);
  };
  return std::make_unique<Program>(
      meshProgram(mesh, variables), make,
      ProgramOptions{.device = {.group = group}, .entriesAlone = true});
}

} // namespace weir

#endif

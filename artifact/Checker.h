//===- Checker.h - The semantic rules of an artifact ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the reader. Ranges are always compared as `size > room - offset` after `offset <=
// room`, so that nothing wraps.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_CHECKER_H
#define WEIR_ARTIFACT_CHECKER_H

#include "artifact/Artifact_generated.h"
#include "artifact/Reader.h"
#include "support/program/Limits.h"
#include <string>

namespace weir::artifact {

constexpr uint64_t maxDim = uint64_t(1) << 31;
constexpr uint64_t maxTasks = uint64_t(1) << 31;
constexpr uint64_t maxSteps = (uint64_t(1) << 31) - 1;

/// Throws Failure{Exit::model} unless the name is of characters of which none is a control: it is
/// printed, and written into files of UTF-8. Only an `optional` one may be empty.
void requireName(const std::string &where, const flatbuffers::String *name, bool optional = false);

/// What is wrong with a type that the schema does not have.
std::string unknownType(DType dtype);

/// Vectors of structs and of 8-byte numbers: the FlatBuffers verifier looks at where a vector
/// begins, not at where its elements do.
template <class Vector> bool isAligned(const Vector *vector) {
  return !vector || vector->size() == 0 ||
         reinterpret_cast<uintptr_t>(vector->Data()) % alignof(int64_t) == 0;
}

/// Throws Failure{Exit::model} with `where: what` and the advice to compile again.
[[noreturn]] void reject(const std::string &where, const std::string &what);

/// Program-wide rules, then those of each entry.
class ProgramChecker {
public:
  explicit ProgramChecker(const Program &program) : program(program) {}
  void check();
  /// Of a whole file, behind check(): that each rank runs a program of its sizes.
  void checkRanks();
  /// As well: that its programs for other meshes are whole, and of the same training.
  void checkAlternatives();

private:
  void checkDevices();
  void checkMesh();
  void checkOthers();
  void checkVariables();
  void checkConfigs();
  void checkTied();
  void checkChoices();
  void checkKeeping();
  void checkPlacements();
  void checkKernels();
  void checkPart(const std::string &where, const Kernel &kernel, const Kernel *before);
  void checkFlops(const std::string &where, const Kernel &kernel);
  void checkTensors(const std::string &where, const Kernel &kernel);
  void checkNames();
  void checkActions(const std::string &where,
                    const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions, int depth);
  void checkLocation(const std::string &where, const Location *location);

  const Program &program;
};

/// The rules of one entry: its ports and actions, then what verify-planned proves of it.
class EntryChecker {
public:
  EntryChecker(const Program &program, const Entry &entry);
  void check();

private:
  void checkBuffers();
  void checkPorts(const flatbuffers::Vector<flatbuffers::Offset<Port>> &ports, bool input);
  void checkActions(const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions,
                    uint32_t depth);
  void checkAction(const Action &action, uint32_t depth);
  void checkWork(const Action &action);
  void checkCollective(const Collective &collective) const;
  void checkTransfer(const Transfer &transfer) const;
  void checkRef(const std::string &name, const Ref &ref);
  /// Of a ref that has been checked: whether it is where the host keeps what devices have no room
  /// for.
  bool isOfHost(const Ref &ref) const;
  void checkFlops() const;

  void require(bool holds, const std::string &what) const;
  std::string place() const;

  const Program &program;
  const Entry &entry;
  uint32_t current = 0; ///< the action being checked, by its number
  const char *kind = "";
};

} // namespace weir::artifact

#endif

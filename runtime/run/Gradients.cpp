//===- Gradients.cpp - The gradients of a run's last step -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Gradients.h"
#include "artifact/Reader.h"
#include "runtime/checkpoint/Tensors.h"
#include "support/Text.h"
#include "support/program/Names.h"
#include <cstring>
#include <fcntl.h>
#include <filesystem>

namespace weir {
namespace {

/// What is asked for by name is written anew, and may be no regular file.
class PlainDisk : public Disk {
public:
  int create(const std::string &path) override {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  int sync(int) override { return 0; }
};

size_t bytesOf(const artifact::Port &port) {
  uint64_t size = 0;
  artifact::tensorSize(port.dtype(), *port.shape(), size);
  return size;
}

} // namespace

Gradients::Gradients(Program &program, const artifact::Entry &step, std::string path)
    : program(program), step(step), path(std::move(path)) {
  for (const artifact::Port *port : *step.outputs()) {
    std::string_view name = port->name()->string_view();
    if (port->kind() != artifact::PortKind::tensor || !name.starts_with(gradientPrefix))
      continue;
    if (port->dtype() != artifact::DType::f32)
      throw Failure(Exit::model, concat("the output '", name, "' is not a float32 tensor"));
    Kept kept{port, {}, std::vector<std::byte>(bytesOf(*port))};
    kept.tensor.name = name.substr(std::string_view(gradientPrefix).size());
    kept.tensor.dtype = rowOf(artifact::elementOf(port->dtype())).safetensors;
    kept.tensor.shape.assign(port->shape()->begin(), port->shape()->end());
    kept.tensor.data = kept.bytes.data();
    kept.tensor.size = kept.bytes.size();
    all.push_back(std::move(kept));
  }
  if (all.empty())
    throw Failure(
        Exit::usage,
        concat("--gradients ", this->path, ": the artifact of '", program.plan().model()->str(),
               "' does not output its gradients; compile it with `weir compile --gradients`"));
}

void Gradients::create() const {
  PlainDisk disk;
  FileWriter(disk, path).finish();
}

void Gradients::keep() {
  for (Kept &kept : all)
    program.read(step, *kept.port, std::as_writable_bytes(std::span(kept.bytes)));
  any = true;
}

bool Gradients::write() const {
  if (!any) {
    std::error_code error;
    // /dev/null stays, and so does a link.
    if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error)))
      std::filesystem::remove(path, error);
    return false;
  }
  std::vector<StoredTensor> tensors;
  for (const Kept &kept : all)
    tensors.push_back(kept.tensor);
  PlainDisk disk;
  FileWriter file(disk, path);
  writeSafeTensors(file, tensors);
  file.finish();
  return true;
}

} // namespace weir

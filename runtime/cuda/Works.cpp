//===- Works.cpp - Actions as calls of the driver ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Works.h"
#include "support/Error.h"

namespace weir::cuda {

void QueuedWork::bind(std::span<const Address> operands) {
  places.assign(operands.begin(), operands.end());
  for (Address place : places)
    if (place >= machine.arenaEnd)
      throw Failure(Exit::model, "the artifact's " + what +
                                     " works on the host's memory, which a GPU only copies from "
                                     "and to: compile the model again");
}

LaunchWork::LaunchWork(Machine &machine, uint32_t queue, std::string what, CUfunction function,
                       const artifact::Kernel &kernel)
    : QueuedWork(machine, queue, std::move(what)), function(function), kernel(kernel),
      pointers(kernel.operands()->size()) {
  // They lie side by side: a kernel may take all of them as one struct, at the first's place.
  for (CUdeviceptr &pointer : pointers)
    arguments.push_back(&pointer);
  // Above this a kernel has to be told.
  constexpr uint32_t usualShared = 48 << 10;
  if (kernel.shared() > usualShared)
    check(driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      int(kernel.shared())));
}

void LaunchWork::bind(std::span<const Address> operands) {
  QueuedWork::bind(operands);
  for (size_t i = 0; i < pointers.size(); ++i)
    pointers[i] = at(i);
}

void LaunchWork::enqueue() {
  check(driver().cuLaunchKernel(function, unsigned(kernel.tasks()), 1, 1, kernel.threads(), 1, 1,
                                kernel.shared(), stream, arguments.data(), nullptr));
}

void ProductWork::enqueue() {
  auto ifThere = [&](bool isThere, size_t operand) { return isThere ? at(operand) : 0; };
  size_t scale = spec.scalesAt();
  product.run({at(0), at(1), at(2), ifThere(spec.bias, 3), ifThere(spec.isScaled(), scale),
               ifThere(spec.isScaled(), scale + 1)},
              workspace, stream);
}

void CopyWork::bind(std::span<const Address> operands) {
  places.assign(operands.begin(), operands.end());
  if (places[0] >= machine.arenaEnd && places[1] >= machine.arenaEnd)
    throw Failure(Exit::model, "the artifact's " + what +
                                   " is on the host, where a GPU does none: "
                                   "compile the model again");
  if (overlaps() && !between)
    between.emplace(machine.session, size, "a copy");
}

void CopyWork::within(CUdeviceptr to, CUdeviceptr from) {
  check(driver().cuMemcpyDtoDAsync_v2(to, from, size, stream));
}

void CopyWork::enqueue() {
  auto [from, to] = std::pair(places[0], places[1]);
  if (from >= machine.arenaEnd)
    return check(driver().cuMemcpyHtoDAsync_v2(at(1), machine.onHost(from), size, stream));
  if (to >= machine.arenaEnd)
    return check(driver().cuMemcpyDtoHAsync_v2(machine.onHost(to), at(0), size, stream));
  if (from == to)
    return;
  if (!overlaps())
    return within(at(1), at(0));
  within(between->at, at(0));
  within(at(1), between->at);
}

} // namespace weir::cuda

//===- Rendezvous.h - Where emulated devices meet -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of a communicator, in which each member leaves what it has for the others: the same for
// threads of one process and for several. A file is there as a whole or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_RENDEZVOUS_H
#define WEIR_TEST_EMULATED_CUDA_RENDEZVOUS_H

#include <cstdint>
#include <optional>
#include <string>

namespace weir::emulated {

class Rendezvous {
public:
  /// `name` is the folder's, which is made.
  Rendezvous(const std::string &name, int members, int own);

  /// Under a number, for all others.
  void leave(int64_t number, const std::string &bytes) const;
  bool allHaveLeft(int64_t number) const;
  /// What a member has left, which is there.
  std::string of(int member, int64_t number) const;
  void remove(int64_t number) const;

  /// This member has ended before its time.
  void abandon() const;
  bool isAbandoned() const;

  /// This member needs nothing more. The last one removes the folder: others may be reading.
  void close() const;

  /// A name that nobody else has, in a folder for temporary files.
  static std::string newName();

private:
  std::string path(int member, int64_t number) const;
  std::string folder;
  int members, own;
};

} // namespace weir::emulated

#endif

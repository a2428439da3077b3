//===- Links.h - Bytes from one process to another ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a plugin brings (Plugin.h): connections between each two of some processes, and the
// cryptography of their rendezvous. Header only: the plugin links nothing of the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_LINKS_H
#define WEIR_RUNTIME_COLLECTIVES_LINKS_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir::collectives {

/// Memory that is on its way, one way at a time. Let go of, what has not come never comes.
class Parcel {
public:
  virtual ~Parcel() = default;
  /// What is sent is received under the same tag, in the order of sending, with the same size.
  virtual void send(int64_t peer, uint64_t tag) = 0;
  virtual void receive(int64_t peer, uint64_t tag) = 0;
  /// Returns when it is done; false where it was stopped. Throws std::exception where the
  /// connection is broken.
  virtual bool waitSent() = 0;
  virtual bool waitReceived() = 0;
  /// Who waits, or will, stops. By another thread.
  virtual void stop() = 0;
};

/// One process's connections to all others.
class Links {
public:
  virtual ~Links() = default;
  /// Where each other rank, at its number, reaches this one.
  virtual std::vector<std::string> addresses() const = 0;
  /// Connects, with the addresses that the others have for this one. Blocks until all have. Throws
  /// std::exception.
  virtual void connect(const std::vector<std::string> &addresses) = 0;
  /// The memory outlives the parcel.
  virtual std::unique_ptr<Parcel> parcel(void *memory, size_t size) = 0;
};

/// The one thing that a plugin exports, under the name "weirLinks".
struct LinksPlugin {
  static constexpr uint32_t currentVersion = 1;
  uint32_t version;
  const char *name; ///< for messages
  /// Binds to `interface`, a numeric address of this machine. Throws std::exception.
  std::unique_ptr<Links> (*make)(int64_t rank, int64_t size, const std::string &interface);
  /// HMAC-SHA256, 32 bytes.
  std::string (*hmac)(const std::string &secret, const std::string &message);
  std::string (*random)(size_t bytes);
};

} // namespace weir::collectives

#endif

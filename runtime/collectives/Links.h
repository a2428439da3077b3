//===- Links.h - Bytes from one process to another ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a plugin brings (Plugin.h): connections between each two of some processes, and the
// cryptography of their rendezvous. Header only: the plugin links nothing of the runtime.
// docs/decisions/0055 says what a SecureStream protects against.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_LINKS_H
#define WEIR_RUNTIME_COLLECTIVES_LINKS_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::collectives {

/// Memory that is on its way, one way at a time. Once it is destroyed, nothing more is written to
/// the memory. It must be destroyed before its links.
class Buffer {
public:
  virtual ~Buffer() = default;
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
  struct Settings {
    int64_t rank, size;
    std::string interface;   ///< to bind to: a numeric address of this machine
    std::string secret = {}; ///< "": what is sent is not encrypted
    /// All ranks are processes of this user on this machine: connections are Unix sockets, of which
    /// the kernel says whose process is at the other end. Without this and without a secret,
    /// nothing is proved.
    bool isOneUser = false;
    std::string run = {}; ///< a short name, the same on all ranks and in no other run
    std::chrono::milliseconds patience = std::chrono::minutes(1); ///< to connect
  };

  virtual ~Links() = default;
  /// Where each other rank, at its number, reaches this one.
  virtual std::vector<std::string> addresses() const = 0;
  /// Connects, with the addresses that the others have for this one. Blocks until all have. Throws
  /// std::exception.
  virtual void connect(const std::vector<std::string> &addresses) = 0;
  /// The memory outlives the buffer.
  virtual std::unique_ptr<Buffer> buffer(void *memory, size_t size) = 0;
};

/// One end of a TLS 1.3 connection whose ends prove to each other that they know a secret. It has
/// no socket, and never waits: a Channel moves the bytes.
class SecureStream {
public:
  enum class End : uint8_t { client, server };
  /// Why nothing comes any more. Ahead of the proof anybody can cause each of them.
  enum class Fault : uint8_t {
    none,
    notTls,      ///< the other end speaks something else
    otherSecret, ///< it knows the name, and another secret
    unproved,    ///< it does not know the name, or the handshake fails otherwise
    forged       ///< behind the proof: bytes that the other end has not sent
  };

  virtual ~SecureStream() = default;
  /// Takes what has come over the socket, and adds what it says to `plain`: nothing ahead of the
  /// proof. False where there is a fault, which stays.
  virtual bool receive(std::string_view wire, std::string &plain) = 0;
  /// What is sent ahead of the proof waits for it.
  virtual void send(std::string_view plain) = 0;
  /// Moves what has to go over the socket to the end of `wire`.
  virtual void drain(std::string &wire) = 0;
  virtual bool isProved() const = 0;
  virtual Fault fault() const = 0;
};

/// The one thing that a plugin exports, under the name "weirLinks".
struct LinksPlugin {
  static constexpr uint32_t currentVersion = 4;
  uint32_t version;
  const char *name; ///< for messages
  /// Over TLS with a secret, over Unix sockets of one user, or else Gloo's. Throws std::exception.
  std::unique_ptr<Links> (*make)(const Links::Settings &settings);
  /// `name` says in the clear which secret is meant, and both ends give the same. Throws
  /// std::exception.
  std::unique_ptr<SecureStream> (*secure)(SecureStream::End end, const std::string &secret,
                                          const std::string &name);
  /// 32 bytes. Throws std::exception.
  std::string (*sha256)(std::span<const std::byte> bytes);
};

} // namespace weir::collectives

#endif

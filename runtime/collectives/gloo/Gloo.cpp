//===- Gloo.cpp - Links over Gloo -----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plugin. Of Gloo the pairs of its TCP transport are used and no collective: they move bytes, and
// what ranks make of these is in their programs. SecureLinks.h has the connections that prove who
// is at the other end.
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Links.h"
#include "runtime/collectives/gloo/SecureLinks.h"
#include "runtime/collectives/gloo/Tls.h"
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#include <netinet/in.h>
#include <stdexcept>

namespace weir::collectives {
namespace {

using std::chrono::milliseconds;

/// Who waits for data is stopped by others, at once or never.
constexpr milliseconds forEver = std::chrono::hours(24 * 365);

/// Gloo gives out a sockaddr_storage whole, of which an address fills the first bytes: behind them
/// is what the stack had there, which is nobody's business.
std::string withoutRest(std::vector<char> bytes) {
  sockaddr_storage storage;
  if (bytes.size() < sizeof storage)
    throw std::runtime_error(
        "Gloo's address format differs from the one that this plug-in was built for");
  std::memcpy(&storage, bytes.data(), sizeof storage);
  size_t used = storage.ss_family == AF_INET    ? offsetof(sockaddr_in, sin_zero)
                : storage.ss_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                : sizeof storage;
  std::fill(bytes.begin() + ptrdiff_t(used), bytes.begin() + sizeof storage, '\0');
  return {bytes.begin(), bytes.end()};
}

class GlooBuffer : public Buffer {
public:
  explicit GlooBuffer(std::unique_ptr<gloo::transport::UnboundBuffer> buffer)
      : buffer(std::move(buffer)) {}

  void send(int64_t peer, uint64_t tag) override { buffer->send(int(peer), tag); }
  void receive(int64_t peer, uint64_t tag) override { buffer->recv(int(peer), tag); }
  bool waitSent() override { return buffer->waitSend(forEver); }
  bool waitReceived() override { return buffer->waitRecv(forEver); }
  void stop() override {
    buffer->abortWaitSend();
    buffer->abortWaitRecv();
  }

private:
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
};

class GlooLinks : public Links {
public:
  explicit GlooLinks(const Settings &settings) : rank(settings.rank), size(settings.size) {
    gloo::transport::tcp::attr attr;
    attr.hostname = settings.interface;
    context = gloo::transport::tcp::CreateDevice(attr)->createContext(int(rank), int(size));
    context->setTimeout(settings.patience / 5); // to connect, Gloo takes five times as long
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank)
        context->createPair(peer);
  }

  ~GlooLinks() override {
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank)
        context->getPair(peer)->close();
  }

  std::vector<std::string> addresses() const override {
    std::vector<std::string> all(size);
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank) {
        all[peer] = withoutRest(context->getPair(peer)->address().bytes());
      }
    return all;
  }

  void connect(const std::vector<std::string> &addresses) override {
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank)
        try {
          context->getPair(peer)->connect({addresses[peer].begin(), addresses[peer].end()});
        } catch (const std::exception &error) {
          throw std::runtime_error("rank " + std::to_string(peer) +
                                   " cannot be reached: " + error.what());
        }
  }

  std::unique_ptr<Buffer> buffer(void *memory, size_t bytes) override {
    return std::make_unique<GlooBuffer>(context->createUnboundBuffer(memory, bytes));
  }

private:
  const int64_t rank, size;
  std::shared_ptr<gloo::transport::Context> context;
};

std::unique_ptr<Links> makeLinks(const Links::Settings &settings) {
  if (settings.secret.empty() && !settings.isOneUser)
    return std::make_unique<GlooLinks>(settings);
  return makeSecureLinks(settings);
}

} // namespace
} // namespace weir::collectives

extern "C" __attribute__((visibility("default"))) const weir::collectives::LinksPlugin weirLinks = {
    weir::collectives::LinksPlugin::currentVersion, "Gloo", weir::collectives::makeLinks,
    weir::collectives::makeSecure, weir::collectives::sha256};

//===- TlsTest.cpp - TLS with a pre-shared key ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/gloo/Tls.h"
#include <functional>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

using namespace weir::collectives;

namespace {

using End = SecureStream::End;
using Fault = SecureStream::Fault;

constexpr char secret[] = "sixteen letters!", name[] = "weir test";

/// One end, what it has sent, and what it has been told.
struct OneEnd {
  explicit OneEnd(End end, const std::string &secret = ::secret, const std::string &name = ::name)
      : stream(makeSecure(end, secret, name)) {}

  std::string drain() {
    std::string wire;
    stream->drain(wire);
    sent += wire;
    return wire;
  }
  bool receive(const std::string &wire) { return stream->receive(wire, told); }
  bool isProved() const { return stream->isProved(); }

  std::unique_ptr<SecureStream> stream;
  std::string sent, told;
};

/// Moves bytes both ways until there are none.
void talk(OneEnd &client, OneEnd &server) {
  while (true) {
    std::string there = client.drain(), back = server.drain();
    if (there.empty() && back.empty())
      return;
    server.receive(there);
    client.receive(back);
  }
}

struct Both {
  Both() { talk(client, server); }
  OneEnd client{End::client}, server{End::server};
};

/// One end as OpenSSL has it, to be set up otherwise.
class Other {
public:
  Other(const SSL_METHOD *method, const std::function<void(SSL_CTX *)> &change)
      : context(SSL_CTX_new(method)) {
    change(context);
    ssl = SSL_new(context);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  }
  ~Other() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
  bool connectTo(OneEnd &own) {
    SSL_set_connect_state(ssl);
    return shakeHands(own);
  }
  bool acceptFrom(OneEnd &own) {
    SSL_set_accept_state(ssl);
    return shakeHands(own);
  }

private:
  /// Whether either end takes it for done.
  bool shakeHands(OneEnd &own) {
    int done = 0;
    for (int turn = 0; turn < 6; ++turn) {
      done = SSL_do_handshake(ssl);
      std::string wire(BIO_ctrl_pending(SSL_get_wbio(ssl)), '\0');
      BIO_read(SSL_get_wbio(ssl), wire.data(), int(wire.size()));
      own.receive(wire);
      wire = own.drain();
      BIO_write(SSL_get_rbio(ssl), wire.data(), int(wire.size()));
    }
    return done == 1 || own.isProved();
  }

  SSL_CTX *context;
  SSL *ssl;
};

void useCertificate(SSL_CTX *context) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  ASSERT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
  ASSERT_EQ(SSL_CTX_use_certificate(context, certificate), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context, key), 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

/// What HKDF-SHA384 makes of `secret` without salt, and of the info "weir tls psk 1 weir test": by
/// openssl kdf -keylen 48 -kdfopt digest:SHA384 -kdfopt key:... -kdfopt info:... HKDF
constexpr unsigned char key[] = {
    0x65, 0x37, 0xFD, 0x74, 0xB1, 0x6C, 0x52, 0xEA, 0xB2, 0xE8, 0x15, 0x0A, 0xA5, 0xE6, 0xB4, 0x4C,
    0xD5, 0xE2, 0xE9, 0xD3, 0xB0, 0xAF, 0x8D, 0xAC, 0xFB, 0xBF, 0x4C, 0x58, 0x8A, 0x7F, 0xED, 0xCD,
    0x8E, 0xB2, 0x90, 0x04, 0x06, 0xC8, 0x3F, 0x6C, 0xEA, 0x07, 0xF0, 0xC9, 0xCE, 0x97, 0x38, 0x7E};

template <unsigned char last>
int useKey(SSL *ssl, const EVP_MD *, const unsigned char **identity, size_t *size,
           SSL_SESSION **session) {
  const unsigned char suite[] = {0x13, last};
  *identity = reinterpret_cast<const unsigned char *>(name);
  *size = sizeof name - 1;
  *session = SSL_SESSION_new();
  SSL_SESSION_set1_master_key(*session, key, sizeof key);
  SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, suite));
  SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION);
  return 1;
}

} // namespace

TEST(Tls, EndsProveToEachOtherThatTheyKnowTheSecret) {
  OneEnd client(End::client), server(End::server);
  client.stream->send("hello");
  EXPECT_FALSE(client.isProved());
  talk(client, server);
  EXPECT_TRUE(client.isProved());
  EXPECT_TRUE(server.isProved());
  EXPECT_EQ(server.told, "hello");
  server.stream->send("welcome");
  talk(client, server);
  EXPECT_EQ(client.told, "welcome");
  for (const OneEnd *end : {&client, &server})
    for (const char *word : {"hello", "welcome", secret})
      EXPECT_EQ(end->sent.find(word), std::string::npos) << word;
  // What a stranger may send bounds the handshake (Message::mostOfStranger).
  EXPECT_LT(client.sent.size(), 700u);
  EXPECT_LT(server.sent.size(), 700u);
}

TEST(Tls, MuchGoesThroughInPieces) {
  Both both;
  std::string much;
  for (size_t i = 0; i < 5000000; ++i)
    much += char(i * i >> 7);
  both.server.stream->send(much);
  std::string wire = both.server.drain();
  for (size_t at = 0; at < wire.size(); at += 1000)
    ASSERT_TRUE(both.client.receive(wire.substr(at, 1000)));
  EXPECT_TRUE(both.client.told == much);
}

/// A key is good for so many records: another one follows, and both ends go on.
TEST(Tls, KeysAreReplaced) {
  Both both;
  size_t updates = 0, bytes = 0;
  for (int turn = 0; turn < 1100; ++turn) {
    for (int i = 0; i < 1000; ++i)
      both.client.stream->send("x");
    std::string wire = both.client.drain();
    // Nothing else is as long: a KeyUpdate of 5 bytes, the kind and the tag (RFC 8446, 5.2).
    for (size_t at = 0; at < wire.size(); at += 5 + uint8_t(wire[at + 4]))
      updates += wire[at + 4] == 5 + 1 + 16;
    ASSERT_TRUE(both.server.receive(wire));
    bytes += both.server.told.size();
    both.server.told.clear();
    both.client.sent.clear();
  }
  EXPECT_EQ(bytes, 1100000u);
  EXPECT_EQ(updates, 1u);
  both.server.stream->send("welcome");
  talk(both.client, both.server);
  EXPECT_EQ(both.client.told, "welcome");
}

TEST(Tls, AnotherSecretOrNameProvesNothing) {
  for (auto [secret, name, fault] : {std::tuple("another one, as long", ::name, Fault::otherSecret),
                                     std::tuple(::secret, "weir another", Fault::unproved)}) {
    OneEnd client(End::client, secret, name), server(End::server);
    client.stream->send("hello");
    server.stream->send("welcome");
    talk(client, server);
    EXPECT_EQ(client.stream->fault(), fault);
    EXPECT_EQ(server.stream->fault(), fault);
    EXPECT_FALSE(client.isProved() || server.isProved());
    EXPECT_EQ(client.told + server.told, "");
  }
}

TEST(Tls, NothingElseIsSpoken) {
  for (End end : {End::client, End::server})
    for (const std::string &words :
         {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100, '\0'), std::string("\xff")}) {
      OneEnd one(end);
      EXPECT_FALSE(one.receive(words));
      EXPECT_EQ(one.stream->fault(), Fault::notTls);
      EXPECT_FALSE(one.receive("more"));
      EXPECT_EQ(one.told, "");
    }
}

TEST(Tls, HalfAHandshakeIsNone) {
  const std::string hello = OneEnd(End::client).drain();
  for (size_t size = 1; size < hello.size(); ++size) {
    OneEnd server(End::server);
    EXPECT_TRUE(server.receive(hello.substr(0, size)));
    EXPECT_EQ(server.drain(), "");
    EXPECT_FALSE(server.isProved());
  }
  // And what only begins like one ends it.
  for (size_t at = 9; at < 45; ++at) { // behind the lengths
    OneEnd server(End::server);
    server.receive(hello.substr(0, at) + std::string(hello.size() - at, '\xee'));
    EXPECT_EQ(server.stream->fault(), Fault::unproved) << at;
  }
}

TEST(Tls, WhatIsChangedOnTheWayIsNotTaken) {
  for (size_t at = 0;; ++at) {
    Both both;
    both.server.stream->send("an artifact");
    std::string wire = both.server.drain();
    if (at == wire.size())
      break;
    wire[at] ^= 1;
    both.client.receive(wire);
    // A record that is said to be longer is waited for.
    both.client.receive(std::string(2000, '\0'));
    EXPECT_EQ(both.client.stream->fault(), Fault::forged) << at;
    EXPECT_EQ(both.client.told, "");
    EXPECT_TRUE(both.client.isProved());
    both.server.receive(both.client.drain()); // which is told so
    EXPECT_EQ(both.server.stream->fault(), Fault::forged) << at;
  }
}

TEST(Tls, WhatIsPutInBetweenIsNotTaken) {
  for (int kind = 0; kind < 4; ++kind) {
    Both both;
    both.server.stream->send("an artifact");
    std::string wire = both.server.drain();
    ASSERT_TRUE(both.client.receive(wire));
    std::string put = kind == 0   ? wire                               // once more
                      : kind == 1 ? "another artifact"                 // in the clear
                      : kind == 2 ? std::string("\x15\3\3\0\2\1\0", 7) // an alert in the clear
                                  : std::string("\x17\3\3\0\x40", 5) + std::string(64, '\0');
    EXPECT_FALSE(both.client.receive(put)) << kind;
    EXPECT_EQ(both.client.stream->fault(), Fault::forged) << kind;
    EXPECT_EQ(both.client.told, "an artifact") << kind;
  }
  Both both;
  both.server.stream->send("one");
  both.server.drain(); // and is lost
  both.server.stream->send("two");
  EXPECT_FALSE(both.client.receive(both.server.drain()));
  EXPECT_EQ(both.client.told, "");
}

TEST(Tls, ARecordedHandshakeProvesNothing) {
  OneEnd client(End::client), server(End::server);
  client.stream->send("hello");
  talk(client, server);
  OneEnd again(End::server);
  again.receive(client.sent);
  EXPECT_EQ(again.stream->fault(), Fault::unproved);
  EXPECT_EQ(again.told, "");
  server.stream->send("welcome");
  server.drain();
  OneEnd other(End::client);
  other.receive(server.sent);
  EXPECT_EQ(other.stream->fault(), Fault::unproved);
  EXPECT_EQ(other.told, "");
}

TEST(Tls, TheKeyIsHkdfs) {
  OneEnd server(End::server);
  Other client(TLS_client_method(),
               [](SSL_CTX *context) { SSL_CTX_set_psk_use_session_callback(context, useKey<2>); });
  EXPECT_TRUE(client.connectTo(server));
  EXPECT_TRUE(server.isProved());
}

/// Who learns the secret later reads nothing of what was recorded.
TEST(Tls, TheKeyAloneOpensNothing) {
  // The client offers psk_dhe_ke and nothing else (RFC 8446, 4.2.9),
  EXPECT_NE(OneEnd(End::client).drain().find(std::string("\0\x2d\0\2\1\1", 6)), std::string::npos);
  // and the server takes no other that is offered, as where no group is shared.
  OneEnd server(End::server);
  Other client(TLS_client_method(), [](SSL_CTX *context) {
    SSL_CTX_set_psk_use_session_callback(context, useKey<2>);
    SSL_CTX_set1_groups_list(context, "P-521");
    SSL_CTX_set_options(context, SSL_OP_ALLOW_NO_DHE_KEX);
  });
  EXPECT_FALSE(client.connectTo(server));
  EXPECT_EQ(server.stream->fault(), Fault::unproved);
}

TEST(Tls, NoCertificateIsTaken) {
  OneEnd client(End::client);
  Other server(TLS_server_method(), useCertificate);
  EXPECT_FALSE(server.acceptFrom(client));
  EXPECT_EQ(client.stream->fault(), Fault::unproved);
}

TEST(Tls, WhoHasNoKeyOrAnotherSuiteOrVersionIsRefused) {
  using Change = std::function<void(SSL_CTX *)>;
  for (const Change &change :
       {Change([](SSL_CTX *) {}), Change([](SSL_CTX *context) {
          SSL_CTX_set_psk_use_session_callback(context, useKey<1>);
          SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
        }),
        Change([](SSL_CTX *context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); })}) {
    OneEnd server(End::server);
    Other client(TLS_client_method(), change);
    EXPECT_FALSE(client.connectTo(server));
    EXPECT_EQ(server.stream->fault(), Fault::unproved);
  }
}

TEST(Tls, HashesAreSha256) {
  // FIPS 180-2, B.1.
  std::string hash = sha256(std::as_bytes(std::span("abc", 3)));
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(hash.substr(0, 4), "\xba\x78\x16\xbf");
}

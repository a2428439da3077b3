//===- Tls.cpp - TLS with a pre-shared key --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/gloo/Tls.h"
#include <array>
#include <new>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <stdexcept>
#include <utility>

namespace weir::collectives {
namespace {

using End = SecureStream::End;

/// One suite, so that the key is used with one hash.
constexpr char suiteName[] = "TLS_AES_256_GCM_SHA384";
constexpr unsigned char suite[] = {0x13, 0x02};
/// As long as the suite's hash.
using Key = std::array<unsigned char, 48>;
/// Records under one key, at most: AES-GCM is safe for 2^24 (RFC 8446, 5.5).
constexpr uint64_t mostRecords = 1 << 20;
constexpr size_t recordSize = SSL3_RT_MAX_PLAIN_LENGTH;
/// The first bytes of a connection: a record's kind, and the high byte of its version, which is 3
/// since SSL 3.0.
constexpr char alertRecord = 21, handshakeRecord = 22, majorVersion = 3;

std::runtime_error failed(const std::string &what) {
  char text[256] = "";
  if (unsigned long code = ERR_get_error())
    ERR_error_string_n(code, text, sizeof text);
  return std::runtime_error("OpenSSL " + what + (*text ? ": " : "") + text);
}

/// RFC 5869 with SHA-384. A key of one name opens nothing under another.
Key derive(const std::string &secret, const std::string &name) {
  Key key;
  std::string info = "weir tls psk 1 " + name;
  char hash[] = "SHA384";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, hash, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<char *>(secret.data()),
                                        secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end()};
  EVP_KDF *kdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : nullptr;
  bool isDerived = context && EVP_KDF_derive(context, key.data(), key.size(), parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  if (!isDerived)
    throw failed("cannot derive a key");
  return key;
}

/// What a connection reads and writes, in place of a socket.
struct Bytes {
  std::string_view in; ///< what has come, and is not read yet
  std::string out;     ///< what has to go
};

int readBytes(BIO *bio, char *to, size_t size, size_t *got) {
  Bytes &bytes = *static_cast<Bytes *>(BIO_get_data(bio));
  *got = bytes.in.copy(to, size);
  bytes.in.remove_prefix(*got);
  BIO_clear_retry_flags(bio);
  if (*got == 0)
    BIO_set_retry_read(bio);
  return *got > 0;
}

int writeBytes(BIO *bio, const char *from, size_t size, size_t *written) {
  *written = 0;
  try {
    static_cast<Bytes *>(BIO_get_data(bio))->out.append(from, size);
  } catch (const std::bad_alloc &) {
    return 0;
  }
  *written = size;
  return 1;
}

long controlBytes(BIO *, int command, long, void *) { return command == BIO_CTRL_FLUSH; }

/// BIO_s_mem() copies everything once more, both ways.
const BIO_METHOD *bytesMethod() {
  static const BIO_METHOD *const method = [] {
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "weir bytes");
    if (!made || !BIO_meth_set_read_ex(made, readBytes) ||
        !BIO_meth_set_write_ex(made, writeBytes) || !BIO_meth_set_ctrl(made, controlBytes))
      throw failed("cannot create a BIO");
    return made;
  }();
  return method;
}

class TlsStream final : public SecureStream {
public:
  TlsStream(SSL_CTX *context, End end, const std::string &secret, const std::string &name)
      : key(derive(secret, name)), name(name), ssl(SSL_new(context)) {
    BIO *bio = BIO_new(bytesMethod());
    if (!ssl || !bio) {
      BIO_free(bio);
      SSL_free(ssl);
      throw failed("cannot create a connection");
    }
    BIO_set_data(bio, &bytes);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio); // which owns it
    SSL_set_app_data(ssl, this);
    end == End::client ? SSL_set_connect_state(ssl) : SSL_set_accept_state(ssl);
    if (end == End::client && !shakeHands()) {
      SSL_free(ssl);
      throw failed("cannot start a handshake");
    }
  }
  ~TlsStream() override {
    SSL_free(ssl);
    forgetKey();
  }

  bool receive(std::string_view wire, std::string &plain) override {
    if (cause != Fault::none || wire.empty())
      return cause == Fault::none;
    bool isRecord = (wire[0] == handshakeRecord || wire[0] == alertRecord) &&
                    (wire.size() < 2 || wire[1] == majorVersion);
    if (!std::exchange(hasHeard, true) && !isRecord)
      return fail(Fault::notTls);
    bytes.in = wire; // of which nothing is left: what is no whole record, OpenSSL keeps
    bool isGood = (proved || shakeHands()) && (!proved || read(plain));
    bytes.in = {};
    return isGood;
  }

  void send(std::string_view plain) override {
    if (!proved) {
      waiting += plain;
      return;
    }
    ERR_clear_error();
    if (plain.empty() || cause != Fault::none)
      return;
    records += 1 + plain.size() / recordSize;
    if (records > mostRecords && SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED))
      records = 0;
    size_t written = 0;
    if (!SSL_write_ex(ssl, plain.data(), plain.size(), &written)) // into `bytes`, all at once
      throw std::bad_alloc();
  }

  void drain(std::string &wire) override {
    if (wire.empty())
      wire.swap(bytes.out);
    else
      wire += bytes.out;
    bytes.out.clear();
  }

  bool isProved() const override { return proved; }
  Fault fault() const override { return cause; }

  /// What OpenSSL takes the key for: a session of an earlier connection. Null where it has none.
  SSL_SESSION *session() const {
    SSL_SESSION *made = SSL_SESSION_new();
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, suite);
    if (made && cipher && SSL_SESSION_set1_master_key(made, key.data(), key.size()) &&
        SSL_SESSION_set_cipher(made, cipher) &&
        SSL_SESSION_set_protocol_version(made, TLS1_3_VERSION))
      return made;
    SSL_SESSION_free(made);
    return nullptr;
  }

  static const TlsStream &of(const SSL *ssl) {
    return *static_cast<const TlsStream *>(SSL_get_app_data(ssl));
  }
  const std::string &identity() const { return name; }

private:
  void forgetKey() { OPENSSL_cleanse(key.data(), key.size()); }

  bool fail(Fault fault) {
    cause = fault;
    return false;
  }

  /// Goes on with the handshake. False where it has failed.
  bool shakeHands() {
    ERR_clear_error();
    int done = SSL_do_handshake(ssl);
    if (done != 1) {
      int error = SSL_get_error(ssl, done);
      return error == SSL_ERROR_WANT_READ || fail(whyUnproved());
    }
    if (!SSL_session_reused(ssl)) // without the key
      return fail(Fault::unproved);
    proved = true;
    forgetKey();
    send(std::exchange(waiting, {}));
    return true;
  }

  /// The server finds out itself; the client is told, by an alert that proves nothing.
  static Fault whyUnproved() {
    int reason = ERR_GET_REASON(ERR_peek_error());
    bool isOther = reason == SSL_R_BINDER_DOES_NOT_VERIFY ||
                   reason == SSL_R_TLSV1_ALERT_DECRYPT_ERROR ||
                   reason == SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER;
    return isOther ? Fault::otherSecret : Fault::unproved;
  }

  bool read(std::string &plain) {
    char some[1 << 14];
    size_t got = 0;
    ERR_clear_error();
    while (SSL_read_ex(ssl, some, sizeof some, &got))
      plain.append(some, got);
    return SSL_get_error(ssl, 0) == SSL_ERROR_WANT_READ || fail(Fault::forged);
  }

  Key key;
  const std::string name;
  Bytes bytes;
  SSL *ssl;
  std::string waiting; ///< to be sent once there is a proof
  bool proved = false, hasHeard = false;
  uint64_t records = 0; ///< sent under the present key
  Fault cause = Fault::none;
};

int useSession(SSL *ssl, const EVP_MD *, const unsigned char **identity, size_t *size,
               SSL_SESSION **session) {
  const TlsStream &stream = TlsStream::of(ssl);
  *identity = reinterpret_cast<const unsigned char *>(stream.identity().data());
  *size = stream.identity().size();
  *session = stream.session();
  return *session != nullptr;
}

/// Where the name is another one there is no session, and without one the handshake fails.
int findSession(SSL *ssl, const unsigned char *identity, size_t size, SSL_SESSION **session) {
  const TlsStream &stream = TlsStream::of(ssl);
  *session = nullptr;
  if (std::string_view(reinterpret_cast<const char *>(identity), size) != stream.identity())
    return 1;
  *session = stream.session();
  return *session != nullptr;
}

int refuseCertificate(int, X509_STORE_CTX *) { return 0; }

/// All of it is set here, so that the machine's OpenSSL configuration changes nothing. Never freed:
/// a stream may outlive what is destroyed at exit.
SSL_CTX *contextOf(End end) {
  SSL_CTX *context = SSL_CTX_new(end == End::client ? TLS_client_method() : TLS_server_method());
  if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
      !SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) ||
      !SSL_CTX_set_ciphersuites(context, suiteName) ||
      !SSL_CTX_set1_groups_list(context, "X25519:P-256") || !SSL_CTX_set_num_tickets(context, 0) ||
      !SSL_CTX_set_max_early_data(context, 0))
    throw failed("does not offer TLS 1.3");
  SSL_CTX_clear_options(context, SSL_OP_ALLOW_NO_DHE_KEX); // forward secrecy
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (end == End::client) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, refuseCertificate);
    SSL_CTX_set_psk_use_session_callback(context, useSession);
  } else {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_psk_find_session_callback(context, findSession);
  }
  return context;
}

} // namespace

std::unique_ptr<SecureStream> makeSecure(End end, const std::string &secret,
                                         const std::string &name) {
  static SSL_CTX *const client = contextOf(End::client), *const server = contextOf(End::server);
  return std::make_unique<TlsStream>(end == End::client ? client : server, end, secret, name);
}

std::string sha256(std::span<const std::byte> bytes) {
  std::string hash(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (!EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char *>(hash.data()), &size,
                  EVP_sha256(), nullptr))
    throw failed("cannot compute SHA-256");
  hash.resize(size);
  return hash;
}

} // namespace weir::collectives

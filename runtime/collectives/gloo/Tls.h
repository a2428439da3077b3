//===- Tls.h - TLS with a pre-shared key ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OpenSSL's, and no cryptography besides: TLS 1.3 with an external pre-shared key (RFC 8446,
// psk_dhe_ke) that HKDF derives from the secret and the name. No certificate is sent or taken,
// nothing is resumed, and nothing is sent ahead of the handshake's end.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_GLOO_TLS_H
#define WEIR_RUNTIME_COLLECTIVES_GLOO_TLS_H

#include "runtime/collectives/Links.h"

namespace weir::collectives {

/// LinksPlugin::secure.
std::unique_ptr<SecureStream> makeSecure(SecureStream::End end, const std::string &secret,
                                         const std::string &name);

/// LinksPlugin::sha256.
std::string sha256(std::span<const std::byte> bytes);

} // namespace weir::collectives

#endif

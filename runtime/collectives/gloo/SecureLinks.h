//===- SecureLinks.h - Links over TLS -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_GLOO_SECURELINKS_H
#define WEIR_RUNTIME_COLLECTIVES_GLOO_SECURELINKS_H

#include "runtime/collectives/Links.h"

namespace weir::collectives {

/// LinksPlugin::make where ranks know who is at the other end: a connection between each two ranks,
/// over TCP, whose ends prove by TLS that they know the secret, or, of one user's ranks without a
/// secret, over a Unix socket. A thread beside moves what does not go at once.
std::unique_ptr<Links> makeSecureLinks(const Links::Settings &settings);

} // namespace weir::collectives

#endif

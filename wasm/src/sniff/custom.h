// Signatures that the host's configuration adds (RFC 0.3 §4.2).
#pragma once

#include "sluice/sniff.h"

namespace sluice::sniffing {

/// Whether the base64 encoding of `head` begins with `prefix`, compared six bits a character, so
/// only bits that the head has count. A prefix that is empty or has a character outside the
/// standard alphabet (RFC 4648 §4, padding included) matches nothing.
bool begins_encoded(Bytes head, std::string_view prefix);

/// The first of `signatures` that `head` begins with; null when none does.
const Signature* match_custom(Bytes head, const std::vector<Signature>& signatures);

}  // namespace sluice::sniffing

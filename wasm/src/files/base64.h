// Base64 as tools write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::files {

/// The same bytes in the standard alphabet, padded (RFC 4648 §4). Takes either alphabet, though not
/// both at once, with or without padding, with white space anywhere. Nothing for other text, a
/// length that no bytes have, and bits behind the last byte that are set.
std::optional<std::string> standard_base64(std::string_view text);

}  // namespace sluice::files

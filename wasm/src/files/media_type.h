// Media types as tools declare them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::files {

/// `type/subtype` with restricted names (RFC 6838 §4.2), the two in lower case, and parameters as
/// they are (RFC 9110 §5.6.6). Nothing when it is no media type or has more than 255 characters.
std::optional<std::string> media_type(std::string_view declared);

}  // namespace sluice::files

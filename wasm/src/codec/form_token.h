// The tokens of a form's name that writing and reading share.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/codec.h"
#include "sluice/form.h"

namespace sluice::codec {

inline constexpr std::array<std::pair<Encoding, std::string_view>, 5> kEncodingTokens = {{
    {Encoding::base64, "base64"},
    {Encoding::base64url, "base64url"},
    {Encoding::hex, "hex"},
    {Encoding::hex_upper, "HEX"},
    {Encoding::byte_array, "bytes"},
}};

/// `base64`, `base64url`, `hex`, `HEX` or `bytes`.
std::string_view encoding_token(Encoding encoding);

/// `data:<mime_type>;base64,`, or nothing when there is no type.
std::string data_prefix(std::string_view mime_type);

}  // namespace sluice::codec

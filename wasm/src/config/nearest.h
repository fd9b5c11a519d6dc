// What a mistyped key was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sluice/status.h"

namespace sluice::config {

/// The failure for `key` under `prefix` (empty at the top) where only `known` keys may stand.
/// Suggests the nearest of them, or names them all when none is near.
Status unknown_key(const std::string& prefix, std::string_view key,
                   std::span<const std::string_view> known);

}  // namespace sluice::config

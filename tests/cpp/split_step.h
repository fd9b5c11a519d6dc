#pragma once

#include <cstddef>

namespace sluice::testing {

/// Whether sanitizers watch, under which a test takes ten times as long.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// Places between two at which a document is cut: as WebAssembly at each, under sanitizers at every
/// eleventh.
inline constexpr size_t kSplitStep = kSanitized ? 11 : 1;

}  // namespace sluice::testing

// The defaults of the configuration: of every key that the core reads. What a key means and its
// bounds are in src/config/keys.cpp. The library reads `retention` and `interceptor`, with their
// defaults, from web/src/config/retention.json and interceptor.json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

/// `inline_media`: `"auto"`, `"off"`, or the object of its keys.
enum class InlineMediaMode : uint8_t { automatic, off, listed };

/// `prefer`
enum class Prefer : uint8_t { structured, content };

namespace defaults {

inline constexpr size_t kMaxInlineSize = 10'000;
inline constexpr bool kAutoArtifactLargeContent = true;

// binary_detection
inline constexpr bool kDetectionEnabled = true;
inline constexpr size_t kMinSizeForDetection = 1'000;
inline constexpr size_t kMaxDecodeBytes = 5'000'000;
inline constexpr bool kRequireMagicBytes = true;

// resources
inline constexpr bool kResourcesEnabled = true;
inline constexpr uint64_t kAutoReadIfSizeUnderBytes = 0;  ///< never
inline constexpr size_t kInlineTextIfUnderChars = 10'000;
inline constexpr bool kCacheReadsToArtifacts = true;

// guardrail
inline constexpr size_t kMaxObservationChars = 50'000;
inline constexpr size_t kMaxFieldChars = 10'000;
inline constexpr std::string_view kTruncationSuffix = "\n... [truncated: {truncated_chars} chars]";
inline constexpr bool kPreserveStructure = true;
inline constexpr size_t kAutoArtifactThreshold = 20'000;

// inline_media
inline constexpr InlineMediaMode kInlineMedia = InlineMediaMode::automatic;
inline constexpr std::array<std::string_view, 4> kInlineMediaTypes = {"image/png", "image/jpeg",
                                                                      "image/gif", "image/webp"};
inline constexpr uint64_t kInlineMediaMaxBytes = 1'048'576;
inline constexpr uint32_t kInlineMediaMaxCount = 20;

inline constexpr Prefer kPrefer = Prefer::structured;

}  // namespace defaults
}  // namespace sluice

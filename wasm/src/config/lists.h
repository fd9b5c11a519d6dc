// Bounds of what stands in the lists and maps of the configuration.
#pragma once

#include <cstddef>

namespace sluice::config {

/// Characters of the type, and of the subtype, of a MIME type (RFC 6838 §4.2).
inline constexpr size_t kMaxMimeToken = 127;

/// Characters of a signature: the first ones of the base64 encoding.
inline constexpr size_t kMinPrefix = 4;
inline constexpr size_t kMaxPrefix = 64;

/// Characters of a file name's extension.
inline constexpr size_t kMaxExtension = 16;

/// Most characters of a tool's name.
inline constexpr size_t kMaxToolName = 200;

/// Most fields of one tool.
inline constexpr size_t kMaxToolFields = 100;

}  // namespace sluice::config

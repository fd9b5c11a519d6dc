// The members of a `tool_fields` entry (RFC 0.3 §3.4).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sluice/config.h"

namespace sluice::config {

/// One member. It is required when `least` is not 0; otherwise null is as good as leaving it out.
/// `least` and `most` bound its characters.
struct ToolFieldRow {
  std::string_view key;
  size_t least;
  size_t most;
  std::string ToolField::*member;
  std::string_view expected;
};

inline constexpr std::array<ToolFieldRow, 4> kToolFieldRows = {{
    {"field_path", 1, 500, &ToolField::field_path,
     "a dot path of 1 to 500 characters such as result.pages.0.image or items.*.data"},
    {"content_type", 1, 100, &ToolField::content_type,
     "a string of 1 to 100 characters such as pdf"},
    {"mime_type", 0, 255, &ToolField::mime_type, "null or a MIME type such as application/pdf"},
    {"summary_template", 0, 2'000, &ToolField::summary_template,
     "null or a string of at most 2000 characters"},
}};

/// The keys of kToolFieldRows.
std::span<const std::string_view> tool_field_keys();

/// Whether a dot path has an empty step: `a..b`, `.a`, `a.`.
bool has_empty_step(std::string_view path);

}  // namespace sluice::config

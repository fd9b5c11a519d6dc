// JSON strings around plain text.
#pragma once

#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice::layers {

/// `text` as a JSON string, quotes and all.
inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  append_escaped(out, text);
  out += '"';
  return out;
}

/// Appends `"name":`, after a comma where something stands before it in the same object.
inline void append_key(std::string& out, std::string_view name) {
  if (!out.empty() && out.back() != '{') out += ',';
  out += json_string(name);
  out += ':';
}

}  // namespace sluice::layers

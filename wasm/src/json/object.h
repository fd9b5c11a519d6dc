// Writes JSON objects whose values are source text, copied as it is, or text that may hold lone
// surrogates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice {

/// `text` as a JSON string with quotes.
inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  append_escaped(out, text);
  out += '"';
  return out;
}

/// Appends `"name":`, with a comma if a member precedes it.
inline void append_key(std::string& out, std::string_view name) {
  if (!out.empty() && out.back() != '{') out += ',';
  out += json_string(name);
  out += ':';
}

/// One JSON object, member by member.
class Object {
 public:
  /// Adds JSON source as a value. The key must not need escapes.
  Object& source(std::string_view key, std::string_view value) {
    out_ += out_.size() > 1 ? ",\"" : "\"";
    out_ += key;
    out_ += "\":";
    out_ += value;
    return *this;
  }
  Object& text(std::string_view key, std::string_view value) {
    source(key, "\"");
    append_escaped(out_, value);
    out_ += '"';
    return *this;
  }
  Object& flag(std::string_view key, bool value) { return source(key, value ? "true" : "false"); }
  Object& number(std::string_view key, uint64_t value) {
    return source(key, std::to_string(value));
  }
  /// Closes the object after the members in `others`, each of which begins with a comma.
  std::string end(std::string_view others = {}) {
    out_ += others;
    return out_ + '}';
  }

 private:
  std::string out_ = "{";
};

}  // namespace sluice

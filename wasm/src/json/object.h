// Writing small JSON objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice {

/// One JSON object, member by member.
class Object {
 public:
  /// JSON source as a value; keys need no escapes.
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
  /// The object, closed behind members written elsewhere, each with a comma before it.
  std::string end(std::string_view others = {}) {
    out_ += others;
    return out_ + '}';
  }

 private:
  std::string out_ = "{";
};

}  // namespace sluice

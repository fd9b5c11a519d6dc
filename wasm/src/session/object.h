// Writing small JSON objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice {

/// One flat JSON object to the host.
class Object {
 public:
  Object& text(std::string_view key, std::string_view value) {
    begin(key) += '"';
    append_escaped(out_, value);
    out_ += '"';
    return *this;
  }
  Object& flag(std::string_view key, bool value) {
    begin(key) += value ? "true" : "false";
    return *this;
  }
  Object& number(std::string_view key, uint64_t value) {
    begin(key) += std::to_string(value);
    return *this;
  }
  std::string end() { return out_ + '}'; }

 private:
  std::string& begin(std::string_view key) {
    out_ += out_.size() > 1 ? ",\"" : "\"";
    out_ += key;
    return out_ += "\":";
  }

  std::string out_ = "{";
};

}  // namespace sluice

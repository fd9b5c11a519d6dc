// Decodes a stored text that turns out to be base64.
#pragma once

#include <string>
#include <string_view>

#include "sluice/codec.h"

namespace sluice {

/// Takes text in pieces of any size and returns bytes as long as it is one base64 or base64url run.
/// Ignores white space.
class Base64Text {
 public:
  /// False if the text is no such run. Discard the bytes returned so far.
  bool push(std::string_view text, std::string& bytes);
  bool finish(std::string& bytes);

  /// The form that writes the bytes again. Valid after `finish`.
  Form form() const;
  /// Whether that form writes the same text: there was no white space in it.
  bool is_exact() const { return !loose_; }

 private:
  bool take(std::string_view word);
  bool take_words(std::string_view text);

  std::string open_;  // characters of the unfinished quantum
  size_t pads_ = 0;
  uint64_t characters_ = 0;
  bool url_ = false;
  bool standard_ = false;
  bool padded_ = true;
  bool loose_ = false;
};

}  // namespace sluice

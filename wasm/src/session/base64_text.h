// Decoding a stored text that turned out to be base64.
#pragma once

#include <string>
#include <string_view>

#include "sluice/codec.h"
#include "sluice/form.h"

namespace sluice {

/// Takes text in pieces of any size and gives bytes as long as it is one plain base64 or base64url
/// run.
class Base64Text {
 public:
  /// False when the text is not such a run; what was given so far is then void.
  bool push(std::string_view text, std::string& bytes);
  bool finish(std::string& bytes);

  /// The form to write the bytes in again; meaningful after `finish`.
  Form form() const;

 private:
  bool take(std::string_view text);

  std::string open_;  // characters of the unfinished quantum
  size_t pads_ = 0;
  uint64_t characters_ = 0;
  bool url_ = false;
  bool standard_ = false;
  bool padded_ = true;
};

}  // namespace sluice

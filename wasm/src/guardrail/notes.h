// The notes about what the guardrail left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice::guardrail {

/// Maximum code points of a note with its quotes, and of the member `"…":"37 more keys"`.
inline constexpr size_t kNoteChars = 40;

/// Maximum code points of a truncation suffix.
inline constexpr size_t kSuffixChars = 200;

/// The truncation suffix. Safe for any template: escaped for a JSON string, at most
/// kSuffixChars code points, invalid UTF-8 replaced.
class Suffix {
 public:
  explicit Suffix(std::string_view pattern);

  /// The suffix for `left_out` code points, as the inside of a JSON string.
  std::string text(uint64_t left_out) const;

  /// The maximum code points of `text`.
  size_t chars() const { return chars_; }

 private:
  std::string filled(uint64_t left_out) const;

  std::string pattern_;
  size_t chars_ = 0;
};

/// `"… object with 3 keys"`, `"… array with 1 item"`, `"… number of 300 characters"`.
std::string collapsed_note(Type type, uint64_t count);

/// `11,950 more items`, `1 more key`.
std::string more_note(Type container, uint64_t count);

/// `"… observation of 60,000 characters left out"`
std::string nothing_fits_note(uint64_t chars);

}  // namespace sluice::guardrail

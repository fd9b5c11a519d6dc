// Arrays of byte values, `[37,80,68,70,…]`, as JSON or as text inside a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/codec.h"

namespace sluice::gate {

/// Longest white space inside the array, in bytes of source.
inline constexpr size_t kMaxSpace = 96;

/// Reads one array of canonical integers 0–255 with the same separator throughout.
class ByteArray {
 public:
  enum class Step : uint8_t {
    more,    ///< all available bytes were read, or they end inside an element
    full,    ///< the budget is used up
    closed,  ///< the closing bracket was read
    broken,  ///< what follows is not an element of this form
  };

  /// `in_string`: white space may be written as escape groups.
  explicit ByteArray(bool in_string) : in_string_(in_string) {
    form_.encoding = Encoding::byte_array;
  }

  /// Reads from `at`, the bracket on the first call, and moves it, up to `budget` bytes of source
  /// in total. Appends the values to `bytes`.
  Step lex(const uint8_t*& at, const uint8_t* end, bool final, size_t budget, std::string& bytes);

  size_t source() const { return source_; }
  /// The source between elements, or behind the last one if the array broke off.
  const std::string& separator() const { return separator_; }

  /// The form of the array in terms of the decoded string. Valid once it has ended.
  Form form(bool closed) const;

 private:
  int64_t read_space(const uint8_t* at, const uint8_t* end, bool final) const;
  Step open(const uint8_t*& at, const uint8_t* end, bool final);
  Step element(const uint8_t*& at, const uint8_t* end, bool final, uint8_t& byte);

  Form form_;
  bool in_string_;
  size_t source_ = 0;
  size_t elements_ = 0;
  std::string prefix_, separator_, suffix_;  // in source
};

}  // namespace sluice::gate

// Tables of texts, packed: a view is eight bytes beside its text, and pointers do not compress.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sluice::sniffing {

/// The texts of `Table`, a constexpr array of arrays of views, each with a NUL behind it.
template <const auto& Table>
inline constexpr auto packed = [] {
  constexpr size_t size = [] {
    size_t sum = 0;
    for (const auto& row : Table)
      for (const std::string_view text : row) sum += text.size() + 1;
    return sum;
  }();
  std::array<char, size> texts{};
  size_t at = 0;
  for (const auto& row : Table) {
    for (const std::string_view text : row) {
      for (const char c : text) texts[at++] = c;
      ++at;
    }
  }
  return texts;
}();

/// Reads packed texts in turn.
class Texts {
 public:
  template <size_t Size>
  explicit Texts(const std::array<char, Size>& texts) : at_(texts.data()), end_(at_ + Size) {}

  bool done() const { return at_ == end_; }
  /// The next text; there must be one.
  std::string_view next() {
    const std::string_view text(at_);
    at_ += text.size() + 1;
    return text;
  }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace sluice::sniffing

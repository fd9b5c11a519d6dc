// The kinds of file that the signatures can tell, and the MIME types known by name alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/sniff.h"

namespace sluice::sniffing {

/// A kind of file that its bytes give away: each KIND of signatures.def.
enum class Kind : uint8_t {
#define KIND(name, ...) name,
#include "sniff/signatures.def"
  count
};

/// One line of a type table.
struct TypeRow {
  std::string_view mime_type;
  std::string_view extension;
  std::string_view label;
};

/// The line of a kind. Two kinds may share a MIME type.
TypeRow row_of(Kind kind);

/// The canonical, registered or customary, spelling of a MIME type (lower case, no parameters),
/// e.g. `image/jpeg` for `image/jpg`; the same view when there is no other.
std::string_view canonical_mime(std::string_view mime_type);

/// The line of a canonical MIME type, be it of a kind or known by name only; nothing when unknown.
std::optional<TypeRow> find_type(std::string_view mime_type);

/// The canonical MIME types of all lines.
std::vector<std::string_view> all_types();

/// A declared MIME type cut down to `type/subtype` in lower case and canonical spelling; empty when
/// it is malformed (RFC 6838 §4.2: restricted names, here at most 127 characters in all).
std::string clean_mime(std::string_view declared);

/// Whether every file of MIME type `specific` also is one of `general` (both canonical): a docx is
/// a ZIP archive, an SVG is XML and XML is text. A type is not a kind of itself.
bool is_kind_of(std::string_view specific, std::string_view general);

/// The same row as a value.
FileType to_file_type(const TypeRow& row);

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

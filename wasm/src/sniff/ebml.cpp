// Matroska and WebM: the DocType in the EBML header tells them apart (RFC 8794 §11.2.4).
#include <bit>

#include "sniff/recognisers.h"

namespace sluice::sniffing {
namespace {

/// A variable-size integer: as many leading zero bits as bytes follow the first (RFC 8794 §4).
///
///   1xxxxxxx    01xxxxxx xxxxxxxx    001xxxxx xxxxxxxx xxxxxxxx …
struct VariableInteger {
  uint64_t value = 0;
  size_t length = 0;  ///< 0: not there
};

VariableInteger read_integer(Bytes head, size_t at, bool keep_marker) {
  if (!holds(head, at, 1) || head[at] == 0) return {};
  const size_t length = static_cast<size_t>(std::countl_zero(head[at])) + 1;
  if (!holds(head, at, length)) return {};
  uint64_t value = keep_marker ? head[at] : head[at] & (0xFFu >> length);
  for (size_t i = 1; i < length; ++i) value = value << 8 | head[at + i];
  return {value, length};
}

constexpr uint64_t kDocType = 0x4282;

/// The DocType in an EBML header that begins at 4, behind the signature; nothing when the head ends
/// before it.
std::optional<std::string_view> doc_type(Bytes head) {
  const VariableInteger size = read_integer(head, 4, false);
  size_t at = 4 + size.length;
  while (size.length > 0 && at < head.size()) {
    const VariableInteger id = read_integer(head, at, true);
    const VariableInteger length = read_integer(head, at + id.length, false);
    if (id.length == 0 || length.length == 0 || length.value > head.size()) break;
    at += id.length + length.length;
    const size_t count = static_cast<size_t>(length.value);
    if (!holds(head, at, count)) break;
    if (id.value == kDocType) {
      // The string may be padded with nulls.
      const std::string_view name = as_text(head.subspan(at, count));
      return name.substr(0, name.find('\0'));
    }
    at += count;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Match> ebml(Bytes head) {
  const auto type = doc_type(head);
  if (type == "webm") return Match{Kind::webm};
  // WebM is a profile of Matroska, so that is the answer as long as none is seen.
  if (!type || type == "matroska") return Match{Kind::matroska};
  return std::nullopt;
}

}  // namespace sluice::sniffing

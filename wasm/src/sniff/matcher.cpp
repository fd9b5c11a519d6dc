// Matches a file's head against the rows of signatures.def. A row is met when its bytes stand at
// its offset, under its mask; its recogniser, where it has one, then gives the answer, and the
// search goes on when that is nothing.
#include <algorithm>

#include "sniff/recognisers.h"
#include "sniff/types.h"

namespace sluice::sniffing {

namespace {

using namespace std::string_view_literals;

/// `ascii`: the signature is made of printable characters only, so a text could begin with it; it
/// counts when one of the next 16 bytes shows that this is no text.
struct Row {
  std::string_view bytes;
  Kind kind = Kind::count;
  Recogniser recognise = nullptr;
  bool ascii = false;
  std::string_view mask = {};
  size_t offset = 0;
};

constexpr Row kRows[] = {
#define SIGNATURE(...) {__VA_ARGS__},
#include "sniff/signatures.def"
};

constexpr bool masks_fit() {
  return std::all_of(std::begin(kRows), std::end(kRows), [](const Row& row) {
    return row.mask.empty() || row.mask.size() == row.bytes.size();
  });
}
static_assert(masks_fit());

constexpr uint8_t byte_of(std::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]);
}

/// Whether a head that begins with `first` may meet the row: sorts nearly all rows out.
bool may_begin(const Row& row, uint8_t first) {
  if (row.bytes.empty() || row.offset > 0) return true;
  const uint8_t mask = row.mask.empty() ? 0xFF : byte_of(row.mask, 0);
  return ((first ^ byte_of(row.bytes, 0)) & mask) == 0;
}

bool meets(Bytes head, const Row& row) {
  if (!holds(head, row.offset, row.bytes.size())) return false;
  if (row.mask.empty()) return stands(head, row.offset, row.bytes);
  for (size_t i = 0; i < row.bytes.size(); ++i) {
    if ((head[row.offset + i] ^ byte_of(row.bytes, i)) & byte_of(row.mask, i)) return false;
  }
  return true;
}

/// Whether one of the 16 bytes from `at` on is no part of a text: a control character, or not
/// ASCII.
bool beyond_text(Bytes head, size_t at) {
  const Bytes next = head.subspan(at, std::min<size_t>(16, head.size() - at));
  return std::any_of(next.begin(), next.end(), [](uint8_t byte) {
    return byte >= 0x7F || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r');
  });
}

std::optional<Match> answer(Bytes head, const Row& row) {
  if (!meets(head, row)) return std::nullopt;
  if (row.recognise) return row.recognise(head);
  if (row.ascii && !beyond_text(head, row.offset + row.bytes.size())) return std::nullopt;
  return Match{row.kind};
}

}  // namespace

std::optional<Match> match_signatures(Bytes head) {
  if (head.empty()) return std::nullopt;
  for (const Row& row : kRows) {
    if (!may_begin(row, head[0])) continue;
    if (const auto match = answer(head, row)) return match;
  }
  return std::nullopt;
}

}  // namespace sluice::sniffing

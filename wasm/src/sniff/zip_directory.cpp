#include "sniff/zip_directory.h"

#include "sniff/fields.h"

namespace sluice {
namespace {

using namespace std::string_view_literals;

constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kLocatorBytes = 20;

/// The end record: the last one whose comment ends the file, or else the last one whose comment
/// fits, since what a download or a mail adds behind an archive does not make it another.
///
///   PK56 disk:2 disk:2 here:2 entries:2 size:4 offset:4 comment length:2 comment
std::optional<uint64_t> end_record(Bytes tail) {
  const std::string_view text = as_text(tail);
  std::optional<uint64_t> fits;
  for (size_t at = text.size(); (at = text.rfind("PK\5\6"sv, at)) != text.npos; --at) {
    const uint64_t end = at + kEndBytes + le16(tail, at + 20);
    if (end == tail.size()) return at;
    if (end < tail.size() && !fits) fits = at;
    if (at == 0) break;
  }
  return fits;
}

}  // namespace

std::optional<ZipDirectory> zip_directory(const Glimpse& file) {
  const Bytes tail = file.tail;
  const auto end = end_record(tail);
  if (!end) return std::nullopt;
  ZipDirectory found{le16(tail, *end + 10), 0, {}};
  uint64_t size = le32(tail, *end + 12);
  uint64_t behind = file.size - tail.size() + *end;  // where the directory ends
  //   PK67 disk:4 offset:8 disks:4      PK66 size:8 … entries at 32, size at 40
  if (*end >= kLocatorBytes && stands(tail, *end - kLocatorBytes, "PK\6\7"sv)) {
    behind = le(tail, *end - kLocatorBytes + 8, 8);
    const Bytes record = file.from(behind);
    if (!stands(record, 0, "PK\6\6"sv)) return std::nullopt;
    found.entries = le(record, 32, 8);
    size = le(record, 40, 8);
  }
  // Counted from the end, since a program may stand before the archive.
  if (size > behind) return found;
  const uint64_t begin = behind - size;
  found.seen = file.from(begin);
  const uint64_t offset = le32(tail, *end + 16);
  if (offset < begin) found.shift = begin - offset;
  return found;
}

}  // namespace sluice

// What lives in an OLE compound file, told from the names in its first directory sector ([MS-CFB]).
#include <string>

#include "sniff/recognisers.h"

namespace sluice::sniffing {
namespace {

using namespace std::string_view_literals;

constexpr size_t kEntry = 128;

struct Stream {
  std::string_view name;
  Kind kind;
};

constexpr Stream kStreams[] = {
    {"WordDocument", Kind::doc},
    {"Workbook", Kind::xls},
    {"Book", Kind::xls},
    {"PowerPoint Document", Kind::ppt},
    {"__nameid_version1.0", Kind::msg},
    {"__properties_version1.0", Kind::msg},
    {"VisioDocument", Kind::vsd},
};

/// A directory entry's name, where it is plain ASCII in UTF-16LE; else empty (§2.6.1).
std::string entry_name(Bytes head, size_t at) {
  const size_t bytes = le16(head, at + 64);  // the closing null included
  std::string name;
  if (bytes < 4 || bytes > 64 || bytes % 2 != 0) return name;
  for (size_t i = 0; i + 2 < bytes; i += 2) {
    const uint32_t unit = le16(head, at + i);
    if (unit == 0 || unit > 0x7E) return {};
    name.push_back(static_cast<char>(unit));
  }
  return name;
}

//   header: 30 sector shift (9 or 12), 48 first sector of the directory; sector n is at (n + 1) <<
//   shift
std::optional<Kind> named_in_directory(Bytes head) {
  const uint32_t shift = le16(head, 30);
  if (!holds(head, 0, 512) || (shift != 9 && shift != 12)) return std::nullopt;
  const uint32_t sector = le32(head, 48);
  if (sector >= head.size() >> shift) return std::nullopt;
  const size_t begin = (size_t{sector} + 1) << shift;
  const size_t end = begin + (size_t{1} << shift);
  for (size_t at = begin; at + kEntry <= end && holds(head, at, kEntry); at += kEntry) {
    const std::string name = entry_name(head, at);
    for (const Stream& stream : kStreams) {
      if (name == stream.name) return stream.kind;
    }
    if (name.starts_with("__substg1.0_")) return Kind::msg;
  }
  return std::nullopt;
}

/// Office programs put the main stream first, so its own signature follows the header at once,
/// while the directory is often at the end: [MS-DOC] §2.5.2 FibBase, [MS-XLS] §2.4.21 BOF, [MS-PPT]
/// §2.4.1.
std::optional<Kind> first_stream(Bytes head) {
  if (stands(head, 512, "\xEC\xA5\xC1\0"sv)) return Kind::doc;
  if (stands(head, 512, "\x09\x08\x10\0\0\6\5\0"sv)) return Kind::xls;
  if (stands(head, 512, "\x0F\0\xE8\3"sv)) return Kind::ppt;
  return std::nullopt;
}

}  // namespace

std::optional<Match> ole(Bytes head) {
  if (const auto kind = named_in_directory(head)) return Match{*kind};
  if (const auto kind = first_stream(head)) return Match{*kind};
  return Match{Kind::ole};
}

}  // namespace sluice::sniffing

// Archives and compressed files whose signatures need a second look.
#include <algorithm>

#include "sniff/recognisers.h"

namespace sluice::sniffing {
namespace {

using namespace std::string_view_literals;

constexpr size_t kTarHeader = 512;

/// An octal field: blanks, digits, then blanks or nulls to its end. Nothing when it has no digit.
std::optional<uint64_t> octal(std::string_view field) {
  size_t at = 0;
  while (at < field.size() && field[at] == ' ') ++at;
  const size_t digits = at;
  uint64_t value = 0;
  while (at < field.size() && field[at] >= '0' && field[at] <= '7') {
    value = value * 8 + static_cast<uint64_t>(field[at++] - '0');
  }
  if (at == digits) return std::nullopt;
  const bool ends = std::all_of(field.begin() + static_cast<std::ptrdiff_t>(at), field.end(),
                                [](char c) { return c == ' ' || c == '\0'; });
  return ends ? std::optional(value) : std::nullopt;
}

/// The sum that a header must carry at 148: of all its bytes, its own eight as blanks.
uint64_t tar_sum(Bytes header) {
  uint64_t sum = 8 * ' ';
  for (size_t i = 0; i < kTarHeader; ++i) {
    if (i < 148 || i >= 156) sum += header[i];
  }
  return sum;
}

}  // namespace

//   0    100  108 116 124  136   148 156  157  257
//   name mode uid gid size mtime sum type link ustar …      (POSIX.1-2017, pax; v7 ends before
//   `ustar`)
std::optional<Match> tar(Bytes head) {
  if (stands(head, 257, "ustar\0"sv) || stands(head, 257, "ustar  "sv)) return Match{Kind::tar};
  if (!holds(head, 0, kTarHeader) || head[0] < 0x20) return std::nullopt;
  const std::string_view header = as_text(head.first(kTarHeader));
  const auto sum = octal(header.substr(148, 8));
  if (!sum || *sum != tar_sum(head) || !octal(header.substr(100, 8))) return std::nullopt;
  return Match{Kind::tar};
}

//   BZh, level 1–9, then the first block (pi) or, of an empty file, the end (square root of pi)
std::optional<Match> bzip2(Bytes head) {
  if (!holds(head, 0, 10) || head[3] < '1' || head[3] > '9') return std::nullopt;
  const bool block = stands(head, 4, "1AY&SY") || stands(head, 4, "\x17rE8P\x90"sv);
  return block ? std::optional(Match{Kind::bzip2}) : std::nullopt;
}

/// Zstandard and LZ4 share their skippable frames (RFC 8878 §3.1.2): the next frame decides.
std::optional<Match> skippable_frame(Bytes head) {
  if (!holds(head, 0, 8)) return std::nullopt;
  const size_t size = le32(head, 4);
  if (!holds(head, 8, size)) return std::nullopt;
  const size_t next = 8 + size;
  if (stands(head, next, "\x28\xB5\x2F\xFD"sv)) return Match{Kind::zstd};
  if (stands(head, next, "\x04\x22\x4D\x18"sv)) return Match{Kind::lz4};
  return std::nullopt;
}

/// `!<arch>\n`, then the first member's name.
std::optional<Match> ar(Bytes head) {
  if (stands(head, 8, "debian-binary")) return Match{Kind::deb};
  // A member header ends with a back quote and a newline.
  if (holds(head, 8, 60))
    return stands(head, 66, "`\n") ? std::optional(Match{Kind::ar}) : std::nullopt;
  return std::nullopt;
}

}  // namespace sluice::sniffing

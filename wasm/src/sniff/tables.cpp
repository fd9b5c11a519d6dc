// Kinds without a signature, or with one that chance meets, whose fields have to agree.
#include <algorithm>

#include "sniff/recognisers.h"
#include "text/ascii.h"

namespace sluice::sniffing {

namespace {

using namespace std::string_view_literals;

constexpr bool is_within(uint64_t value, uint64_t least, uint64_t most) {
  return value >= least && value <= most;
}

}  // namespace

// --- pictures and volumes ----------------------------------------------------------------------

/// `P6 640 480 255`: bytes behind numbers, with comments between them. The forms in decimals are
/// text.
std::optional<Match> netpbm(Bytes head) {
  if (stands(head, 1, "7\nWIDTH ")) return Match{Kind::netpbm};
  if (!is_within(u8(head, 1), '4', '6') || !is_white(static_cast<char>(u8(head, 2))))
    return std::nullopt;
  const uint32_t next = u8(head, 3);
  if (next != '#' && !is_digit(static_cast<char>(next))) return std::nullopt;
  return Match{Kind::netpbm, false};
}

//   sides:4×3 mode:4 … "MAP " (at 208) the order of bytes:4   (MRC2014)
std::optional<Match> mrc(Bytes head) {
  const bool little = u8(head, 212) == 0x44;
  if (!little && u8(head, 212) != 0x11) return std::nullopt;
  for (uint64_t at = 0; at < 12; at += 4) {
    if (!is_within(sluice::read_integer(head, at, 4, !little), 1, 1 << 20)) return std::nullopt;
  }
  return Match{Kind::mrc};
}

//   version:4 sides:4×3 frames:4 type:4, the highest byte first
std::optional<Match> mgh(Bytes head) {
  if (!holds(head, 0, 28)) return std::nullopt;
  for (uint64_t at = 4; at < 20; at += 4) {
    if (!is_within(be32(head, at), 1, 4'096)) return std::nullopt;
  }
  const uint32_t type = be32(head, 20);
  return type < 5 && type != 2 ? std::optional(Match{Kind::mgh, false}) : std::nullopt;
}

// --- disks and archives --------------------------------------------------------------------------

//   60 EA <header:2> <first header's size:1> … type:1 (at 10, 2: of the archive)
std::optional<Match> arj(Bytes head) {
  const bool sane =
      is_within(le16(head, 2), 30, 2'600) && is_within(u8(head, 4), 30, 64) && u8(head, 10) == 2;
  return sane ? std::optional(Match{Kind::arj, false}) : std::nullopt;
}

/// 55 AA ends the first sector of any disk that a PC starts from.
std::optional<Match> fat(Bytes head) {
  const bool named =
      stands(head, 54, "FAT12   ") || stands(head, 54, "FAT16   ") || stands(head, 82, "FAT32   ");
  return named ? std::optional(Match{Kind::fat}) : std::nullopt;
}

//   the superblock at 1,024: … size of blocks:4 (at 24) … magic:2 (at 56) state:2 … version:4 (at
//   76)
std::optional<Match> ext(Bytes head) {
  const bool sane = le32(head, 1'048) <= 6 && le16(head, 1'082) <= 7 && le32(head, 1'100) <= 1;
  return sane ? std::optional(Match{Kind::ext}) : std::nullopt;
}

// --- tables --------------------------------------------------------------------------------------

//   type:4 rows:4 columns:4 imaginary:4 length of the name:4 name, NUL
std::optional<Match> matlab_4(Bytes head) {
  const uint32_t type = le32(head, 0);
  const uint32_t length = le32(head, 16);
  const bool sane = type < 60 && type % 10 < 3 && is_within(le32(head, 4), 1, 1 << 28) &&
                    is_within(le32(head, 8), 1, 1 << 28) && le32(head, 12) < 2 &&
                    is_within(length, 2, 64) && holds(head, 20, length) &&
                    u8(head, 20 + length - 1) == 0;
  if (!sane) return std::nullopt;
  const std::string_view name = as_text(head.subspan(20, length - 1));
  const bool word =
      std::all_of(name.begin(), name.end(), [](char c) { return is_alphanumeric(c) || c == '_'; });
  return word ? std::optional(Match{Kind::matlab, false}) : std::nullopt;
}

//   version:1 year:1 month:1 day:1 rows:4 size of the header:2 of a row:2, fields of 32 bytes, 0D
std::optional<Match> dbase(Bytes head) {
  const uint32_t header = le16(head, 8);
  const bool sane = is_within(u8(head, 2), 1, 12) && is_within(u8(head, 3), 1, 31) &&
                    header >= 65 && le16(head, 10) > 1 &&
                    is_alphanumeric(static_cast<char>(u8(head, 32)));
  if (!sane ||
      (holds(head, header, 0) && u8(head, header - 1) != 0x0D && u8(head, header - 264) != 0x0D)) {
    return std::nullopt;
  }
  return Match{Kind::dbase, false};
}

// --- keys ----------------------------------------------------------------------------------------

//   tag:1 length:1 or 2, version:1 time:4 algorithm:1   (RFC 9580 §4.2, §5.5)
std::optional<Match> pgp(Bytes head) {
  const uint32_t tag = u8(head, 0);
  const bool old = (tag & 0x40) == 0;
  const uint32_t packet = old ? tag >> 2 & 15 : tag & 63;
  const uint64_t at = old ? 2 + (tag & 1) : u8(head, 1) < 192 ? 2 : 3;
  const uint32_t algorithm = u8(head, at + 5);
  const bool sane =
      is_within(u8(head, at), 4, 6) && (is_within(algorithm, 1, 3) || is_within(algorithm, 16, 28));
  if (!sane) return std::nullopt;
  return Match{packet == 5 ? Kind::pgp_private : Kind::pgp_public, false};
}

}  // namespace sluice::sniffing

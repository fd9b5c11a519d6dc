// Programs, fonts and data files whose signatures need a second look.
#include <bit>

#include "sniff/recognisers.h"

namespace sluice::sniffing {

// --- Windows programs, fat Mach-O files and Java classes -------------------------------------

namespace {

using namespace std::string_view_literals;

/// CPU types of <mach/machine.h>, the 64-bit flags taken off: x86, ARM, PowerPC and older.
bool known_cpu(uint32_t type) {
  const uint32_t base = type & 0x00FFFFFF;
  const uint32_t flags = type & 0xFF000000;
  return base >= 1 && base <= 18 && (flags == 0 || flags == 0x01000000 || flags == 0x02000000);
}

}  // namespace

/// A DOS header whose field at 60 leads to `PE\0\0`. When that is out of sight, a header as linkers
/// write it (four paragraphs long, relocations at 64) is taken for one, but not for certain.
std::optional<Match> dos_program(Bytes head) {
  if (!holds(head, 0, 64)) return std::nullopt;
  const uint32_t at = le32(head, 60);
  if (at < 4 || at > 1u << 20 || at % 4 != 0) return std::nullopt;
  if (holds(head, at, 4)) {
    return stands(head, at, "PE\0\0"sv) ? std::optional(Match{Kind::pe}) : std::nullopt;
  }
  const bool usual = le16(head, 8) == 4 && le16(head, 24) == 64;
  return usual ? std::optional(Match{Kind::pe, false}) : std::nullopt;
}

//   CAFEBABE <architectures> <cpu> …       a fat Mach-O holds a few
//   CAFEBABE <minor> <major> …             a Java class has major 45 or more (JVMS §4.1)
std::optional<Match> cafebabe(Bytes head) {
  if (!holds(head, 0, 10)) return std::nullopt;
  const uint32_t minor = be16(head, 4);
  const uint32_t major = be16(head, 6);
  if (minor == 0 && major >= 1 && major < 45) {
    return holds(head, 0, 12) && known_cpu(be32(head, 8)) ? std::optional(Match{Kind::macho})
                                                          : std::nullopt;
  }
  const bool version = major >= 45 && major < 256 && (minor <= 3 || minor == 0xFFFF);
  // The constant pool is never empty.
  return version && be16(head, 8) > 1 ? std::optional(Match{Kind::java_class}) : std::nullopt;
}

// --- TrueType and OpenType -------------------------------------------------------------------

//   0       4      6      8        10    12
//   version tables search selector shift records …      (OpenType specification, "Table directory")
std::optional<Match> sfnt(Bytes head) {
  if (!holds(head, 0, 12)) return std::nullopt;
  const uint32_t tables = be16(head, 4);
  if (tables == 0 || tables > 256) return std::nullopt;
  const uint32_t selector = static_cast<uint32_t>(std::bit_width(tables)) - 1;
  const uint32_t search = 16u << selector;
  const bool consistent = be16(head, 6) == search && be16(head, 8) == selector &&
                          be16(head, 10) == tables * 16 - search;
  if (!consistent) return std::nullopt;
  return Match{stands(head, 0, "OTTO") ? Kind::otf : Kind::ttf};
}

// --- data files ------------------------------------------------------------------------------

/// HDF5 behind a user block: the signature stands at 512 or a later power of two (HDF5 File Format
/// Specification §II.A).
std::optional<Match> hdf5(Bytes head) {
  for (size_t at = 512; at < head.size(); at *= 2) {
    if (stands(head, at, "\x89HDF\r\n\x1A\n"sv)) return Match{Kind::hdf5};
  }
  return std::nullopt;
}

//   FF FF FF FF <metadata size, multiple of 8> 10 00 00 00 …   (Arrow columnar format, "IPC
//   message")
//                                              └ root of the flatbuffer, behind its padding
std::optional<Match> arrow_stream(Bytes head) {
  if (!holds(head, 0, 12)) return std::nullopt;
  const uint32_t size = le32(head, 4);
  const uint32_t root = le32(head, 8);
  const bool sane = size >= 32 && size < 1u << 24 && size % 8 == 0 && (root == 16 || root == 12);
  return sane ? std::optional(Match{Kind::arrow_stream}) : std::nullopt;
}

/// A section header block, and its byte-order mark at 8 (draft-ietf-opsawg-pcapng §4.1).
std::optional<Match> pcapng(Bytes head) {
  if (stands(head, 8, "\x4D\x3C\x2B\x1A") || stands(head, 8, "\x1A\x2B\x3C\x4D")) {
    return Match{Kind::pcapng};
  }
  return std::nullopt;
}

/// What a database is for stands at 68 (SQLite file format §1.3.13).
std::optional<Match> sqlite(Bytes head) {
  if (!stands(head, 0, "SQLite format 3\0"sv)) return std::nullopt;
  if (stands(head, 68, "GPKG")) return Match{Kind::gpkg};
  // Not every program says what for; the tables do, whose making stands in the first page.
  const std::string_view text = as_text(head);
  const bool tiles =
      text.find("TABLE tiles") != text.npos && text.find("TABLE metadata") != text.npos;
  return Match{tiles || stands(head, 68, "MPBX") ? Kind::mbtiles : Kind::sqlite};
}

/// ASPRS LAS 1.4 §2.4: version at 24, the header's size at 94. The highest bit of the points'
/// format means that they are packed by LASzip.
std::optional<Match> las(Bytes head) {
  if (!holds(head, 104, 1) || u8(head, 24) != 1 || u8(head, 25) > 4 || le16(head, 94) < 227)
    return std::nullopt;
  return Match{(u8(head, 104) & 0x80) != 0 ? Kind::laz : Kind::las};
}

/// Protocols 4 and 5 begin with a frame. Base64 of one stays text, since too much else begins so.
std::optional<Match> pickle(Bytes) {
  return Match{Kind::pickle, false};
}

//   30 <size> 02 01 03                  PKCS #12 (RFC 7292 §4)
//   30 <size> 30 <size> A0 03 02 01     a certificate of version 2 or 3 (RFC 5280 §4.1)
//   30 <size> 02 01 00 30 <size> 06     a private key (RFC 5958 §2)
//   30 <size> 02 01 00 02 82            a private key of RSA (RFC 8017 §A.1.2)
//   30 <size> 02 01 01 04               one of an elliptic curve (RFC 5915 §3)
std::optional<Match> der(Bytes head) {
  // Where the content of a sequence begins; 0 where none stands there.
  const auto enter = [&head](uint64_t at) {
    const uint32_t size = u8(head, at + 1);
    const uint64_t wide = size < 0x80 ? 0 : size - 0x80;
    return u8(head, at) == 0x30 && wide <= 2 && size != 0x80 ? at + 2 + wide : 0;
  };
  const uint64_t at = enter(0);
  if (stands(head, at, "\x02\x01\x03\x30"sv)) return Match{Kind::pkcs12, false};
  if (const uint64_t inner = enter(at); inner > 0 && stands(head, inner, "\xA0\x03\x02\x01"sv)) {
    return Match{Kind::certificate, false};
  }
  const uint64_t algorithm = stands(head, at, "\x02\x01\x00\x30"sv) ? enter(at + 3) : 0;
  const bool key = (algorithm > 0 && u8(head, algorithm) == 6) ||
                   stands(head, at, "\x02\x01\x00\x02\x82"sv) ||
                   stands(head, at, "\x02\x01\x01\x04"sv);
  return key ? std::optional(Match{Kind::private_key, false}) : std::nullopt;
}

}  // namespace sluice::sniffing

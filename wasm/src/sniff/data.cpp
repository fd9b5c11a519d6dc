// Data files whose signature moves or needs company.
#include "sniff/recognisers.h"

namespace sluice::sniffing {

using namespace std::string_view_literals;

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

}  // namespace sluice::sniffing

// What files are made of, for those that recognise and those that describe them: fixed-width
// fields, and the structures that both walk. What lies behind the end of the bytes at hand reads as
// 0, so callers that take 0 for an answer ask `holds` first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "sluice/bytes.h"

namespace sluice {

/// Whether `bytes` holds the `count` bytes from `at` on.
inline bool holds(Bytes bytes, uint64_t at, uint64_t count) {
  return at <= bytes.size() && count <= bytes.size() - at;
}

/// Whether `text` stands at `at`, all of it.
inline bool stands(Bytes bytes, uint64_t at, std::string_view text) {
  return holds(bytes, at, text.size()) &&
         as_text(bytes).substr(static_cast<size_t>(at), text.size()) == text;
}

/// The number of `width` (1 to 8) bytes at `at`, the highest byte first or the lowest.
inline uint64_t be(Bytes bytes, uint64_t at, size_t width) {
  uint64_t value = 0;
  if (!holds(bytes, at, width)) return 0;
  for (const uint8_t byte : bytes.subspan(static_cast<size_t>(at), width))
    value = value << 8 | byte;
  return value;
}
inline uint64_t le(Bytes bytes, uint64_t at, size_t width) {
  uint64_t value = 0;
  if (!holds(bytes, at, width)) return 0;
  for (size_t i = width; i > 0; --i) value = value << 8 | bytes[static_cast<size_t>(at) + i - 1];
  return value;
}

/// The same of a file that says which byte comes first.
inline uint64_t read_integer(Bytes bytes, uint64_t at, size_t width, bool big) {
  return big ? be(bytes, at, width) : le(bytes, at, width);
}

inline double read_double(Bytes bytes, uint64_t at, bool big) {
  const uint64_t bits = read_integer(bytes, at, 8, big);
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t u8(Bytes bytes, uint64_t at) {
  return at < bytes.size() ? bytes[static_cast<size_t>(at)] : 0;
}
inline uint32_t be16(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(be(bytes, at, 2));
}
inline uint32_t be32(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(be(bytes, at, 4));
}
inline uint32_t le16(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(le(bytes, at, 2));
}
inline uint32_t le24(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(le(bytes, at, 3));
}
inline uint32_t le32(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(le(bytes, at, 4));
}

/// Bits from the lowest of each byte on (ISO/IEC 18181-1 §B.1); 0 behind the end.
class Bits {
 public:
  explicit Bits(Bytes bytes) : bytes_(bytes) {}

  /// The next bits, up to 32.
  uint32_t peek(uint32_t count) const {
    uint64_t window = 0;
    for (uint32_t i = 0; 8 * i < count + 8; ++i)
      window |= uint64_t{u8(bytes_, at_ / 8 + i)} << 8 * i;
    return static_cast<uint32_t>(window >> (at_ % 8) & ((uint64_t{1} << count) - 1));
  }
  void skip(uint32_t count) { at_ += count; }
  uint32_t take(uint32_t count) {
    const uint32_t value = peek(count);
    skip(count);
    return value;
  }

  /// Moves on to the next whole byte.
  void align() { at_ = (at_ + 7) & ~uint64_t{7}; }

  bool past_end() const { return at_ > uint64_t{bytes_.size()} * 8; }

 private:
  Bytes bytes_;
  uint64_t at_ = 0;
};

/// Behind the document type declaration of a text, an internal subset in brackets included; empty
/// where it goes on beyond the text.
std::string_view behind_doctype(std::string_view text);

/// The first and the last bytes of a file. They overlap, or are the same, where the file is small.
struct Glimpse {
  Bytes head;
  Bytes tail;
  uint64_t size = 0;  ///< of the whole file

  /// The bytes from `at` to where they stop being seen; none where nothing is seen.
  Bytes from(uint64_t at) const {
    const uint64_t unseen = size - std::min<uint64_t>(tail.size(), size);
    if (at >= unseen && at < size) return tail.subspan(static_cast<size_t>(at - unseen));
    return at < head.size() ? head.subspan(static_cast<size_t>(at)) : Bytes();
  }
};

// --- the boxes of ISO base media files (ISO/IEC 14496-12 §4.2) -----------------------------------

/// A box in a file's head; `content` is cut where the head is.
struct Box {
  std::string_view type;
  uint64_t size = 0;  ///< of the whole box, as it says itself; 0: to the end of the file
  Bytes content;
  Bytes rest;  ///< the bytes behind the box
};

/// The box that begins `bytes`; nothing when its header is cut or makes no sense. `rest` is always
/// shorter than `bytes`.
std::optional<Box> first_box(Bytes bytes);

/// The content of the first box of a type in a row of boxes; empty when there is none.
Bytes find_box(Bytes bytes, std::string_view type);

// --- the central directory at the end of a ZIP archive (APPNOTE.TXT 6.3 §4.3) --------------------

/// The central directory, as the end of the archive speaks of it.
struct ZipDirectory {
  uint64_t entries = 0;
  uint64_t shift = 0;  ///< bytes before the archive, which its own offsets leave out
  Bytes seen;          ///< from its first entry on, as far as that is seen; empty when it is not
};

/// An entry of the directory, as its header there says.
struct DirectoryEntry {
  std::string_view name;
  bool encrypted = false;
  uint32_t method = 0;  ///< 0: stored, 8: DEFLATE
  uint64_t packed = 0;  ///< bytes of content as it stands there
  uint64_t place = 0;   ///< of the entry itself, by the archive's own offsets
  uint64_t next = 0;    ///< where the next header of the directory is expected
};

/// The header in the directory that stands at `at`, with its name; nothing when none does.
std::optional<DirectoryEntry> zip_entry(Bytes bytes, uint64_t at);

/// Nothing where the end of the archive is not seen, or is not whole.
std::optional<ZipDirectory> zip_directory(const Glimpse& file);

// --- tar ---------------------------------------------------------------------------------------

namespace sniffing {

/// Whether a header of a tar archive begins `bytes`: by its mark, or of an older one by its sum.
bool is_tar_header(Bytes bytes);

}  // namespace sniffing

// --- frames of MPEG audio, and the tag before them -----------------------------------------------

namespace sniffing {

/// A frame's size in bytes, and the header bits that no frame of one stream changes.
struct Frame {
  size_t size = 0;
  uint32_t fixed = 0;
  uint32_t kbits = 0;    ///< a second; 0 for ADTS
  uint32_t hertz = 0;    ///< samples a second; 0 for ADTS
  uint32_t samples = 0;  ///< in the frame; 0 for ADTS
};

/// The frame of MPEG-1, -2 or -2.5 Layer III whose header stands at `at`; nothing when none does.
std::optional<Frame> layer_3_frame(Bytes bytes, size_t at);

/// Where the frames begin behind an ID3v2 tag: 0 when there is none.
size_t id3_end(Bytes head);

}  // namespace sniffing

}  // namespace sluice

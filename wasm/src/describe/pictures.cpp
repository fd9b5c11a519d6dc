// Pictures that most results have: their sides, from the first bytes.
#include <array>
#include <cstdint>
#include <optional>

#include "describe/facts.h"
#include "sluice/bytes.h"
#include "sniff/structure.h"

namespace sluice {

namespace {

// PNG (ISO/IEC 15948) §11.2.2: signature, then IHDR with width and height. Apple's CgBI variant
// puts a chunk of four bytes of content before it. Noise behind a signature has no size: methods of
// compression and of filtering are 0, of interlacing 0 or 1.
std::optional<Dimensions> png_dimensions(Bytes head) {
  if (!stands(head, 0, "\x89PNG\r\n\x1a\n")) return std::nullopt;
  const uint64_t chunk = stands(head, 12, "CgBI") ? 24 : 8;
  if (!stands(head, chunk + 4, "IHDR")) return std::nullopt;
  const uint64_t methods = chunk + 18;
  if (be16(head, methods) != 0 || u8(head, methods + 2) > 1) return std::nullopt;
  return Dimensions{be32(head, chunk + 8), be32(head, chunk + 12)};
}

/// SOF0…SOF15 (C0…CF) but for DHT (C4), JPG (C8) and DAC (CC).
bool is_frame(uint32_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// TEM, RSTn and SOI have no length.
bool is_bare(uint32_t marker) {
  return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

// ITU-T T.81 annex B: FF marker, length:2 (itself included), content. A frame header's content is
// precision:1 height:2 width:2. Bytes FF may fill the space before a marker.
std::optional<Dimensions> jpeg_dimensions(Bytes head) {
  if (!stands(head, 0, "\xff\xd8\xff")) return std::nullopt;
  for (uint64_t at = 2; u8(head, at) == 0xff;) {
    const uint32_t marker = u8(head, at + 1);
    if (marker == 0xff) {
      ++at;
    } else if (is_frame(marker)) {
      return Dimensions{be16(head, at + 7), be16(head, at + 5)};
    } else if (is_bare(marker)) {
      at += 2;
    } else {
      const uint32_t length = be16(head, at + 2);
      if (marker == 0xda || marker == 0xd9 || length < 2) break;  // scan, end of image
      at += 2 + length;
    }
  }
  return std::nullopt;
}

// GIF89a §18: the logical screen descriptor follows the signature.
std::optional<Dimensions> gif_dimensions(Bytes head) {
  if (!stands(head, 0, "GIF87a") && !stands(head, 0, "GIF89a")) return std::nullopt;
  return Dimensions{le16(head, 6), le16(head, 8)};
}

// RFC 9649 §2: RIFF size WEBP, then a chunk: tag:4 size:4 content.
std::optional<Dimensions> webp_dimensions(Bytes head) {
  constexpr uint64_t kContent = 20;
  if (!stands(head, 0, "RIFF") || !stands(head, 8, "WEBP")) return std::nullopt;
  if (stands(head, 12, "VP8X")) {  // flags:1 reserved:3 width-1:3 height-1:3
    if (head.size() < kContent + 10) return std::nullopt;
    return Dimensions{le24(head, kContent + 4) + 1, le24(head, kContent + 7) + 1};
  }
  if (stands(head, 12, "VP8L")) {  // 2f, then bits from the lowest: width-1:14 height-1:14
    if (head.size() < kContent + 5 || u8(head, kContent) != 0x2f) return std::nullopt;
    const uint32_t bits = le32(head, kContent + 1);
    return Dimensions{(bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1};
  }
  // RFC 6386 §9.1: frame tag:3, start code 9d 01 2a, then scale:2 width:14, scale:2 height:14
  if (stands(head, 12, "VP8 ") && stands(head, kContent + 3, "\x9d\x01\x2a")) {
    return Dimensions{le16(head, kContent + 6) & 0x3fff, le16(head, kContent + 8) & 0x3fff};
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// Behind the sub-blocks of GIF (GIF89a §15): a size:1 each, the last one 0.
uint64_t skip_blocks(Bytes head, uint64_t at) {
  while (u8(head, at) > 0) at += 1 + uint64_t{u8(head, at)};
  return at + 1;
}

/// The bytes of a table of colours (GIF89a §18, §20).
uint64_t read_colours(uint32_t flags) {
  return (flags & 0x80) != 0 ? 3u << ((flags & 7) + 1) : 0;
}

// The pictures of a GIF that is seen to its end (GIF89a §27), and of a WebP (RFC 9649 §2.7.1.1).
uint64_t count_frames(Bytes head) {
  uint64_t frames = 0;
  if (stands(head, 0, "RIFF")) {
    uint64_t at = 12;
    for (; holds(head, at, 8); at += 8 + le32(head, at + 4) + (le32(head, at + 4) & 1)) {
      if (stands(head, at, "ANMF")) ++frames;
    }
    return at == 8 + uint64_t{le32(head, 4)} ? frames : 0;
  }
  if (!stands(head, 0, "GIF")) return 0;
  uint64_t at = 13 + read_colours(u8(head, 10));
  while (at < head.size()) {
    const uint32_t kind = u8(head, at);
    if (kind == 0x3b) return frames;
    if (kind == 0x21) {
      at = skip_blocks(head, at + 2);
    } else if (kind == 0x2c) {
      ++frames;
      at = skip_blocks(head, at + 11 + read_colours(u8(head, at + 9)));
    } else {
      return 0;
    }
  }
  return 0;
}

}  // namespace

// An animation of PNG says its number of frames in acTL, before the first picture (PNG §11.3.5).
void append_frames(std::string& line, Bytes head) {
  if (const uint64_t frames = count_frames(head); frames > 1) append_count(line, frames, "frame");
  if (!stands(head, 0, "\x89PNG")) return;
  for (uint64_t at = 8; holds(head, at, 12) && !stands(head, at + 4, "IDAT");
       at += 12 + uint64_t{be32(head, at)}) {
    if (stands(head, at + 4, "acTL")) return append_count(line, be32(head, at + 8), "frame");
  }
}

std::optional<Dimensions> read_dimensions(Bytes head) {
  using Reader = std::optional<Dimensions> (*)(Bytes);
  static constexpr std::array<Reader, 4> kReaders = {png_dimensions, jpeg_dimensions,
                                                     gif_dimensions, webp_dimensions};
  for (const Reader read : kReaders) {
    const std::optional<Dimensions> found = read(head);
    if (found && found->width > 0 && found->height > 0) return found;
  }
  return std::nullopt;
}

}  // namespace sluice

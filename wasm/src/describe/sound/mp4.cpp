// ISO base media files and QuickTime: MP4, M4A, MOV, 3GP.
#include "describe/boxes.h"
#include "describe/sound/length.h"
#include "sniff/fields.h"

namespace sluice::sound {
namespace {

/// Boxes at the top of a file that are passed by; a fragmented file has its movie first.
constexpr int kMostBoxes = 64;

}  // namespace

// ISO/IEC 14496-12 §8.2.2, moov › mvhd: version:1 flags:3 created changed scale:4 duration, where
// all but the scale have four bytes, or eight in version 1. All ones: unknown.
Length mp4_length(const Glimpse& file) {
  uint64_t at = 0;
  for (int i = 0; i < kMostBoxes; ++i) {
    const auto box = first_box(file.from(at));
    if (!box) break;
    if (box->type == "moov") {
      const Bytes header = find_box(box->content, "mvhd");
      const bool wide = u8(header, 0) == 1;
      const uint64_t units = wide ? be(header, 24, 8) : be32(header, 16);
      const uint64_t unknown = wide ? UINT64_MAX : UINT32_MAX;
      return {units == unknown ? 0 : units, be32(header, wide ? 20 : 12)};
    }
    if (box->size == 0 || box->size > file.size - at) break;
    at += box->size;
  }
  return {};
}

}  // namespace sluice::sound

// Frames of MPEG audio, and the tag before them.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/bytes.h"

namespace sluice::sniffing {

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

}  // namespace sluice::sniffing

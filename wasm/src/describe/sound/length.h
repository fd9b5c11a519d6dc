// How long sound or a moving picture lasts.
#pragma once

#include <cstdint>

#include "sniff/glimpse.h"

namespace sluice::sound {

/// `units` at `rate` units a second; unknown when either is 0.
struct Length {
  uint64_t units = 0;
  uint64_t rate = 0;
};

// One per family; each looks at its own signature first, and answers nothing where the length is
// not to be seen.
Length wav_length(const Glimpse& file);
Length aiff_length(const Glimpse& file);
Length flac_length(const Glimpse& file);
Length ogg_length(const Glimpse& file);
Length mp4_length(const Glimpse& file);
Length mp3_length(const Glimpse& file);

}  // namespace sluice::sound

// Images that a vision model should see (`inline_media`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/config.h"
#include "sluice/layers.h"

namespace sluice::layers {

/// Decides which images of one result stay, and writes them.
class Media {
 public:
  Media(const Config& config, const Call& call) : media_(config.inline_media), call_(call) {}

  /// Takes one of the places if there is one left and the image may stay: its type and size are
  /// allowed, and the gate kept its bytes.
  bool keeps(const Segment& segment);

  /// The image's data as it came, as a JSON string.
  static std::string data(const Segment& segment);

 private:
  bool allows(const std::string& mime_type) const;

  const InlineMedia& media_;
  const Call& call_;
  uint32_t count_ = 0;
};

}  // namespace sluice::layers

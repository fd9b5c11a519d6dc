// The state of a Session: what outlives a message, and the message under way.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gate/segment_log.h"
#include "session/base64_text.h"
#include "sluice/config.h"
#include "sluice/gate.h"
#include "sluice/layers.h"
#include "sluice/session.h"

namespace sluice {

/// The message is in `gate`, then in `layers`, then on the `shelf`: the last of them that is there.
class Session::Message {
 public:
  Config config;
  Call call;
  std::optional<Gate> gate;
  std::string reduced;  // what the gate left of the document
  std::unique_ptr<Layers> layers;

  // A decode task under way.
  GateOptions options;
  std::optional<Base64Text> text;
  std::unique_ptr<gate::SegmentLog> decoded;
  uint32_t decoding = 0;

  // The observation as a whole, when it is stored.
  std::unique_ptr<gate::SegmentLog> shelf;
  std::string rendered;
  Clamped clamped;
  bool changed = false;
  bool repaired = false;  // the document was not UTF-8

  const std::vector<Segment>& segments() const {
    return layers ? layers->segments() : gate->segments();
  }
  /// Of the log that is told last; nullptr where it has none of that number.
  Segment* segment(uint32_t index) {
    if (shelf) return index < shelf->size() ? &shelf->segment(index) : nullptr;
    if ((!layers && !gate) || index >= segments().size()) return nullptr;
    return layers ? &layers->segment(index) : &gate->segment(index);
  }
};

}  // namespace sluice

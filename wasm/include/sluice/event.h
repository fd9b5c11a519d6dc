// What the gate tells its host while bytes pass: a flat log that crosses the boundary as one view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sluice/bytes.h"

namespace sluice {

/// A record is three little-endian uint32 (kind, segment, length) and `length` bytes of payload.
enum class EventKind : uint32_t {
  open = 1,       ///< a segment begins; no payload
  data = 2,       ///< bytes of a segment
  reference = 3,  ///< payload: uint32 index of an inner segment, already closed, whose reference
                  ///< text stands here in this segment
  close = 4,      ///< the segment is complete; no payload; its record can be read now
};

/// Bytes of a record before its payload.
inline constexpr size_t kEventHeader = 12;

void append_event(std::string& log, EventKind kind, uint32_t segment,
                  std::string_view payload = {});

/// Sets the payload length of the record that begins at `at`: its payload was written in place.
void set_event_length(std::string& log, size_t at, uint32_t length);

}  // namespace sluice

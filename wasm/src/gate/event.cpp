#include "sluice/event.h"

namespace sluice {

namespace {

void append_u32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}

}  // namespace

void append_event(std::string& log, EventKind kind, uint32_t segment, std::string_view payload) {
  append_u32(log, static_cast<uint32_t>(kind));
  append_u32(log, segment);
  append_u32(log, static_cast<uint32_t>(payload.size()));
  log += payload;
}

void set_event_length(std::string& log, size_t at, uint32_t length) {
  for (size_t i = 0; i < 4; ++i) log[at + 8 + i] = static_cast<char>(length >> (8 * i) & 0xFF);
}

}  // namespace sluice

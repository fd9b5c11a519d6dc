// Captures of packets, of which those that are seen whole are counted.
#include "facts/families/families.h"
#include "sniff/structure.h"

namespace sluice::families {

//   magic:4 version:4 zone:4 accuracy:4 most:4 link:4, then packets: seconds:4 part:4 stored:4
//   original:4 and what was stored
void append_packets(std::string& line, const Glimpse& file) {
  static constexpr struct {
    uint16_t number;
    std::string_view name;
  } kLinks[] = {{0, ", loopback"}, {1, ", Ethernet"},       {101, ", IP"},
                {105, ", Wi-Fi"},  {113, ", Linux cooked"}, {276, ", Linux cooked"}};
  const bool big = u8(file.head, 0) == 0xa1;
  const auto read = [&](uint64_t at) { return read_integer(file.head, at, 4, big); };
  for (const auto& [number, name] : kLinks) {
    if ((read(20) & 0xffff) == number) line += name;
  }
  uint64_t packets = 0;
  const uint64_t first = read(24);
  uint64_t last = first;
  uint64_t at = 24;
  for (; holds(file.head, at, 16); at += 16 + read(at + 8)) {
    last = read(at);
    ++packets;
  }
  if (at != file.size) return;
  append_count(line, packets, "packet");
  append_duration(line, last - first);
}

// Blocks of type:4 size:4 …; those of types 3 and 6 hold a packet.
void append_blocks(std::string& line, const Glimpse& file) {
  const bool big = u8(file.head, 8) == 0x1a;
  const auto read = [&](uint64_t at) { return read_integer(file.head, at, 4, big); };
  uint64_t packets = 0;
  uint64_t at = 0;
  for (; holds(file.head, at, 12) && read(at + 4) >= 12; at += read(at + 4)) {
    const uint64_t type = read(at);
    packets += type == 6 || type == 3 ? 1 : 0;
  }
  if (at == file.size && packets > 0) append_count(line, packets, "packet");
}

}  // namespace sluice::families

// Windows programs, and the signature that fat Mach-O files share with Java classes.
#include "sniff/recognisers.h"

namespace sluice::sniffing {
namespace {

using namespace std::string_view_literals;

/// CPU types of <mach/machine.h>, the 64-bit flags taken off: x86, ARM, PowerPC and older.
bool known_cpu(uint32_t type) {
  const uint32_t base = type & 0x00FFFFFF;
  const uint32_t flags = type & 0xFF000000;
  return base >= 1 && base <= 18 && (flags == 0 || flags == 0x01000000 || flags == 0x02000000);
}

}  // namespace

/// A DOS header whose field at 60 leads to `PE\0\0`. When that is out of sight, a header as linkers
/// write it (four paragraphs long, relocations at 64) is taken for one, but not for certain.
std::optional<Match> dos_program(Bytes head) {
  if (!holds(head, 0, 64)) return std::nullopt;
  const uint32_t at = le32(head, 60);
  if (at < 4 || at > 1u << 20 || at % 4 != 0) return std::nullopt;
  if (holds(head, at, 4)) {
    return stands(head, at, "PE\0\0"sv) ? std::optional(Match{Kind::pe}) : std::nullopt;
  }
  const bool usual = le16(head, 8) == 4 && le16(head, 24) == 64;
  return usual ? std::optional(Match{Kind::pe, false}) : std::nullopt;
}

//   CAFEBABE <architectures> <cpu> …       a fat Mach-O holds a few
//   CAFEBABE <minor> <major> …             a Java class has major 45 or more (JVMS §4.1)
std::optional<Match> cafebabe(Bytes head) {
  if (!holds(head, 0, 10)) return std::nullopt;
  const uint32_t minor = be16(head, 4);
  const uint32_t major = be16(head, 6);
  if (minor == 0 && major >= 1 && major < 45) {
    return holds(head, 0, 12) && known_cpu(be32(head, 8)) ? std::optional(Match{Kind::macho})
                                                          : std::nullopt;
  }
  const bool version = major >= 45 && major < 256 && (minor <= 3 || minor == 0xFFFF);
  // The constant pool is never empty.
  return version && be16(head, 8) > 1 ? std::optional(Match{Kind::java_class}) : std::nullopt;
}

}  // namespace sluice::sniffing

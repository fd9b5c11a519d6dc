#include "sniff/compound.h"

#include <algorithm>

namespace sluice {

namespace {

/// Sectors from here on mean the end of a chain, or nothing.
constexpr uint32_t kLastSector = 0xffff'fffa;
constexpr uint32_t kSmall = 4'096;
constexpr uint32_t kSmallShift = 6;
/// Sectors of the table whose places the header has.
constexpr uint32_t kListed = 109;

}  // namespace

//   30: sector shift  48: first sector of the directory  60: first sector of the small table
//   76: places of the table's sectors; sector n is at (n + 1) << shift
//
// An entry of the directory:  0 name  64 its bytes:2  66 type  116 start  120 size
std::optional<CompoundFile> CompoundFile::open(const Glimpse& file) {
  constexpr size_t kEntry = 128;
  constexpr size_t kMostDirectory = 65'536;
  CompoundFile found(file);
  found.shift_ = le16(file.head, 30);
  if (!stands(file.head, 0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") || !holds(file.head, 0, 512) ||
      (found.shift_ != 9 && found.shift_ != 12)) {
    return std::nullopt;
  }
  const std::string directory = found.read_chain(le32(file.head, 48), kMostDirectory);
  for (size_t from = 0; from + kEntry <= directory.size(); from += kEntry) {
    const Bytes bytes = as_bytes(std::string_view(directory).substr(from, kEntry));
    Entry& entry = found.entries_.emplace_back();
    const uint32_t length = std::min(le16(bytes, 64), 64u);
    for (uint32_t i = 0; i + 2 < length; i += 2) {
      const uint32_t unit = le16(bytes, i);
      if (unit > 0 && unit < 0x7f) entry.name += static_cast<char>(unit);
    }
    entry.start = le32(bytes, 116);
    entry.size = le32(bytes, 120);
  }
  return found;
}

uint32_t CompoundFile::find_next(uint32_t sector) const {
  const uint32_t each = 1u << (shift_ - 2);
  if (sector / each >= kListed) return kLastSector;
  const uint64_t table = le32(file_.head, 76 + 4 * (sector / each));
  const Bytes seen = file_.from((table + 1) << shift_);
  const uint64_t at = 4 * uint64_t{sector % each};
  return holds(seen, at, 4) ? le32(seen, at) : kLastSector;
}

std::string CompoundFile::read_chain(uint32_t sector, uint64_t limit) const {
  const size_t size = size_t{1} << shift_;
  std::string bytes;
  while (bytes.size() < limit && sector < kLastSector) {
    const Bytes seen = file_.from((uint64_t{sector} + 1) << shift_);
    if (seen.empty()) break;
    bytes += as_text(seen.first(std::min(seen.size(), size)));
    sector = find_next(sector);
  }
  if (bytes.size() > limit) bytes.resize(static_cast<size_t>(limit));
  return bytes;
}

uint32_t CompoundFile::count(std::string_view begin) const {
  return static_cast<uint32_t>(std::count_if(
      entries_.begin(), entries_.end(),
      [begin](const Entry& entry) { return std::string_view(entry.name).starts_with(begin); }));
}

std::string CompoundFile::read(std::string_view name, size_t limit) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [name](const Entry& listed) { return listed.name == name; });
  if (entry == entries_.end()) return {};
  const uint64_t wanted = std::min<uint64_t>(entry->size, limit);
  if (entry->size >= kSmall) return read_chain(entry->start, wanted);
  // Small streams are pieces of 64 bytes in the first entry's own stream, with a table of theirs.
  const std::string pieces = read_chain(entries_[0].start, 1 << 18);
  const std::string table = read_chain(le32(file_.head, 60), 1 << 16);
  std::string bytes;
  for (uint32_t piece = entry->start; bytes.size() < wanted && piece < kLastSector;) {
    const uint64_t at = uint64_t{piece} << kSmallShift;
    if (at >= pieces.size()) break;
    bytes.append(pieces, static_cast<size_t>(at), size_t{1} << kSmallShift);
    const uint64_t next = 4 * uint64_t{piece};
    piece = holds(as_bytes(table), next, 4) ? le32(as_bytes(table), next) : kLastSector;
  }
  if (bytes.size() > wanted) bytes.resize(static_cast<size_t>(wanted));
  return bytes;
}

}  // namespace sluice

#include "tables/hash_index.h"

#include <algorithm>
#include <cstring>

namespace sluice::tables {

namespace {

constexpr size_t kFirstSlots = 1024;

uint32_t hash_bytes(std::string_view bytes) {
  // FNV over words of eight bytes, whose bits are mixed at the end.
  uint64_t hash = 0x9E3779B97F4A7C15U ^ bytes.size();
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32;
    bytes.remove_prefix(8);
  }
  uint64_t word = 0;
  for (const char each : bytes) word = word << 8 | static_cast<uint8_t>(each);
  hash = (hash ^ word) * 0xD6E8FEB86659FD93U;
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93U;
  return static_cast<uint32_t>(hash >> 32);
}

bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= a.size(); at += sizeof(uint64_t)) {
    uint64_t one = 0;
    uint64_t other = 0;
    std::memcpy(&one, a.data() + at, sizeof one);
    std::memcpy(&other, b.data() + at, sizeof other);
    if (one != other) return false;
  }
  while (at < a.size() && a[at] == b[at]) ++at;
  return at == a.size();
}

}  // namespace

std::string_view HashIndex::at(size_t index) const {
  const size_t begin = index == 0 ? 0 : ends_[index - 1];
  return {bytes_.data() + begin, ends_[index] - begin};
}

size_t HashIndex::memory() const {
  return bytes_.capacity() + slots_.capacity() * 4 + hashes_.capacity() * 4 +
         ends_.capacity() * sizeof(size_t);
}

void HashIndex::grow() {
  slots_.assign(std::max(kFirstSlots, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t index = 0; index < hashes_.size(); ++index) {
    size_t slot = hashes_[index] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint32_t>(index + 1);
  }
}

HashIndex::Found HashIndex::add(std::string_view bytes) {
  if ((ends_.size() + 1) * 2 > slots_.size()) grow();
  const uint32_t hash = hash_bytes(bytes);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const uint32_t index = slots_[slot];
    if (index == 0) {
      bytes_.append(bytes);
      ends_.push_back(bytes_.size());
      hashes_.push_back(hash);
      slots_[slot] = static_cast<uint32_t>(ends_.size());
      return {ends_.size() - 1, true};
    }
    if (hashes_[index - 1] == hash && is_same(at(index - 1), bytes)) return {index - 1, false};
  }
}

}  // namespace sluice::tables

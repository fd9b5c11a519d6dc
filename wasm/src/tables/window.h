// The bytes of an artifact around the row at hand.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "tables/rows.h"

namespace sluice::tables {

/// Bytes of an artifact, read in pieces, of which the row at hand is whole. Behind them are some
/// zeros, so that whole blocks can be looked at.
class Window {
 public:
  /// Bytes that are read together.
  static constexpr size_t kBytes = size_t{256} * 1024;
  static constexpr size_t kPadding = 64;

  explicit Window(Read read, size_t size = kBytes)
      : read_(std::move(read)), size_(std::max(size, size_t{1})) {}

  /// Goes to a byte, and forgets what was read.
  void seek(uint64_t offset) {
    base_ = offset;
    filled_ = 0;
    is_last_ = false;
  }

  /// Drops the bytes before `from`, and reads on behind the rest. False if that fails.
  bool refill(size_t from) {
    if (filled_ > from) std::memmove(bytes_.data(), bytes_.data() + from, filled_ - from);
    base_ += from;
    filled_ -= from;
    const size_t size = std::max(size_, filled_ * 2);
    if (bytes_.size() < size + kPadding) bytes_.resize(size + kPadding);
    // What a host has at hand is enough, if that is not next to nothing.
    for (const size_t enough = filled_ + (size - filled_ + 1) / 2; filled_ < enough;) {
      const ptrdiff_t count = read_(base_ + filled_, {bytes_.data() + filled_, size - filled_});
      if (count < 0) return false;
      is_last_ = count == 0;
      if (is_last_) break;
      filled_ += static_cast<size_t>(count);
    }
    std::memset(bytes_.data() + filled_, 0, kPadding);
    return true;
  }

  const char* data() const { return bytes_.data(); }
  size_t size() const { return filled_; }
  /// Where the first byte is in the artifact.
  uint64_t base() const { return base_; }
  /// Whether nothing follows.
  bool is_last() const { return is_last_; }

 private:
  Read read_;
  size_t size_;
  std::vector<char> bytes_;
  size_t filled_ = 0;
  uint64_t base_ = 0;
  bool is_last_ = false;
};

}  // namespace sluice::tables

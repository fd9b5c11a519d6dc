// Bytes of a text, sixteen at a time: which of them are what one looks for.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace sluice {

inline constexpr size_t kBlockBytes = 16;

#ifdef __wasm_simd128__

/// A flag for each byte of a block.
class Flags {
 public:
  explicit Flags(v128_t lanes) : lanes_(lanes) {}
  Flags operator|(Flags other) const { return Flags(wasm_v128_or(lanes_, other.lanes_)); }
  Flags operator&(Flags other) const { return Flags(wasm_v128_and(lanes_, other.lanes_)); }
  bool any() const { return wasm_v128_any_true(lanes_); }
  /// The flag of the first byte is the lowest bit.
  uint32_t bits() const { return wasm_i8x16_bitmask(lanes_); }

 private:
  v128_t lanes_;
};

/// Sixteen bytes, and what they are.
class Block {
 public:
  explicit Block(const void* at) : bytes_(wasm_v128_load(at)) {}
  void copy(void* to) const { wasm_v128_store(to, bytes_); }
  Block operator|(Block other) const { return Block(wasm_v128_or(bytes_, other.bytes_)); }

  Flags is(uint8_t byte) const { return Flags(wasm_i8x16_eq(bytes_, splat(byte))); }
  /// Whether a byte is `first`, or up to `more` (at most 0x7F) above it: moved to the end of the
  /// signed numbers, since engines compare those in one instruction.
  Flags from(uint8_t first, uint8_t more) const {
    const auto behind = static_cast<uint8_t>(0x7F - more - first);
    return Flags(wasm_i8x16_gt(wasm_i8x16_add(bytes_, splat(behind)),
                               splat(static_cast<uint8_t>(0x7F - more - 1))));
  }
  Flags below(uint8_t limit) const { return from(0, static_cast<uint8_t>(limit - 1)); }
  Flags high() const { return Flags(wasm_i8x16_lt(bytes_, splat(0))); }

 private:
  explicit Block(v128_t bytes) : bytes_(bytes) {}
  // The compiler must not see that it is a constant: engines build those anew at each use.
  static v128_t splat(uint8_t byte) {
    v128_t lanes = wasm_u8x16_splat(byte);
    asm("" : "+r"(lanes));
    return lanes;
  }

  v128_t bytes_;
};

#else

class Flags {
 public:
  explicit Flags(uint32_t bits) : bits_(bits) {}
  Flags operator|(Flags other) const { return Flags(bits_ | other.bits_); }
  Flags operator&(Flags other) const { return Flags(bits_ & other.bits_); }
  bool any() const { return bits_ != 0; }
  uint32_t bits() const { return bits_; }

 private:
  uint32_t bits_;
};

class Block {
 public:
  explicit Block(const void* at) { std::memcpy(bytes_.data(), at, kBlockBytes); }
  void copy(void* to) const { std::memcpy(to, bytes_.data(), kBlockBytes); }
  Block operator|(Block other) const {
    for (size_t i = 0; i < kBlockBytes; ++i) other.bytes_[i] |= bytes_[i];
    return other;
  }

  Flags is(uint8_t byte) const { return from(byte, 0); }
  Flags from(uint8_t first, uint8_t more) const {
    uint32_t bits = 0;
    for (size_t i = 0; i < kBlockBytes; ++i) {
      bits |= uint32_t{static_cast<uint8_t>(bytes_[i] - first) <= more} << i;
    }
    return Flags(bits);
  }
  Flags below(uint8_t limit) const { return from(0, static_cast<uint8_t>(limit - 1)); }
  Flags high() const { return from(0x80, 0x7F); }

 private:
  std::array<uint8_t, kBlockBytes> bytes_;
};

#endif

/// Four blocks in a row, asked at once.
class Blocks {
 public:
  static constexpr size_t kBytes = 4 * kBlockBytes;

  explicit Blocks(const uint8_t* at)
      : a_(at), b_(at + kBlockBytes), c_(at + 2 * kBlockBytes), d_(at + 3 * kBlockBytes) {}

  /// Which bytes are wanted; the bit of the first is the lowest.
  template <typename Wanted>
  uint64_t bits(Wanted wanted) const {
    return wanted(a_).bits() | uint64_t{wanted(b_).bits()} << kBlockBytes |
           uint64_t{wanted(c_).bits()} << 2 * kBlockBytes |
           uint64_t{wanted(d_).bits()} << 3 * kBlockBytes;
  }
  template <typename Wanted>
  bool any(Wanted wanted) const {
    return (wanted(a_) | wanted(b_) | wanted(c_) | wanted(d_)).any();
  }
  bool any_high() const { return (a_ | b_ | c_ | d_).high().any(); }

 private:
  Block a_, b_, c_, d_;
};

/// One byte, which can be asked the same.
class Byte {
 public:
  explicit Byte(char byte) : byte_(static_cast<uint8_t>(byte)) {}
  uint32_t is(uint8_t byte) const { return byte_ == byte; }
  uint32_t from(uint8_t first, uint8_t more) const {
    return static_cast<uint8_t>(byte_ - first) <= more;
  }
  uint32_t below(uint8_t limit) const { return byte_ < limit; }
  uint32_t high() const { return byte_ >= 0x80; }

 private:
  uint8_t byte_;
};

/// The first byte in [at, end) that is wanted, else `end`. `wanted` is asked with a `Block`, and at
/// the end with a `Byte`.
template <typename Wanted>
inline const char* find_first(const char* at, const char* end, Wanted wanted) {
  for (; end - at >= static_cast<ptrdiff_t>(kBlockBytes); at += kBlockBytes) {
    const Flags found = wanted(Block(at));
    if (found.any()) return at + std::countr_zero(found.bits());
  }
  while (at < end && !wanted(Byte(*at))) ++at;
  return at;
}

/// The first place of `byte` in [at, end), else `end`: `memchr` of a 32-bit library reads four at a
/// time.
inline const char* find_byte(const char* at, const char* end, char byte) {
  return find_first(at, end, [byte](auto bytes) { return bytes.is(static_cast<uint8_t>(byte)); });
}

/// Whether `text` holds `sought`, of two bytes or more. Its first two and its last rule most places
/// out.
inline bool contains(std::string_view text, std::string_view sought) {
  const auto is = [&](size_t offset, size_t at) {
    return Block(text.data() + offset + at).is(static_cast<uint8_t>(sought[at]));
  };
  const size_t last = sought.size() - 1;
  size_t offset = 0;
  for (; text.size() - offset >= last + kBlockBytes; offset += kBlockBytes) {
    uint32_t places = (is(offset, 0) & is(offset, 1) & is(offset, last)).bits();
    for (; places != 0; places &= places - 1) {
      const auto place = offset + static_cast<size_t>(std::countr_zero(places));
      if (text.substr(place, sought.size()) == sought) return true;
    }
  }
  return text.find(sought, offset) != std::string_view::npos;
}

}  // namespace sluice

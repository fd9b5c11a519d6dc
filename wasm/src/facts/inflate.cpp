#include "facts/inflate.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "sniff/structure.h"

namespace sluice {

namespace {

constexpr uint32_t kLongestCode = 15;
constexpr uint32_t kSymbols = 288;
constexpr uint32_t kDistances = 30;
constexpr uint32_t kEndOfBlock = 256;

/// A canonical prefix code (§3.2.2): how many codes there are of each length, and their symbols in
/// order.
struct Code {
  std::array<uint16_t, kLongestCode + 1> counts{};
  std::array<uint16_t, kSymbols> symbols{};

  /// False when more codes are asked for than there are.
  bool make(const uint8_t* lengths, uint32_t count) {
    counts.fill(0);
    for (uint32_t i = 0; i < count; ++i) ++counts[lengths[i]];
    std::array<uint16_t, kLongestCode + 1> at{};
    int32_t left = 1;
    for (uint32_t length = 1; length <= kLongestCode; ++length) {
      left = 2 * left - counts[length];
      if (left < 0) return false;
      at[length] =
          length == 1 ? uint16_t{0} : static_cast<uint16_t>(at[length - 1] + counts[length - 1]);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (lengths[i] > 0) symbols[at[lengths[i]]++] = static_cast<uint16_t>(i);
    }
    return true;
  }
};

class Inflater {
 public:
  Inflater(Bytes source, size_t limit) : bits_(source), limit_(limit) {}

  std::string read() {
    for (bool last = false; !last && sound();) {
      last = bits_.take(1) == 1;
      const uint32_t type = bits_.take(2);
      const bool goes_on = type == 0   ? copy_stored()
                           : type == 1 ? read_fixed()
                           : type == 2 ? read_dynamic()
                                       : false;
      if (!goes_on) break;
    }
    return std::move(out_);
  }

 private:
  bool sound() const { return out_.size() < limit_ && !bits_.past_end(); }

  bool copy_stored() {
    bits_.align();
    const uint32_t length = bits_.take(16);
    bits_.take(16);
    for (uint32_t i = 0; i < length; ++i) {
      const auto byte = static_cast<char>(bits_.take(8));
      if (!sound()) return false;
      out_ += byte;
    }
    return true;
  }

  /// The next symbol; `kSymbols` when no code fits.
  uint32_t decode(const Code& code) {
    uint32_t next = bits_.peek(kLongestCode);
    int32_t value = 0;
    int32_t first = 0;
    int32_t index = 0;
    for (uint32_t length = 1; length <= kLongestCode; ++length, next >>= 1) {
      value |= static_cast<int32_t>(next & 1);
      const int32_t count = code.counts[length];
      if (value - count < first) {
        bits_.skip(length);
        return code.symbols[static_cast<size_t>(index + value - first)];
      }
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    bits_.skip(kLongestCode);
    return kSymbols;
  }

  /// Lengths and distances (§3.2.5): each step of `4 >> by` symbols takes one more bit.
  uint32_t step(uint32_t symbol, uint32_t shift) {
    if (symbol < 2u << shift) return symbol;
    const uint32_t extra = (symbol >> shift) - 1;
    const uint32_t base = (symbol & ((1u << shift) - 1)) | 1u << shift;
    return (base << extra) + bits_.take(extra);
  }

  bool read_block() {
    for (;;) {
      const uint32_t symbol = decode(literals_);
      if (!sound()) return false;
      if (symbol < kEndOfBlock) {
        out_ += static_cast<char>(symbol);
        continue;
      }
      if (symbol == kEndOfBlock) return true;
      if (symbol > 285) return false;
      const size_t length = symbol == 285 ? 258 : 3 + step(symbol - 257, 2);
      const uint32_t far = decode(distances_);
      if (far >= kDistances) return false;
      const size_t distance = 1 + step(far, 1);
      if (distance > out_.size()) return false;
      for (size_t i = 0; i < length; ++i) out_ += out_[out_.size() - distance];
    }
  }

  bool read_fixed() {
    std::array<uint8_t, kSymbols> lengths{};
    for (uint32_t i = 0; i < kSymbols; ++i) {
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    literals_.make(lengths.data(), kSymbols);
    lengths.fill(5);
    distances_.make(lengths.data(), kDistances);
    return read_block();
  }

  bool read_dynamic() {
    static constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
    const uint32_t literals = bits_.take(5) + 257;
    const uint32_t distances = bits_.take(5) + 1;
    const uint32_t codes = bits_.take(4) + 4;
    if (literals > 286 || distances > kDistances) return false;
    std::array<uint8_t, kSymbols + 32> lengths{};
    for (uint32_t i = 0; i < codes; ++i) lengths[kOrder[i]] = static_cast<uint8_t>(bits_.take(3));
    if (!literals_.make(lengths.data(), 19)) return false;
    lengths.fill(0);
    for (uint32_t i = 0; i < literals + distances;) {
      const uint32_t symbol = decode(literals_);
      if (symbol > 18 || !sound()) return false;
      if (symbol < 16) {
        lengths[i++] = static_cast<uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && i == 0) return false;
      const uint8_t length = symbol == 16 ? lengths[i - 1] : uint8_t{0};
      uint32_t times = symbol == 18 ? 11 + bits_.take(7) : 3 + bits_.take(symbol - 14);
      if (i + times > literals + distances) return false;
      for (; times > 0; --times) lengths[i++] = length;
    }
    return literals_.make(lengths.data(), literals) &&
           distances_.make(lengths.data() + literals, distances) && read_block();
  }

  Bits bits_;
  size_t limit_;
  std::string out_;
  Code literals_;
  Code distances_;
};

/// Bytes before the stream of a gzip member; 0 when its header is cut.
size_t gzip_header(Bytes source) {
  const uint32_t flags = u8(source, 3);
  size_t at = 10;
  if ((flags & 4) != 0) at += 2 + le16(source, at);
  for (const uint32_t named : {8u, 16u}) {
    if ((flags & named) == 0) continue;
    const size_t end = as_text(source).find('\0', at);
    if (end == std::string_view::npos) return 0;
    at = end + 1;
  }
  return at + ((flags & 2) != 0 ? 2 : 0);
}

}  // namespace

std::string inflate(Bytes source, size_t limit) {
  std::string bytes = Inflater(source, limit).read();
  if (bytes.size() > limit) bytes.resize(limit);
  return bytes;
}

std::string inflate_wrapped(Bytes source, size_t limit) {
  const bool gzip = stands(source, 0, "\x1f\x8b\x08");
  const bool zlib = (u8(source, 0) & 15) == 8 && be16(source, 0) % 31 == 0;
  const size_t at = gzip ? gzip_header(source) : zlib ? 2 : 0;
  if (at == 0 || at >= source.size()) return {};
  return inflate(source.subspan(at), limit);
}

}  // namespace sluice

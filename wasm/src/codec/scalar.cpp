#include "codec/kernels.h"

namespace sluice::codec::scalar {

namespace {

constexpr std::array<std::array<bool, 256>, 4> kMembers = {
    set_table(Set::standard), set_table(Set::url), set_table(Set::hex), set_table(Set::any_base64)};

}  // namespace

size_t span(Bytes text, Set set) {
  const auto& member = kMembers[static_cast<size_t>(set)];
  size_t at = 0;
  while (at < text.size() && member[text[at]]) ++at;
  return at;
}

// --- base64 --------------------------------------------------------------------------------------

namespace {

constexpr auto kStandardValues = value_table(Alphabet::standard);
constexpr auto kUrlValues = value_table(Alphabet::url);

// Values have six bits; only kOutside has one of these.
constexpr uint32_t kOutsideSix = 0xc0;

}  // namespace

Decoded decode_base64(Bytes text, Alphabet alphabet, uint8_t* out) {
  const auto& values = alphabet == Alphabet::url ? kUrlValues : kStandardValues;
  Decoded done;
  for (; text.size() - done.read >= 4; done.read += 4, done.written += 3) {
    const uint8_t* quantum = text.data() + done.read;
    const uint32_t a = values[quantum[0]], b = values[quantum[1]];
    const uint32_t c = values[quantum[2]], d = values[quantum[3]];
    if (((a | b | c | d) & kOutsideSix) != 0) break;
    // aaaaaabb bbbbcccc ccdddddd
    const uint32_t bits = a << 18 | b << 12 | c << 6 | d;
    out[done.written] = static_cast<uint8_t>(bits >> 16);
    out[done.written + 1] = static_cast<uint8_t>(bits >> 8);
    out[done.written + 2] = static_cast<uint8_t>(bits);
  }
  return done;
}

size_t encode_base64(Bytes bytes, Alphabet alphabet, char* out) {
  const char* digits = alphabet == Alphabet::url ? kUrlDigits : kStandardDigits;
  size_t at = 0;
  for (; bytes.size() - at >= 3; at += 3, out += 4) {
    // aaaaaabb bbbbcccc ccdddddd
    const uint32_t bits = static_cast<uint32_t>(bytes[at]) << 16 |
                          static_cast<uint32_t>(bytes[at + 1]) << 8 | bytes[at + 2];
    out[0] = digits[bits >> 18];
    out[1] = digits[bits >> 12 & 63];
    out[2] = digits[bits >> 6 & 63];
    out[3] = digits[bits & 63];
  }
  return at;
}

// --- hex -----------------------------------------------------------------------------------------

namespace {

constexpr auto kHexValues = value_table(Alphabet::hex);

// Values have four bits; only kOutside has one of these.
constexpr unsigned kOutsideFour = 0xf0;

}  // namespace

Decoded decode_hex(Bytes text, uint8_t* out) {
  Decoded done;
  for (; text.size() - done.read >= 2; done.read += 2) {
    const unsigned high = kHexValues[text[done.read]], low = kHexValues[text[done.read + 1]];
    if (((high | low) & kOutsideFour) != 0) break;
    out[done.written++] = static_cast<uint8_t>(high << 4 | low);
  }
  return done;
}

size_t encode_hex(Bytes bytes, bool upper, char* out) {
  const char* digits = upper ? kUpperHexDigits : kHexDigits;
  for (const uint8_t byte : bytes) {
    *out++ = digits[byte >> 4];
    *out++ = digits[byte & 15];
  }
  return bytes.size();
}

}  // namespace sluice::codec::scalar

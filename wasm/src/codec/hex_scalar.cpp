#include "codec/kernels.h"

namespace sluice::codec::scalar {

namespace {

constexpr auto kHexValues = value_table(Alphabet::hex);

// Values have four bits; only kOutside has one of these.
constexpr unsigned kOutsideBits = 0xf0;

}  // namespace

Decoded decode_hex(Bytes text, uint8_t* out) {
  Decoded done;
  for (; text.size() - done.read >= 2; done.read += 2) {
    const unsigned high = kHexValues[text[done.read]], low = kHexValues[text[done.read + 1]];
    if (((high | low) & kOutsideBits) != 0) break;
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

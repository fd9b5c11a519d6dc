// The SIMD kernels against their scalar twins. Only a WASM build has them.
#ifdef __wasm_simd128__

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "codec/kernels.h"

namespace {

using sluice::Alphabet;
using sluice::Bytes;
using sluice::Decoded;
using sluice::codec::Set;
namespace scalar = sluice::codec::scalar;
namespace simd128 = sluice::codec::simd128;

constexpr size_t kLongest = 258;
constexpr size_t kBlock = 16;
constexpr size_t kHexBlock = 32;

std::vector<uint8_t> clean_text(Alphabet alphabet, size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes(size);
  for (auto& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  std::string text;
  sluice::encode(bytes, alphabet, false, seed % 2 == 0, text);
  text.resize(size);
  return {text.begin(), text.end()};
}

Decoded decode_with(Bytes text, Alphabet alphabet, bool wide, std::vector<uint8_t>& out) {
  // The kernel stores up to four bytes that do not count.
  out.assign(sluice::decoded_capacity(text.size()), 0);
  if (alphabet == Alphabet::hex) {
    return wide ? simd128::decode_hex(text, out.data()) : scalar::decode_hex(text, out.data());
  }
  return wide ? simd128::decode_base64(text, alphabet, out.data())
              : scalar::decode_base64(text, alphabet, out.data());
}

/// The kernel takes every whole block before `bad`, and decodes it as its twin does.
void compare_decode(Bytes text, Alphabet alphabet, size_t bad) {
  std::vector<uint8_t> expected, actual;
  decode_with(text, alphabet, false, expected);
  const auto done = decode_with(text, alphabet, true, actual);
  const size_t block = alphabet == Alphabet::hex ? kHexBlock : kBlock;
  ASSERT_EQ(done.read, bad / block * block) << "fault at " << bad << " of " << text.size();
  ASSERT_EQ(done.written, alphabet == Alphabet::hex ? done.read / 2 : done.read / 4 * 3);
  ASSERT_EQ(std::memcmp(actual.data(), expected.data(), done.written), 0)
      << "fault at " << bad << " of " << text.size();
}

TEST(CodecSimd128, DecodesWhatScalarDecodesForEveryLengthAndFault) {
  for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url, Alphabet::hex}) {
    for (size_t size = 0; size <= kLongest; ++size) {
      auto text = clean_text(alphabet, size, static_cast<uint32_t>(size));
      ASSERT_NO_FATAL_FAILURE(compare_decode(text, alphabet, size));
      for (size_t bad = 0; bad < size; ++bad) {
        const uint8_t kept = text[bad];
        text[bad] = bad % 3 == 0 ? '=' : bad % 3 == 1 ? '~' : 0xc1;
        ASSERT_NO_FATAL_FAILURE(compare_decode(text, alphabet, bad));
        text[bad] = kept;
      }
    }
  }
}

TEST(CodecSimd128, SpansEndInTheBlockWhereScalarEnds) {
  for (const Set set : {Set::standard, Set::url, Set::hex, Set::any_base64}) {
    for (int value = 0; value < 256; ++value) {
      for (size_t place = 0; place < 112; ++place) {
        std::vector<uint8_t> text(112, 'c');
        text[place] = static_cast<uint8_t>(value);
        ASSERT_EQ(simd128::span(text, set), scalar::span(text, set) / kBlock * kBlock)
            << "character " << value << " at " << place;
      }
    }
  }
}

TEST(CodecSimd128, SpansOfEveryLength) {
  for (const Set set : {Set::standard, Set::url, Set::hex, Set::any_base64}) {
    for (size_t size = 0; size <= kLongest; ++size) {
      const std::vector<uint8_t> text(size, '7');
      ASSERT_EQ(simd128::span(text, set), size / kBlock * kBlock);
    }
  }
}

TEST(CodecSimd128, EncodesWhatScalarEncodes) {
  for (size_t size = 0; size <= kLongest; ++size) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 167 + size * 31);
    std::string expected(size * 2 + 4, '.'), actual(size * 2 + 4, '.');
    for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url}) {
      scalar::encode_base64(bytes, alphabet, expected.data());
      const size_t read = simd128::encode_base64(bytes, alphabet, actual.data());
      ASSERT_EQ(read, size < kBlock ? 0 : ((size - kBlock) / 12 + 1) * 12);
      ASSERT_EQ(actual.substr(0, read / 3 * 4), expected.substr(0, read / 3 * 4)) << size;
      ASSERT_EQ(actual.back(), '.');
    }
    for (const bool upper : {false, true}) {
      scalar::encode_hex(bytes, upper, expected.data());
      const size_t read = simd128::encode_hex(bytes, upper, actual.data());
      ASSERT_EQ(read, size / kBlock * kBlock);
      ASSERT_EQ(actual.substr(0, read * 2), expected.substr(0, read * 2)) << size;
    }
  }
}

}  // namespace

#endif

// Every length through every block size of the kernels, against a decoder that takes its time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/codec.h"

namespace {

using sluice::Alphabet;
using sluice::Bytes;

constexpr size_t kLongest = 258;
constexpr uint8_t kCanary = 0xa5;
constexpr Alphabet kAlphabets[] = {Alphabet::standard, Alphabet::url, Alphabet::hex};

std::string_view digits_of(Alphabet alphabet) {
  switch (alphabet) {
    case Alphabet::standard:
      return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    case Alphabet::url:
      return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    case Alphabet::hex:
      break;
  }
  return "0123456789abcdef";
}

/// Bit by bit, without tables.
std::vector<uint8_t> naive_decode(std::string_view text, Alphabet alphabet) {
  const auto digits = digits_of(alphabet);
  const unsigned width = alphabet == Alphabet::hex ? 4 : 6;
  std::vector<uint8_t> out;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    bits = (bits << width | static_cast<unsigned>(digits.find(c))) & 0xfff;
    if ((held += width) < 8) continue;
    held -= 8;
    out.push_back(static_cast<uint8_t>(bits >> held));
  }
  return out;
}

std::vector<uint8_t> some_bytes(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes(size);
  for (auto& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return bytes;
}

/// `text` copied to the end of its own allocation, so that a sanitizer sees a read past it.
std::vector<uint8_t> own(std::string_view text) {
  return {text.begin(), text.end()};
}

TEST(CodecLengths, DecodeUndoesEncode) {
  for (const Alphabet alphabet : kAlphabets) {
    for (size_t size = 0; size <= kLongest; ++size) {
      const auto bytes = some_bytes(size, static_cast<uint32_t>(size));
      std::string text;
      sluice::encode(bytes, alphabet, false, false, text);
      ASSERT_EQ(naive_decode(text, alphabet), bytes);

      const auto input = own(text);
      std::vector<uint8_t> out(sluice::decoded_capacity(text.size()) + 1, kCanary);
      const auto done = sluice::decode(input, alphabet, out.data());
      ASSERT_EQ(out.back(), kCanary) << "writes within decoded_capacity";
      const size_t quantum = alphabet == Alphabet::hex ? 2 : 4;
      ASSERT_EQ(done.read, text.size() / quantum * quantum);
      size_t written = done.written;
      if (done.read < text.size()) {
        const auto tail =
            sluice::decode_tail(Bytes(input).subspan(done.read), alphabet, out.data() + written);
        ASSERT_TRUE(tail);
        written += *tail;
      }
      out.resize(written);
      ASSERT_EQ(out, bytes);
    }
  }
}

TEST(CodecLengths, DecodeAtEveryLengthAndAlignment) {
  for (const Alphabet alphabet : kAlphabets) {
    std::string text;
    sluice::encode(some_bytes(kLongest, 7), alphabet, false, false, text);
    for (size_t from = 0; from < 17; ++from) {
      for (size_t size = 0; size + from <= kLongest; ++size) {
        const auto part = std::string_view(text).substr(from, size);
        std::vector<uint8_t> out(sluice::decoded_capacity(size));
        const auto done = sluice::decode(sluice::as_bytes(part), alphabet, out.data());
        const auto expected = naive_decode(part.substr(0, done.read), alphabet);
        ASSERT_EQ(done.written, expected.size());
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
      }
    }
  }
}

TEST(CodecLengths, PaddingFillsTheLastQuantumOnly) {
  for (size_t size = 0; size <= kLongest; ++size) {
    const auto bytes = some_bytes(size, 3);
    std::string bare, padded;
    sluice::encode(bytes, Alphabet::standard, false, false, bare);
    sluice::encode(bytes, Alphabet::standard, true, false, padded);
    ASSERT_EQ(padded.size(), (size + 2) / 3 * 4);
    ASSERT_EQ(padded, bare + std::string(padded.size() - bare.size(), '='));
  }
}

TEST(CodecLengths, SpansCoverWholeStretches) {
  for (const Alphabet alphabet : kAlphabets) {
    std::string text;
    sluice::encode(some_bytes(kLongest, 11), alphabet, false, false, text);
    for (size_t size = 0; size <= kLongest; ++size) {
      const auto input = own(std::string_view(text).substr(0, size));
      ASSERT_EQ(sluice::alphabet_span(input, alphabet), size);
      ASSERT_EQ(sluice::any_base64_span(input), size);
    }
  }
}

}  // namespace

// base64 and hex, classified, decoded and encoded.
#include "sluice/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr Alphabet kAlphabets[] = {Alphabet::standard, Alphabet::url, Alphabet::hex};

constexpr std::string_view kStandardDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string_view digits_of(Alphabet alphabet) {
  if (alphabet == Alphabet::hex) return kHexDigits;
  return alphabet == Alphabet::url ? kUrlDigits : kStandardDigits;
}

/// For messages of failures.
std::string_view name_of(Alphabet alphabet) {
  if (alphabet == Alphabet::hex) return "hex";
  return alphabet == Alphabet::url ? "url" : "standard";
}

// --- what RFC 4648 itself says, and the edges of single calls ------------------------------------

std::string encoded(std::string_view bytes, Alphabet alphabet, bool padded = true,
                    bool upper = false) {
  std::string out = "before ";
  sluice::encode(as_bytes(bytes), alphabet, padded, upper, out);
  EXPECT_EQ(out.substr(0, 7), "before ");
  return out.substr(7);
}

std::string decoded(std::string_view text, Alphabet alphabet) {
  std::vector<uint8_t> room(sluice::decoded_capacity(text.size()));
  const auto done = sluice::decode(as_bytes(text), alphabet, room.data());
  return std::string(as_text({room.data(), done.written})) + "|" +
         std::string(text.substr(done.read));
}

std::string tail(std::string_view text, Alphabet alphabet = Alphabet::standard) {
  uint8_t room[3] = {0x55, 0x55, 0x55};
  const auto size = sluice::decode_tail(as_bytes(text), alphabet, room);
  if (!size) return "nothing";
  EXPECT_EQ(room[*size], 0x55) << "writes no more than it says";
  return std::string(as_text({room, *size}));
}

struct Vector {
  std::string_view bytes, base64, bare, hex;
};

// RFC 4648 §10
constexpr Vector kVectors[] = {
    {"", "", "", ""},
    {"f", "Zg==", "Zg", "66"},
    {"fo", "Zm8=", "Zm8", "666F"},
    {"foo", "Zm9v", "Zm9v", "666F6F"},
    {"foob", "Zm9vYg==", "Zm9vYg", "666F6F62"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE", "666F6F6261"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy", "666F6F626172"},
};

TEST(CodecVectors, EncodesAsTheRfc) {
  for (const auto& vector : kVectors) {
    EXPECT_EQ(encoded(vector.bytes, Alphabet::standard), vector.base64);
    EXPECT_EQ(encoded(vector.bytes, Alphabet::standard, false), vector.bare);
    EXPECT_EQ(encoded(vector.bytes, Alphabet::url), vector.base64);
    EXPECT_EQ(encoded(vector.bytes, Alphabet::hex, true, true), vector.hex);
  }
  EXPECT_EQ(encoded("\xca\xfe\x09", Alphabet::hex), "cafe09");
}

TEST(CodecVectors, DecodesAsTheRfc) {
  for (const auto& vector : kVectors) {
    const size_t whole = vector.bare.size() / 4 * 4;
    const std::string head(vector.bytes.substr(0, whole / 4 * 3));
    EXPECT_EQ(decoded(vector.base64, Alphabet::standard),
              head + "|" + std::string(vector.base64.substr(whole)));
    EXPECT_EQ(decoded(vector.hex, Alphabet::hex), std::string(vector.bytes) + "|");
    if (vector.bare.size() > whole) {
      EXPECT_EQ(head + tail(vector.bare.substr(whole)), vector.bytes);
    }
  }
  EXPECT_EQ(decoded("CAfe0", Alphabet::hex), "\xca\xfe|0");
}

TEST(CodecVectors, AlphabetsDifferInTwoCharacters) {
  const std::string bytes = "\xfb\xef\xbe\xff\xff\xff";
  EXPECT_EQ(encoded(bytes, Alphabet::standard), "++++////");
  EXPECT_EQ(encoded(bytes, Alphabet::url), "----____");
  EXPECT_EQ(decoded("++++////", Alphabet::standard), bytes + "|");
  EXPECT_EQ(decoded("----____", Alphabet::url), bytes + "|");
  EXPECT_EQ(decoded("++++", Alphabet::url), "|++++");
  EXPECT_EQ(decoded("____", Alphabet::standard), "|____");
}

TEST(CodecVectors, EveryValueAtEveryPlaceOfAQuantum) {
  for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url}) {
    const std::string_view digits = digits_of(alphabet);
    for (unsigned value = 0; value < 64; ++value) {
      for (unsigned place = 0; place < 4; ++place) {
        std::string quantum = "AAAA";
        quantum[place] = digits[value];
        const uint32_t bits = value << (18 - 6 * place);
        const char bytes[] = {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8),
                              static_cast<char>(bits)};
        EXPECT_EQ(decoded(quantum, alphabet), std::string(bytes, 3) + "|");
        EXPECT_EQ(encoded({bytes, 3}, alphabet), quantum);
      }
    }
  }
}

TEST(CodecVectors, TailsAreCanonicalOrNothing) {
  EXPECT_EQ(tail("Zg"), "f");
  EXPECT_EQ(tail("Zm8"), "fo");
  // RFC 4648 §3.5: the bits that no byte uses are zero.
  for (size_t value = 0; value < 64; ++value) {
    const char digit = kStandardDigits[value];
    EXPECT_EQ(tail({&digit, 1}), "nothing");
    EXPECT_EQ(tail(std::string("A") + digit) != "nothing", value % 16 == 0) << value;
    EXPECT_EQ(tail(std::string("AA") + digit) != "nothing", value % 4 == 0) << value;
  }
  for (const std::string_view text : {"", "A", "AAAA", "A=", "AA=", "=A", "A A", "_A", "A\xffg"}) {
    EXPECT_EQ(tail(text), "nothing") << text;
  }
  EXPECT_EQ(tail("_w", Alphabet::url), "\xff");
  EXPECT_EQ(tail("/w", Alphabet::url), "nothing");
  EXPECT_EQ(tail("66", Alphabet::hex), "nothing");
  EXPECT_EQ(tail("666", Alphabet::hex), "nothing");
}

// --- every length through every block size of the kernels, against a decoder that takes its time -

constexpr size_t kLongest = 258;
constexpr uint8_t kCanary = 0xa5;

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
      ASSERT_EQ(naive_decode(text, alphabet), bytes) << name_of(alphabet) << ' ' << size;

      const auto input = own(text);
      std::vector<uint8_t> out(sluice::decoded_capacity(text.size()) + 1, kCanary);
      const auto done = sluice::decode(input, alphabet, out.data());
      ASSERT_EQ(out.back(), kCanary) << "writes within decoded_capacity";
      const size_t quantum = alphabet == Alphabet::hex ? 2 : 4;
      ASSERT_EQ(done.read, text.size() / quantum * quantum) << name_of(alphabet) << ' ' << size;
      size_t written = done.written;
      if (done.read < text.size()) {
        const auto tail =
            sluice::decode_tail(Bytes(input).subspan(done.read), alphabet, out.data() + written);
        ASSERT_TRUE(tail);
        written += *tail;
      }
      out.resize(written);
      ASSERT_EQ(out, bytes) << name_of(alphabet) << ' ' << size;
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
        ASSERT_EQ(done.written, expected.size()) << name_of(alphabet) << ' ' << size;
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()))
            << name_of(alphabet) << ' ' << size << " from " << from;
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
      ASSERT_EQ(sluice::alphabet_span(input, alphabet), size) << name_of(alphabet);
      ASSERT_EQ(sluice::any_base64_span(input), size) << name_of(alphabet);
    }
  }
}

// --- a foreign character of any value at any place stops every loop at exactly that place --------

bool belongs(Alphabet alphabet, char c) {
  if (alphabet == Alphabet::hex && c >= 'A' && c <= 'F') return true;
  return digits_of(alphabet).find(c) != std::string_view::npos;
}

/// Decoder and span stop at the character `bad`, or rather the decoder at its quantum.
void expect_stop(const std::string& text, size_t bad, Alphabet alphabet) {
  const size_t quantum = alphabet == Alphabet::hex ? 2 : 4;
  const size_t quantum_bytes = alphabet == Alphabet::hex ? 1 : 3;
  const size_t whole = bad / quantum;
  std::vector<uint8_t> out(sluice::decoded_capacity(text.size()));
  const auto done = sluice::decode(as_bytes(text), alphabet, out.data());
  ASSERT_EQ(done.read, whole * quantum) << name_of(alphabet) << ' ' << bad << ": " << text;
  ASSERT_EQ(done.written, whole * quantum_bytes) << name_of(alphabet) << ' ' << bad;
  ASSERT_EQ(sluice::alphabet_span(as_bytes(text), alphabet), bad) << name_of(alphabet);
}

TEST(CodecReject, EveryByteValueInsideALongBlock) {
  for (const Alphabet alphabet : kAlphabets) {
    for (int value = 0; value < 256; ++value) {
      const char c = static_cast<char>(value);
      for (const size_t place : {0, 5, 63, 64, 100, 140}) {
        std::string text(144, 'a');
        text[place] = c;
        const size_t stop = belongs(alphabet, c) ? text.size() : place;
        ASSERT_NO_FATAL_FAILURE(expect_stop(text, stop, alphabet));
      }
    }
  }
}

TEST(CodecReject, EveryPlaceInEveryLength) {
  for (const Alphabet alphabet : kAlphabets) {
    for (size_t size = 1; size <= 144; ++size) {
      for (size_t bad = 0; bad < size; ++bad) {
        std::string text(size, 'e');
        text[bad] = bad % 2 == 0 ? '=' : '\xe5';
        ASSERT_NO_FATAL_FAILURE(expect_stop(text, bad, alphabet));
      }
    }
  }
}

TEST(CodecReject, PaddingIsNotPartOfAQuantum) {
  const std::string text = std::string(64, 'A') + "AA==" + std::string(64, 'A');
  expect_stop(text, 66, Alphabet::standard);
}

TEST(CodecReject, AnyBase64IsBothAlphabets) {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool inside = belongs(Alphabet::standard, c) || belongs(Alphabet::url, c);
    for (size_t place = 0; place < 130; ++place) {
      std::string text(130, 'Z');
      text[place] = c;
      ASSERT_EQ(sluice::any_base64_span(as_bytes(text)), inside ? text.size() : place);
    }
  }
}

}  // namespace
}  // namespace sluice

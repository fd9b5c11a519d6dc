// What RFC 4648 itself says, and the edges of single calls.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sluice/codec.h"

namespace {

using sluice::Alphabet;
using sluice::as_bytes;
using sluice::as_text;

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
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url}) {
    const std::string all = digits + (alphabet == Alphabet::url ? "-_" : "+/");
    for (unsigned value = 0; value < 64; ++value) {
      for (unsigned place = 0; place < 4; ++place) {
        std::string quantum = "AAAA";
        quantum[place] = all[value];
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
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t value = 0; value < 64; ++value) {
    EXPECT_EQ(tail({digits.data() + value, 1}), "nothing");
    EXPECT_EQ(tail(std::string("A") + digits[value]) != "nothing", value % 16 == 0) << value;
    EXPECT_EQ(tail(std::string("AA") + digits[value]) != "nothing", value % 4 == 0) << value;
  }
  for (const std::string_view text : {"", "A", "AAAA", "A=", "AA=", "=A", "A A", "_A", "A\xffg"}) {
    EXPECT_EQ(tail(text), "nothing") << text;
  }
  EXPECT_EQ(tail("_w", Alphabet::url), "\xff");
  EXPECT_EQ(tail("/w", Alphabet::url), "nothing");
  EXPECT_EQ(tail("66", Alphabet::hex), "nothing");
  EXPECT_EQ(tail("666", Alphabet::hex), "nothing");
}

}  // namespace

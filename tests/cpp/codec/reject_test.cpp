// A foreign character of any value at any place stops every loop at exactly that place.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sluice/codec.h"

namespace {

using sluice::Alphabet;
using sluice::as_bytes;

constexpr std::string_view kLettersAndDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

bool belongs(Alphabet alphabet, char c) {
  if (alphabet == Alphabet::hex) {
    return std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos;
  }
  return kLettersAndDigits.find(c) != std::string_view::npos ||
         std::string_view(alphabet == Alphabet::url ? "-_" : "+/").find(c) !=
             std::string_view::npos;
}

void expect_stop(const std::string& text, size_t bad, Alphabet alphabet) {
  const size_t quantum = alphabet == Alphabet::hex ? 2 : 4;
  const size_t quantum_bytes = alphabet == Alphabet::hex ? 1 : 3;
  const size_t whole = bad / quantum;
  std::vector<uint8_t> out(sluice::decoded_capacity(text.size()));
  const auto done = sluice::decode(as_bytes(text), alphabet, out.data());
  ASSERT_EQ(done.read, whole * quantum);
  ASSERT_EQ(done.written, whole * quantum_bytes);
  ASSERT_EQ(sluice::alphabet_span(as_bytes(text), alphabet), bad);
}

TEST(CodecReject, EveryByteValueInsideALongBlock) {
  for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url, Alphabet::hex}) {
    for (int value = 0; value < 256; ++value) {
      const char c = static_cast<char>(value);
      for (const size_t place : {0, 5, 63, 64, 100, 140}) {
        std::string text(144, 'a');
        text[place] = c;
        const size_t stop = belongs(alphabet, c) ? text.size() : place;
        expect_stop(text, stop, alphabet);
      }
    }
  }
}

TEST(CodecReject, EveryPlaceInEveryLength) {
  for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url, Alphabet::hex}) {
    for (size_t size = 1; size <= 144; ++size) {
      for (size_t bad = 0; bad < size; ++bad) {
        std::string text(size, 'e');
        text[bad] = bad % 2 == 0 ? '=' : '\xe5';
        expect_stop(text, bad, alphabet);
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

// The fast scan of lane 1 against the one that goes byte by byte, at every alignment.
#include "gate/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gate/gate_fixture.h"
#include "sluice/describe.h"
#include "sluice/tape.h"

namespace sluice::gate {
namespace {

const uint8_t* bytes_of(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// Texts in which every kind of byte stands at every distance from every other.
std::vector<std::string> texts() {
  std::vector<std::string> all;
  for (const std::string special : {"\"", "\\", "\\\"", "\\n", "[", "\x01", " ", "\x7B", "\x2A",
                                    "\xC3\xA9", "\xF0\x9F\xA6\x8A"}) {
    for (size_t at = 0; at < 70; ++at) {
      all.push_back(std::string(at, 'a') + special + std::string(40, 'Z'));
      all.push_back(std::string(at, ' ') + special + std::string(40, '0') + special);
    }
  }
  for (uint32_t seed = 1; seed < 200; ++seed) {
    std::string noise = testing::bytes_like("", 90, seed);
    for (char& c : noise) c = static_cast<char>(c & (seed % 2 == 0 ? 0x7F : 0xFF));
    all.push_back(noise);
  }
  return all;
}

TEST(GateScan, StopsWhereTheScalarTwinStops) {
  for (const std::string& text : texts()) {
    for (size_t offset = 0; offset < 18 && offset < text.size(); ++offset) {
      const uint8_t* at = bytes_of(text) + offset;
      const uint8_t* end = bytes_of(text) + text.size();
      const Scan fast = scan_string(at, end, at);
      const Scan exact = scan_string_scalar(at, end, at);
      ASSERT_EQ(fast.stretch - at, exact.stretch - at) << text;
      ASSERT_EQ(fast.long_stretch, exact.long_stretch) << text;
      // With a long stretch only its beginning matters: lane 2 starts there.
      if (exact.long_stretch) continue;
      ASSERT_EQ(fast.at - at, exact.at - at) << text;
    }
  }
}

// The caller passes over what stopped the scan, and scans on.
TEST(GateScan, AStretchGoesOnAcrossWhatTheCallerPassedOver) {
  for (const std::string& text : texts()) {
    for (size_t before = 1; before < 40 && before < text.size(); ++before) {
      const uint8_t* stretch = bytes_of(text);
      const uint8_t* end = stretch + text.size();
      for (const uint8_t* last : {end, stretch + std::min(text.size(), before + 3)}) {
        const Scan fast = scan_string(stretch + before, last, stretch);
        const Scan exact = scan_string_scalar(stretch + before, last, stretch);
        ASSERT_EQ(fast.stretch - stretch, exact.stretch - stretch) << text;
        ASSERT_EQ(fast.long_stretch, exact.long_stretch) << text;
      }
    }
  }
}

TEST(GateScan, NothingButEscapesIsALongStretch) {
  const std::string text = "\\n\\n\\n\\n\\n\\n\\n\\n\\n";
  const uint8_t* begin = bytes_of(text);
  const Scan scan = scan_string_scalar(begin + kStretch, begin + text.size(), begin);
  EXPECT_TRUE(scan.long_stretch) << "the lane that commits as it goes has to take it";
  EXPECT_EQ(scan.stretch, begin);
}

TEST(GateScan, WithoutAStretchOnlyWhatHasToBeLookedAtStops) {
  const std::string text = std::string(100, 'A') + "\\n\\u0041" + std::string(100, 'z') + "\"";
  const uint8_t* begin = bytes_of(text);
  const Scan scan = scan_string(begin, begin + text.size(), nullptr);
  EXPECT_FALSE(scan.long_stretch);
  EXPECT_EQ(scan.at, begin + text.size() - 1);
  EXPECT_EQ(scan.stretch, nullptr);
}

// What is said to hold no damage, or one byte a character, is not looked at again.
TEST(GateScan, NoDamageIsOverlookedWhereverItStands) {
  std::vector<std::string> all = texts();
  for (const std::string damage : {"\\u0000", "\\ufffd", "\\b", "\xEF\xBF\xBD", "\xC2\x80"}) {
    for (size_t before = 0; before < 140; ++before) {
      for (const size_t behind : {0, 1, 15, 16, 17, 70}) {
        all.push_back(std::string(before, ' ') + damage + std::string(behind, ' '));
      }
    }
  }
  for (const std::string& text : all) {
    const uint8_t* const begin = bytes_of(text);
    for (const uint8_t* stretch : {begin, static_cast<const uint8_t*>(nullptr)}) {
      const Scan scan = scan_string(begin, begin + text.size(), stretch);
      const auto passed = static_cast<size_t>((scan.long_stretch ? scan.stretch : scan.at) - begin);
      const std::string source = text.substr(0, passed);
      std::string value;
      append_unescaped(value, source);
      EXPECT_TRUE(!scan.sound || count_damage(value) == 0) << text;
      EXPECT_TRUE(!scan.ascii || count_chars(source) == source.size()) << text;
    }
  }
  const std::string json =
      std::string(3, ' ') +
      R"({\"name\":\"workbook 1\",\"path\":\"C:\\\\temp\",\"lines\":\"a\\nb\"})" +
      std::string(60, ' ');
  EXPECT_TRUE(scan_string(bytes_of(json), bytes_of(json) + json.size(), bytes_of(json)).sound);
}

TEST(GateScan, ShortStringsEndAtTheirQuoteAndHoldNothingElse) {
  for (const std::string& text : texts()) {
    const ShortString found = short_string(bytes_of(text), bytes_of(text) + text.size());
    if (!found.closed) continue;
    const std::string inside = text.substr(0, found.bytes);
    ASSERT_EQ(text[found.bytes], '"');
    EXPECT_LE(found.bytes, kShortString);
    EXPECT_EQ(inside.find_first_of("\"\\["), std::string::npos);
    EXPECT_EQ(found.characters, count_chars(inside));
    for (const char c : inside) EXPECT_GE(static_cast<uint8_t>(c), 0x20);
  }
  const std::string plain = "name\": 1, and so on and so forth";
  EXPECT_TRUE(short_string(bytes_of(plain), bytes_of(plain) + plain.size()).closed);
}

TEST(GateScan, ShortStringsOfManyBytesAreThoseOfEach) {
  for (std::string text : texts()) {
    text.insert(text.begin(), '"');
    text += "\"" + std::string(64, ' ');
    const uint8_t* const begin = bytes_of(text);
    const uint8_t* const end = begin + text.size();
    const ShortStrings strings(begin);
    for (const uint8_t* quote = begin; quote < begin + 64; ++quote) {
      if (*quote != '"') continue;
      const ShortString one = short_string(quote + 1, end);
      const bool within = quote + 1 + one.bytes < begin + 64;
      ASSERT_EQ(strings[quote].closed, one.closed && within) << text;
      if (!strings[quote].closed) continue;
      ASSERT_EQ(strings[quote].bytes, one.bytes);
      ASSERT_EQ(strings[quote].characters, one.characters);
    }
  }
}

}  // namespace
}  // namespace sluice::gate

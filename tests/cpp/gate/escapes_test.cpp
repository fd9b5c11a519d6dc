// Long text that is nearly all escapes, as servers write it that escape everything beyond ASCII: a
// piece may be cut off anywhere but inside of an escape, or between two that are one character.
#include <gtest/gtest.h>

#include <string>

#include "gate/gate_fixture.h"

namespace sluice {
namespace {

std::string repeated(std::string_view piece, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

void expect_text(const std::string& source, const std::string& value) {
  GateOptions options;
  options.max_inline_chars = 1'000;
  const std::string json = "{\"text\":\"" + source + "\"}";
  for (const size_t block : {0, 64, 1000}) {
    const testing::Passed passed = testing::pass(json, options, block);
    ASSERT_TRUE(passed.status.ok()) << passed.status.message;
    ASSERT_EQ(passed.contents.size(), 1u) << block;
    EXPECT_TRUE(passed.contents[0] == value)
        << "in blocks of " << block << ": " << source.substr(0, 40);
    EXPECT_LT(passed.reduced.size(), 200u);
  }
}

TEST(GateEscapesTest, ATextOfEscapedLettersIsStoredAsItsLetters) {
  for (size_t lead = 0; lead < 6; ++lead) {
    expect_text(std::string(lead, 'x') + repeated(R"(\u0430)", 3'000),
                std::string(lead, 'x') + repeated("\u0430", 3'000));
  }
}

TEST(GateEscapesTest, APairOfSurrogatesIsNeverCut) {
  for (size_t lead = 0; lead < 12; ++lead) {
    expect_text(std::string(lead, 'x') + repeated(R"(\ud83d\uDE00)", 3'000),
                std::string(lead, 'x') + repeated("\U0001F600", 3'000));
  }
}

TEST(GateEscapesTest, ShortEscapesAndLongOnesMayBeMixed) {
  expect_text(repeated(R"(\n\"\\\u00e9\t\ud83d\ude00\/)", 1'000),
              repeated("\n\"\\\u00e9\t\U0001F600/", 1'000));
}

TEST(GateEscapesTest, BackslashesAloneAreCutBetweenTheirPairs) {
  for (const size_t lead : {0, 1}) {
    expect_text(std::string(lead, 'x') + repeated(R"(\\)", 6'000),
                std::string(lead, 'x') + std::string(6'000, '\\'));
  }
}

// Looked at again with every block, this would take hours.
TEST(GateEscapesTest, EachEscapeIsLookedAtOnce) {
  const std::string source = repeated(R"(\n)", 2'000'000);
  GateOptions options;
  options.divert_text = false;
  const testing::Passed passed = testing::pass("[\"" + source + "\"]", options, 32);
  ASSERT_TRUE(passed.status.ok()) << passed.status.message;
  EXPECT_TRUE(passed.reduced == "[\"" + source + "\"]");
}

}  // namespace
}  // namespace sluice

#include "json/repair.h"

#include <gtest/gtest.h>

#include "sluice/describe.h"

namespace sluice {
namespace {

std::string repaired(std::string text) {
  replace_malformed(text);
  return text;
}

TEST(Repair, LeavesWellFormedTextAlone) {
  for (const std::string text : {"", "abc", "na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\xA6\x8A"})
    EXPECT_EQ(repaired(text), text);
}

TEST(Repair, ReplacesEachByteThatBeginsNothing) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(repaired("a\xFFz"), "a" + mark + "z");
  EXPECT_EQ(repaired("\xC3"), mark);
  EXPECT_EQ(repaired("\xE2\x82"), mark + mark);
  EXPECT_EQ(repaired("\xC0\x80"), mark + mark);
  EXPECT_EQ(repaired("\xED\xA0\x80"), mark + mark + mark) << "a surrogate";
  EXPECT_EQ(repaired("\x80\xC3\xA9"), mark + "\xC3\xA9");
}

TEST(IsText, TellsTextFromBinaryByAHead) {
  EXPECT_TRUE(is_text("plain\ttext\r\n"));
  EXPECT_TRUE(is_text("cut inside \xF0\x9F\xA6"));
  EXPECT_FALSE(is_text(""));
  EXPECT_FALSE(is_text(std::string_view("nul\0byte", 8)));
  EXPECT_FALSE(is_text("\x1B[31m"));
  EXPECT_FALSE(is_text("latin\xE9 text"));
  EXPECT_FALSE(is_text("read \xEF\xBF\xBD wrongly"));
}

TEST(IsText, CountsWhatADecoderLeftOfBinary) {
  EXPECT_EQ(count_damage("a\xEF\xBF\xBD\x01z\n"), 2u);
  EXPECT_EQ(count_damage("\xEF\xBC\x81"), 0u);
}

}  // namespace
}  // namespace sluice

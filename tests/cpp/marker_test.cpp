// Markers: written and read back, and nothing else taken for one.
#include <gtest/gtest.h>

#include <string>

#include "sluice/segment.h"

namespace sluice {
namespace {

TEST(MarkerTest, RoundTripsEveryIndex) {
  for (uint32_t index = 0; index <= 0xFFFF; ++index) {
    std::string text = "ab";
    append_marker(text, index);
    ASSERT_EQ(text.size(), 2 + kMarkerBytes);
    ASSERT_EQ(marker_at(text, 2), static_cast<int32_t>(index));
  }
}

TEST(MarkerTest, StandsAsDocumented) {
  std::string text;
  append_marker(text, 0x00af);
  EXPECT_EQ(text, std::string("\x01") + "00af" + "\x02");
}

TEST(MarkerTest, TakesNothingElse) {
  const std::string open = "\x01", close = "\x02";
  for (const std::string& text :
       {std::string(), open, open + "00a" + close, open + "00aF" + close, open + "00ag" + close,
        open + "00af" + open, "x00af" + close, open + "00af"})
    EXPECT_EQ(marker_at(text, 0), -1);
  std::string text;
  append_marker(text, 1);
  EXPECT_EQ(marker_at(text, 1), -1);
  EXPECT_EQ(marker_at(text, 6), -1);
  EXPECT_EQ(marker_at(text, 7), -1);
  EXPECT_EQ(marker_at(text, std::string::npos), -1);
}

}  // namespace
}  // namespace sluice

// What JSON can write and a configuration cannot hold, judged by the C library's own reader.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "config/valued.h"
#include "sluice/config.h"

namespace sluice {
namespace {

bool is_valued(const std::string& json) {
  Tape tape;
  EXPECT_TRUE(Tape::parse(json, tape).ok()) << json;
  return config::is_valued(tape);
}

bool is_finite(const std::string& number) {
  return std::isfinite(std::strtod(number.c_str(), nullptr));
}

TEST(ConfigValuedTest, ANumberIsValuedWhenADoubleHoldsIt) {
  for (const char* digits : {"0", "1", "-1", "9", "1.5", "0.001", "123456789", "17976931348623157",
                             "1.7976931348623157", "1.7976931348623158", "1.7976931348623159",
                             "1.8", "0.17976931348623159", "179.76931348623159", "-1.7976931348624",
                             "0.0", "0.00000000000000000000017976931348623159"}) {
    for (int exponent = -330; exponent <= 330; ++exponent) {
      for (const char* mark : {"e", "E"}) {
        const std::string number = digits + (mark + std::to_string(exponent));
        EXPECT_EQ(is_valued("[" + number + "]"), is_finite(number)) << number;
      }
    }
  }
}

TEST(ConfigValuedTest, APlusBeforeTheExponentChangesNothing) {
  for (const char* number : {"1e+308", "2e+308", "1.7976931348623157E+308", "1e+0"})
    EXPECT_EQ(is_valued(number), is_finite(number)) << number;
}

TEST(ConfigValuedTest, AnExponentOfAnyLengthIsReadInBoundedNumbers) {
  const std::string nines(10'000, '9');
  EXPECT_FALSE(is_valued("1e" + nines));
  EXPECT_TRUE(is_valued("1e-" + nines));
  EXPECT_TRUE(is_valued("0e" + nines));
  EXPECT_TRUE(is_valued("-0.0e" + nines));
}

TEST(ConfigValuedTest, DigitsCountLikeAnExponent) {
  for (const size_t zeros : {300, 307, 308, 309, 400}) {
    const std::string number = "1" + std::string(zeros, '0');
    EXPECT_EQ(is_valued(number), is_finite(number)) << zeros;
    EXPECT_TRUE(is_valued(number + "e-400"));
    EXPECT_TRUE(is_valued("0." + std::string(zeros, '0') + "1e" + std::to_string(zeros)));
  }
}

TEST(ConfigValuedTest, ALoneSurrogateHasNoValueWhereverItStands) {
  EXPECT_FALSE(is_valued(R"("\ud800")"));
  EXPECT_FALSE(is_valued(R"(["fine", "a\udfffb"])"));
  EXPECT_FALSE(is_valued(R"({"\ud83d": 1})"));
  EXPECT_FALSE(is_valued(R"("\ude00\ud83d")"));
  EXPECT_TRUE(is_valued(R"("\ud83d\ude00")"));
  EXPECT_TRUE(is_valued(R"("\ud7ff\ue000 \ubc14")"));
}

TEST(ConfigValuedTest, TheConfigurationIsRefusedWithTheReason) {
  Config config;
  for (const char* json : {R"({"max_inline_size": 1e999})", R"({"\ud800": 1})"}) {
    const Status status = parse_config(json, config);
    EXPECT_EQ(status.code, Code::config_json) << json;
    EXPECT_EQ(status.message, "the configuration holds a number or an escape that has no value");
  }
}

}  // namespace
}  // namespace sluice

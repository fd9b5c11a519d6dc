// What is found sixteen bytes at a time is what is found one by one.
#include "text/block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sluice {
namespace {

TEST(Block, AnswersForEachByteWhatAByteAnswers) {
  for (unsigned first = 0; first < 256; first += kBlockBytes) {
    std::string bytes;
    for (unsigned i = 0; i < kBlockBytes; ++i) bytes += static_cast<char>(first + i);
    const Block block(bytes.data());
    const auto expect_same = [&](auto ask) {
      uint32_t each = 0;
      for (size_t i = 0; i < kBlockBytes; ++i) each |= uint32_t{ask(Byte(bytes[i]))} << i;
      EXPECT_EQ(ask(block).bits(), each) << first;
      EXPECT_EQ(ask(block).any(), each != 0) << first;
    };
    expect_same([](auto some) { return some.is(0); });
    expect_same([](auto some) { return some.is(0x85); });
    expect_same([](auto some) { return some.below(0x20); });
    expect_same([](auto some) { return some.below(0x80); });
    expect_same([](auto some) { return some.from(0x2B, 0x7A - 0x2B); });
    expect_same([](auto some) { return some.from(0x80, 0x3F); });
    expect_same([](auto some) { return some.from(0xF0, 0x0F); });
    expect_same([](auto some) { return some.high(); });
    expect_same([](auto some) { return some.is('a') | some.from('[', 1); });
  }
}

TEST(Block, FindsTheFirstWhereverItStands) {
  for (size_t size = 0; size < 70; ++size) {
    for (size_t at = 0; at <= size; ++at) {
      std::string text(size, 'a');
      if (at < size) std::fill(text.begin() + static_cast<ptrdiff_t>(at), text.end(), 'x');
      const char* const begin = text.data();
      EXPECT_EQ(find_byte(begin, begin + size, 'x') - begin, static_cast<ptrdiff_t>(at));
    }
  }
}

TEST(Block, ContainsWhatStandsAnywhereAndNothingElse) {
  for (const std::string sought : {"\\u", "\"data\"", "\"_meta\""}) {
    for (size_t before = 0; before < 40; ++before) {
      for (const size_t behind : {0, 1, 15, 16, 40}) {
        const std::string text = std::string(before, '"') + sought + std::string(behind, 'u');
        EXPECT_TRUE(contains(text, sought)) << text;
        std::string other = text;
        other[before + sought.size() - 1] = '-';
        EXPECT_FALSE(contains(other, sought)) << other;
        EXPECT_FALSE(contains(text.substr(0, before + sought.size() - 1), sought));
      }
    }
  }
  EXPECT_FALSE(contains("", "\\u"));
}

}  // namespace
}  // namespace sluice

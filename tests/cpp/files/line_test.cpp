#include "files/line.h"

#include <gtest/gtest.h>

namespace sluice::files {
namespace {

TEST(FilesLine, PlainTextStands) {
  EXPECT_EQ(one_line("Q3: <b>12 %</b> up, `as` planned; größer 😀"),
            "Q3: <b>12 %</b> up, `as` planned; größer 😀");
  EXPECT_EQ(one_line(""), "");
}

TEST(FilesLine, WhiteSpaceOfAnyKindBecomesOneSpaceBetweenWords) {
  EXPECT_EQ(one_line(" \n a\r\n\tb\u2028\u00a0c\u3000"), "a b c");
  EXPECT_EQ(one_line(" \n\u2029"), "");
}

TEST(FilesLine, WhatDoesNotShowGoes) {
  EXPECT_EQ(one_line("a\u202eb\u200bc\u00add\u2066e\ufefff"), "abcdef");
  EXPECT_EQ(one_line("a\U000e0041b"), "ab");
  EXPECT_EQ(one_line(std::string("a\0b\x7f\u0085", 6)), "ab");
}

TEST(FilesLine, TerminalSequencesGoAsAWhole) {
  EXPECT_EQ(one_line("a\x1b[31mred\x1b[0m \x1b]0;title\x07z"), "ared z");
}

TEST(FilesLine, ALoneSurrogateBecomesAReplacement) {
  EXPECT_EQ(one_line("a\xED\xA0\x80z"), "a\uFFFDz");
}

}  // namespace
}  // namespace sluice::files

// Values as tools write them.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "files/record.h"
#include "sluice/codec.h"

namespace sluice::files {
namespace {

// --- base64 ----------------------------------------------------------------------------------

TEST(FilesBase64, BothAlphabetsBecomeTheStandardOne) {
  EXPECT_EQ(standard_base64("+/+/"), "+/+/");
  EXPECT_EQ(standard_base64("-_-_"), "+/+/");
  EXPECT_EQ(standard_base64("+_+_"), std::nullopt);
}

TEST(FilesBase64, PaddingIsFilledIn) {
  EXPECT_EQ(standard_base64(""), "");
  EXPECT_EQ(standard_base64("QQ"), "QQ==");
  EXPECT_EQ(standard_base64("QQ=="), "QQ==");
  EXPECT_EQ(standard_base64("QUI"), "QUI=");
  EXPECT_EQ(standard_base64("QUI="), "QUI=");
  EXPECT_EQ(standard_base64("QUJD"), "QUJD");
}

TEST(FilesBase64, PaddingThatFitsNoQuantumIsRefused) {
  for (const char* text : {"QQ=", "QQ===", "QUI==", "QUJD=", "QUJD====", "=", "====", "Q===", "Q",
                           "QUJDR", "QQ==QQ==", "QQ=Q"})
    EXPECT_EQ(standard_base64(text), std::nullopt) << text;
}

TEST(FilesBase64, WhiteSpaceMayStandAnywhere) {
  EXPECT_EQ(standard_base64(" Q Q\r\n=\t= \n"), "QQ==");
  EXPECT_EQ(standard_base64(" \n"), "");
}

TEST(FilesBase64, BitsBehindTheLastByteMustBeClear) {
  EXPECT_EQ(standard_base64("QR=="), std::nullopt);
  EXPECT_EQ(standard_base64("QUJ="), std::nullopt);
}

TEST(FilesBase64, OtherCharactersAreRefused) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool white = c == ' ' || (c >= '\t' && c <= '\r');
    const bool digit = any_base64_span(as_bytes(std::string(1, c))) == 1;
    const std::string text = std::string("QUJ") + c;
    // White space leaves three digits whose last has a bit too many.
    EXPECT_EQ(standard_base64(text).has_value(), digit && !white) << byte;
  }
}

TEST(FilesBase64, WhatTheEncoderWritesComesBackInEveryForm) {
  std::mt19937 random(8);
  for (size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    std::string standard;
    encode(as_bytes(bytes), Alphabet::standard, true, false, standard);
    for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url}) {
      for (const bool padded : {true, false}) {
        std::string text;
        encode(as_bytes(bytes), alphabet, padded, false, text);
        EXPECT_EQ(standard_base64(text), standard);
      }
    }
  }
}

// --- media types -----------------------------------------------------------------------------

TEST(FilesMediaType, NamesAreRestrictedOnes) {
  for (const char* type :
       {"text/csv", "application/vnd.ms-excel", "image/svg+xml", "x-a/x_b", "a/b!#$&-^_.+1"})
    EXPECT_EQ(media_type(type), type);
  for (const char* type : {"", "text", "/", "text/", "/csv", "text//csv", "text/csv/x", "te xt/csv",
                           "text/c sv", ".a/b", "a/+b", "text/*", "*/*", "a/b\n", "a/\xC3\xA9"})
    EXPECT_EQ(media_type(type), std::nullopt) << type;
}

TEST(FilesMediaType, TheNamesComeInLowerCaseAndParametersAsTheyAre) {
  EXPECT_EQ(media_type("Text/CSV; Charset=UTF-8"), "text/csv; Charset=UTF-8");
  EXPECT_EQ(media_type("IMAGE/PNG"), "image/png");
}

TEST(FilesMediaType, ParametersAreTokensOrQuoted) {
  for (const char* type :
       {"a/b;c=d", "a/b ; c=d;e=f", "a/b;c=\"\"", "a/b;c=\"x;\\\"y\\\\ \t\"", "a/b;", "a/b; ;c=d;"})
    EXPECT_EQ(media_type(type), type);
  for (const char* type : {"a/b c=d", "a/b;c", "a/b;=d", "a/b;c=", "a/b;c =d", "a/b;c=\"",
                           "a/b;c=\"\\", "a/b;c=\"\n\"", "a/b;c=\"\\\n\"", "a/b;c=\"\xC3\xA9\"",
                           "a/b;c=d e", "a/b ", "a/b;c=\"d\"e"})
    EXPECT_EQ(media_type(type), std::nullopt) << type;
}

TEST(FilesMediaType, LengthsAreBounded) {
  const std::string name(127, 'a');
  EXPECT_TRUE(media_type(name + "/" + name).has_value());
  EXPECT_FALSE(media_type(name + "/" + name + "a").has_value());
  EXPECT_FALSE(media_type(name + "a/b").has_value());
  EXPECT_TRUE(media_type("a/b;c=" + std::string(249, 'd')).has_value());
  EXPECT_FALSE(media_type("a/b;c=" + std::string(250, 'd')).has_value());
}

// --- references ------------------------------------------------------------------------------

TEST(FilesReference, IsWhatTheCoreWritesAndNothingAround) {
  EXPECT_TRUE(is_reference("artifact://artifact_43861fd2907a?type=image/png&size=30029"));
  EXPECT_TRUE(is_reference("artifact://a"));
  for (const char* text : {"", "artifact://", "artifact:/a", " artifact://a", "artifact://a b",
                           "artifact://a\n", "Artifact://a", "artifact://\"a",
                           "artifact://\xC3\xA9", "data:text/csv;base64,artifact://a"})
    EXPECT_FALSE(is_reference(text)) << text;
}

TEST(FilesReference, IsBounded) {
  EXPECT_TRUE(is_reference("artifact://" + std::string(1'024, 'a')));
  EXPECT_FALSE(is_reference("artifact://" + std::string(1'025, 'a')));
}

// --- lines -----------------------------------------------------------------------------------

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

#include "files/base64.h"

#include <gtest/gtest.h>

#include <random>

#include "sluice/codec.h"

namespace sluice::files {
namespace {

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

}  // namespace
}  // namespace sluice::files

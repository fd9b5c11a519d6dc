#include <gtest/gtest.h>

#include <string>

#include "describe/describe_fixture.h"
#include "describe/facts.h"

namespace sluice {
namespace {

std::string facts(const std::string& file) {
  return facts_of(file, "application/pdf", "pdf");
}

std::string object(int number, const std::string& content) {
  return std::to_string(number) + " 0 obj\n" + content + "\nendobj\n";
}

std::string pdf(const std::string& objects) {
  return "%PDF-1.7\n" + objects + "trailer\n<< /Root 1 0 R /Info 9 0 R >>\nstartxref\n0\n%%EOF\n";
}

std::string info(const std::string& title) {
  return object(9, "<< /Producer (x) /Title " + title + " >>");
}

const std::string kPages = object(2, "<< /Type /Pages /Kids [3 0 R] /Count 14 >>");

TEST(DescribePdf, PagesAreThoseOfTheRootOfThePageTree) {
  EXPECT_EQ(facts(pdf(kPages)), ", 14 pages");
  EXPECT_EQ(facts(pdf(object(2, "<</Count 1/Kids[3 0 R]/Type/Pages>>"))), ", 1 page");
  EXPECT_EQ(facts(pdf(object(4, "<</Type/Pages/Parent 2 0 R/Count 7>>"))), "");
  EXPECT_EQ(facts(pdf(object(4, "<</Type/Pages/Parent 2 0 R/Count 7>>") + kPages)), ", 14 pages");
  EXPECT_EQ(facts(pdf(object(4, "<</Type/Outlines/Count 7>>"))), "");
  EXPECT_EQ(facts(pdf(object(4, "<</Type/PagesOther/Count 7>>"))), "");
}

TEST(DescribePdf, TheLaterOfTwoRevisionsCounts) {
  EXPECT_EQ(facts(pdf(kPages) + object(2, "<< /Type /Pages /Count 15 >>")), ", 15 pages");
}

TEST(DescribePdf, LinearizedFilesSayTheirPagesFirst) {
  const auto file = [](size_t length) {
    return "%PDF-1.5\n" +
           object(7, "<< /Linearized 1 /L " + std::to_string(length) + " /O 9 /E 5 /N 23 /T 8 >>") +
           std::string(200'000, 'x');
  };
  const size_t length = file(200'100).size();
  EXPECT_EQ(facts(file(length)), ", 23 pages");
  EXPECT_EQ(facts(file(length - 1)), "") << "something was appended since";
}

TEST(DescribePdf, BothEndsOfALargeFileAreSeen) {
  const std::string middle =
      object(5, "<< /Length 1 >>\nstream\n" + std::string(300'000, 'x') + "\nendstream");
  EXPECT_EQ(facts(pdf(kPages + middle + info("(Report)"))),
            ", 14 pages, untrusted file text: \"Report\"");
  EXPECT_EQ(facts(pdf(info("(Report)") + middle + kPages)),
            ", 14 pages, untrusted file text: \"Report\"");
  EXPECT_EQ(facts(pdf(middle + kPages + middle)), "") << "in the middle nothing is seen";
}

TEST(DescribePdf, TheTitleIsThatOfTheDocument) {
  EXPECT_EQ(facts(pdf(info("(Quarterly report)"))), ", untrusted file text: \"Quarterly report\"");
  EXPECT_EQ(facts(pdf(object(5, "<< /Title (Chapter 1) /Parent 4 0 R /Dest [3 0 R] >>"))), "");
  EXPECT_EQ(facts(pdf(info("()"))), "");
  EXPECT_EQ(facts(pdf(info("(   )"))), "");
  EXPECT_EQ(facts(pdf(info("(<script>]\\(http://x)"))),
            ", untrusted file text: \"‹script›❳❨http:/ /x\"");
}

TEST(DescribePdf, MetadataGiveTheTitleWhereNothingElseDoes) {
  const std::string xmp =
      "<x:xmpmeta><dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Caf\xc3\xa9</rdf:li></rdf:Alt>"
      "</dc:title></x:xmpmeta>";
  EXPECT_EQ(facts(pdf(object(8, xmp))), ", untrusted file text: \"Café\"");
  EXPECT_EQ(facts(pdf(object(8, xmp) + info("(Own)"))), ", untrusted file text: \"Own\"");
  EXPECT_EQ(facts(pdf(object(8, "<dc:title><rdf:li>never ends"))), "");
}

TEST(DescribePdf, EncryptedFilesKeepTheirTitle) {
  const std::string file = "%PDF-1.6\n" + kPages + info("(\x8f\x12)") +
                           "trailer\n<< /Encrypt 12 0 R /Info 9 0 R >>\n%%EOF\n";
  EXPECT_EQ(facts(file), ", 14 pages, encrypted");
}

TEST(DescribePdf, WhatMakesNoSenseIsLeftOut) {
  EXPECT_EQ(facts(pdf(object(2, "<< /Type /Pages /Count -3 >>"))), "");
  EXPECT_EQ(facts(pdf(object(2, "<< /Type /Pages /Count 99999999999999999999 >>"))), "");
  EXPECT_EQ(facts("%PDF-1.7\n2 0 obj << /Type /Pages /Count 3"), "") << "the object has no end";
  EXPECT_EQ(facts("no PDF " + kPages), "");
}

TEST(DescribePdf, LiteralStringsAreUnescaped) {
  EXPECT_EQ(pdf_text("(a (b) c)(d)"), "a (b) c");
  EXPECT_EQ(pdf_text("(\\(\\)\\\\ \\101\\7z \\q)"), "()\\ A\az q");
  EXPECT_EQ(pdf_text("(a\\\nb\\\r\nc\\n)"), "abc\n");
  EXPECT_EQ(pdf_text("(never ends"), "never ends");
  EXPECT_EQ(pdf_text("(\\"), "");
  EXPECT_EQ(pdf_text("/Name"), "");
  EXPECT_EQ(pdf_text(""), "");
}

TEST(DescribePdf, HexadecimalStringsAreRead) {
  EXPECT_EQ(pdf_text("<41 4\n2 4>43"), "AB@");
  EXPECT_EQ(pdf_text("<FEFF00e9D83DdE00>"), "é😀");
  EXPECT_EQ(pdf_text("<EFBBBF E697A5>"), "日");
  EXPECT_EQ(pdf_text("<>"), "");
}

TEST(DescribePdf, EncodingsOfTextStrings) {
  EXPECT_EQ(pdf_text("(caf\xe9 \x84 \x8d\x8e \xa0 \x1b)"), "café — “” € ˙");
  EXPECT_EQ(pdf_text(std::string_view("(\xfe\xff\0A\xd8\x3d\xde\x00)", 10)), "A😀");
  EXPECT_EQ(pdf_text(std::string_view("(\xff\xfe"
                                      "A\0)",
                                      6)),
            "A");
  EXPECT_LE(pdf_text("(" + std::string(100'000, 'a') + ")").size(), 600u);
}

}  // namespace
}  // namespace sluice

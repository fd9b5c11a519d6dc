#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "describe/describe_fixture.h"
#include "facts/kinds.h"

namespace sluice {
namespace {

using namespace std::string_literals;

std::string zip_facts(const std::string& file) {
  return facts_of(file, "application/zip", "zip");
}

TEST(DescribeZip, EntriesAreCountedAndTheFirstNamed) {
  EXPECT_EQ(zip_facts(zip({{"a.txt"}, {"b/"}, {"b/c.txt"}})),
            ", 2 entries, names (from the file): \"a.txt\", \"b/c.txt\"");
  EXPECT_EQ(zip_facts(zip({{"a.txt"}})), ", 1 entry, names (from the file): \"a.txt\"");
  EXPECT_EQ(zip_facts(zip({})), ", 0 entries");
}

TEST(DescribeZip, FiveNamesAreQuotedAtMost) {
  EXPECT_EQ(zip_facts(zip({{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}})),
            ", 7 entries, names (from the file): \"1\", \"2\", \"3\", \"4\", \"5\" and more");
  EXPECT_EQ(zip_facts(zip({{"\x1b[31m"}, {"![x](http://y)"}})),
            ", 2 entries, names (from the file): \"ǃ❲x❳❨http:/ /y❩\"");
}

TEST(DescribeZip, TheDirectoryIsReadAtTheEnd) {
  const std::string large(200'000, 'x');
  EXPECT_EQ(zip_facts(zip({{"a", 0, large}, {"b"}})),
            ", 2 entries, names (from the file): \"a\", \"b\"");
  EXPECT_EQ(zip_facts(zip({{"a"}}, "a comment with PK\5\6 in it")),
            ", 1 entry, names (from the file): \"a\"");
  EXPECT_EQ(zip_facts(zip({{"a", 0, large}, {"b"}}, "", true)),
            ", 2 entries, names (from the file): \"a\", \"b\"");
}

TEST(DescribeZip, ADirectoryLargerThanTheTailIsCountedByItsEnd) {
  std::vector<ZipEntry> many;
  for (int i = 0; i < 9'000; ++i) many.push_back({"folder/file" + std::to_string(i)});
  EXPECT_EQ(zip_facts(zip(many)), ", 9,000 entries");
  EXPECT_EQ(facts_of(zip(many), "application/x", "jar"), "");
}

TEST(DescribeZip, EncryptedEntriesAreTold) {
  EXPECT_EQ(zip_facts(zip({{"a"}, {"b", 1}})),
            ", 2 entries, encrypted, names (from the file): \"a\", \"b\"");
}

TEST(DescribeZip, OfficeFilesAreCountedByTheirParts) {
  EXPECT_EQ(facts_of(zip({{"xl/workbook.xml"},
                          {"xl/worksheets/sheet1.xml"},
                          {"xl/worksheets/sheet2.xml"},
                          {"xl/worksheets/_rels/sheet1.xml.rels"}}),
                     "application/x", "xlsx"),
            ", 2 sheets");
  EXPECT_EQ(facts_of(zip({{"ppt/slides/slide1.xml"}, {"ppt/slideLayouts/slideLayout1.xml"}}),
                     "application/x", "pptx"),
            ", 1 slide");
  EXPECT_EQ(
      facts_of(zip({{"word/document.xml"}, {"word/media/image1.png"}}), "application/x", "docx"),
      ", 1 image");
  EXPECT_EQ(facts_of(zip({{"word/document.xml"}}), "application/x", "docx"), "");
  EXPECT_EQ(facts_of(zip({{"doc.kml"}}), "application/x", "kmz"), ", 1 entry");
}

TEST(DescribeZip, WhatIsBrokenIsLeftOut) {
  const std::string file = zip({{"a.txt"}, {"b.txt"}});
  EXPECT_EQ(zip_facts(file.substr(0, file.size() - 1)), "");
  EXPECT_EQ(zip_facts(file + "x"), zip_facts(file)) << "what stands behind it changes nothing";
  EXPECT_EQ(zip_facts("PK\3\4"s + zeros(100)), "");
  const std::string end = "PK\5\6" + zeros(6) + le(7, 2) + le(0xffff'fff0, 4) + zeros(4) + zeros(2);
  EXPECT_EQ(zip_facts("PK\3\4" + end), ", 7 entries")
      << "the directory is not where it is said to be";
  const std::string locator = "PK\6\7" + zeros(4) + le(~0ull, 8) + zeros(4);
  EXPECT_EQ(zip_facts("PK\3\4" + locator + end), "");
}

std::string member(const std::string& name, size_t size, char type = '0') {
  std::string block = name + zeros(124 - name.size());
  char octal[13];
  std::snprintf(octal, sizeof octal, "%011o ", static_cast<unsigned>(size));
  block += octal + zeros(20) + type + zeros(100) + "ustar" + zeros(250);
  return block + std::string(size, 'x') + zeros((512 - size % 512) % 512);
}

std::string tar_facts(const std::string& file) {
  return facts_of(file, "application/x-tar", "tar");
}

TEST(DescribeTar, MembersAreNamed) {
  const std::string file = member("a.txt", 5) + member("b/", 0, '5') + member("b/c", 512);
  EXPECT_EQ(tar_facts(file + zeros(1'024)),
            ", 2 entries, names (from the file): \"a.txt\", \"b/c\"");
  EXPECT_EQ(tar_facts(file), ", names (from the file): \"a.txt\", \"b/c\"") << "no end is seen";
}

TEST(DescribeTar, WhatMembersAreIsNotWhatTheArchiveIs) {
  std::string file = member("a.pdf", 600) + zeros(1'024);
  file.replace(512, 56, "%PDF-1.4\n1 0 obj\n<</Type/Pages/Count 3/Kids[]>>\nendobj\n\n");
  EXPECT_EQ(tar_facts(file), ", 1 entry, names (from the file): \"a.pdf\"");
}

TEST(DescribeTar, MetadataOfMembersAreNoMembers) {
  EXPECT_EQ(tar_facts(member("PaxHeader/a", 20, 'x') + member("a", 1) + zeros(1'024)),
            ", 1 entry, names (from the file): \"a\"");
}

TEST(DescribeTar, MembersBehindWhatIsSeenAreNotCounted) {
  EXPECT_EQ(tar_facts(member("a", 70'000) + member("b", 90'000) + member("c", 200'000) +
                      member("d", 1) + zeros(1'024)),
            ", names (from the file): \"a\"");
}

TEST(DescribeTar, BrokenSizesEndTheList) {
  std::string file = member("a", 0) + member("b", 0);
  file[124] = '\x80';
  EXPECT_EQ(tar_facts(file), "");
  file.replace(124, 12, "777777777777");
  EXPECT_EQ(tar_facts(file), ", names (from the file): \"a\"");
}

TEST(DescribeGzip, TheNameOfTheFileIsQuoted) {
  const auto gzip = [](const std::string& file) {
    return facts_of(file, "application/gzip", "gz");
  };
  const std::string start = "\x1f\x8b\x08"s;
  EXPECT_EQ(gzip(start + "\x08" + zeros(6) + "report.csv\0x"s),
            ", name (from the file): \"report.csv\"");
  EXPECT_EQ(gzip(start + "\x0c" + zeros(6) + le(3, 2) + "abc" + "r.csv\0x"s),
            ", name (from the file): \"r.csv\"");
  EXPECT_EQ(gzip(start + "\x0c" + zeros(6) + le(300, 2) + "abc"), "");
  EXPECT_EQ(gzip(start + "\x08" + zeros(6) + "never ends"), "");
  EXPECT_EQ(gzip(start + zeros(20)), "");
}

// --- PDF -----------------------------------------------------------------------------------------

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
            ", 14 pages, title (from the file): \"Report\"");
  EXPECT_EQ(facts(pdf(info("(Report)") + middle + kPages)),
            ", 14 pages, title (from the file): \"Report\"");
  EXPECT_EQ(facts(pdf(middle + kPages + middle)), "") << "in the middle nothing is seen";
}

TEST(DescribePdf, TheTitleIsThatOfTheDocument) {
  EXPECT_EQ(facts(pdf(info("(Quarterly report)"))),
            ", title (from the file): \"Quarterly report\"");
  EXPECT_EQ(facts(pdf(object(5, "<< /Title (Chapter 1) /Parent 4 0 R /Dest [3 0 R] >>"))), "");
  EXPECT_EQ(facts(pdf(info("()"))), "");
  EXPECT_EQ(facts(pdf(info("(   )"))), "");
  EXPECT_EQ(facts(pdf(info("(<script>]\\(http://x)"))),
            ", title (from the file): \"‹script›❳❨http:/ /x\"");
}

TEST(DescribePdf, MetadataGiveTheTitleWhereNothingElseDoes) {
  const std::string xmp =
      "<x:xmpmeta><dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Caf\xc3\xa9</rdf:li></rdf:Alt>"
      "</dc:title></x:xmpmeta>";
  EXPECT_EQ(facts(pdf(object(8, xmp))), ", title (from the file): \"Café\"");
  EXPECT_EQ(facts(pdf(object(8, xmp) + info("(Own)"))), ", title (from the file): \"Own\"");
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

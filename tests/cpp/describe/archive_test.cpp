#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "describe/describe_fixture.h"

namespace sluice {
namespace {

using namespace std::string_literals;

std::string zip_facts(const std::string& file) {
  return facts_of(file, "application/zip", "zip");
}

TEST(DescribeZip, EntriesAreCountedAndTheFirstNamed) {
  EXPECT_EQ(zip_facts(zip({{"a.txt"}, {"b/"}, {"b/c.txt"}})),
            ", 3 entries, untrusted file text: \"a.txt\", \"b/c.txt\"");
  EXPECT_EQ(zip_facts(zip({{"a.txt"}})), ", 1 entry, untrusted file text: \"a.txt\"");
  EXPECT_EQ(zip_facts(zip({})), ", 0 entries");
}

TEST(DescribeZip, FiveNamesAreQuotedAtMost) {
  EXPECT_EQ(zip_facts(zip({{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}})),
            ", 7 entries, untrusted file text: \"1\", \"2\", \"3\", \"4\", \"5\", …");
  EXPECT_EQ(zip_facts(zip({{"\x1b[31m"}, {"![x](http://y)"}})),
            ", 2 entries, untrusted file text: \"ǃ❲x❳❨http:/ /y❩\"");
}

TEST(DescribeZip, TheDirectoryIsReadAtTheEnd) {
  const std::string large(200'000, 'x');
  EXPECT_EQ(zip_facts(zip({{"a", 0, large}, {"b"}})),
            ", 2 entries, untrusted file text: \"a\", \"b\"");
  EXPECT_EQ(zip_facts(zip({{"a"}}, "a comment with PK\5\6 in it")),
            ", 1 entry, untrusted file text: \"a\"");
  EXPECT_EQ(zip_facts(zip({{"a", 0, large}, {"b"}}, "", true)),
            ", 2 entries, untrusted file text: \"a\", \"b\"");
}

TEST(DescribeZip, ADirectoryLargerThanTheTailIsCountedByItsEnd) {
  std::vector<ZipEntry> many;
  for (int i = 0; i < 3'000; ++i) many.push_back({"folder/file" + std::to_string(i)});
  EXPECT_EQ(zip_facts(zip(many)), ", 3,000 entries");
  EXPECT_EQ(facts_of(zip(many), "application/x", "jar"), "");
}

TEST(DescribeZip, EncryptedEntriesAreTold) {
  EXPECT_EQ(zip_facts(zip({{"a"}, {"b", 1}})),
            ", 2 entries, encrypted, untrusted file text: \"a\", \"b\"");
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
      ", 1 picture");
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
  EXPECT_EQ(tar_facts(file + zeros(1'024)), ", 3 entries, untrusted file text: \"a.txt\", \"b/c\"");
  EXPECT_EQ(tar_facts(file), ", untrusted file text: \"a.txt\", \"b/c\"") << "no end is seen";
}

TEST(DescribeTar, WhatMembersAreIsNotWhatTheArchiveIs) {
  std::string file = member("a.pdf", 600) + zeros(1'024);
  file.replace(512, 56, "%PDF-1.4\n1 0 obj\n<</Type/Pages/Count 3/Kids[]>>\nendobj\n\n");
  EXPECT_EQ(tar_facts(file), ", 1 entry, untrusted file text: \"a.pdf\"");
}

TEST(DescribeTar, MetadataOfMembersAreNoMembers) {
  EXPECT_EQ(tar_facts(member("PaxHeader/a", 20, 'x') + member("a", 1) + zeros(1'024)),
            ", 1 entry, untrusted file text: \"a\"");
}

TEST(DescribeTar, MembersBehindWhatIsSeenAreNotCounted) {
  EXPECT_EQ(tar_facts(member("a", 70'000) + member("b", 90'000) + member("c", 200'000) +
                      member("d", 1) + zeros(1'024)),
            ", untrusted file text: \"a\"");
}

TEST(DescribeTar, BrokenSizesEndTheList) {
  std::string file = member("a", 0) + member("b", 0);
  file[124] = '\x80';
  EXPECT_EQ(tar_facts(file), "");
  file.replace(124, 12, "777777777777");
  EXPECT_EQ(tar_facts(file), ", untrusted file text: \"a\"");
}

TEST(DescribeGzip, TheNameOfTheFileIsQuoted) {
  const auto gzip = [](const std::string& file) {
    return facts_of(file, "application/gzip", "gz");
  };
  const std::string start = "\x1f\x8b\x08"s;
  EXPECT_EQ(gzip(start + "\x08" + zeros(6) + "report.csv\0x"s),
            ", untrusted file text: \"report.csv\"");
  EXPECT_EQ(gzip(start + "\x0c" + zeros(6) + le(3, 2) + "abc" + "r.csv\0x"s),
            ", untrusted file text: \"r.csv\"");
  EXPECT_EQ(gzip(start + "\x0c" + zeros(6) + le(300, 2) + "abc"), "");
  EXPECT_EQ(gzip(start + "\x08" + zeros(6) + "never ends"), "");
  EXPECT_EQ(gzip(start + zeros(20)), "");
}

}  // namespace
}  // namespace sluice

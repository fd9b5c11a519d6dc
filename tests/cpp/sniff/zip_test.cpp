// ZIP kinds by the directory at the end of the file, wherever a file is looked at.
#include <gtest/gtest.h>

#include "describe/describe_fixture.h"
#include "gate/gate_fixture.h"
#include "sluice/session.h"

namespace sluice {
namespace {

using testing::base64;
using testing::bytes_like;

// The extension by both ends, as they are seen when a file streams by.
std::string kind_of(const std::string& file, const std::vector<Signature>& extra = {}) {
  const Bytes bytes = as_bytes(file);
  const auto type = sniff(bytes.first(std::min(bytes.size(), kDescribeHead)),
                          bytes.last(std::min(bytes.size(), kDescribeTail)), file.size(), extra);
  return type ? type->extension : "";
}

std::string picture(size_t size = 8'192) {
  return bytes_like("\xFF\xD8\xFF", size);
}

/// Pictures first, then these.
std::string behind_pictures(const std::vector<std::string>& names, size_t size = 8'192) {
  std::vector<ZipEntry> entries = {{"media/1.jpg", 0, picture(size)},
                                   {"media/2.jpg", 0, picture(size)}};
  for (const std::string& name : names) entries.push_back({name});
  return zip(entries);
}

TEST(SniffZip, TheDirectoryTellsWhatTheFirstEntriesDoNot) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> kinds = {
      {"docx", {"[Content_Types].xml", "_rels/.rels", "word/document.xml"}},
      {"xlsx", {"xl/workbook.xml", "docProps/app.xml"}},
      {"xlsb", {"xl/workbook.bin"}},
      {"pptx", {"ppt/presentation.xml"}},
      {"jar", {"META-INF/MANIFEST.MF", "a/B.class"}},
      {"apk", {"META-INF/MANIFEST.MF", "AndroidManifest.xml", "classes.dex"}},
      {"kmz", {"doc.kml"}},
      {"twbx", {"a.twb"}},
      {"zip", {"readme.txt"}},
  };
  for (const auto& [extension, names] : kinds) {
    for (const size_t size : {100u, 8'192u, 300'000u}) {
      EXPECT_EQ(kind_of(behind_pictures(names, size)), extension) << size;
    }
  }
}

TEST(SniffZip, WhatAnEntryHoldsIsReadAtItsPlace) {
  for (const auto& [extension, mime] : std::vector<std::pair<std::string, std::string>>{
           {"odt", "application/vnd.oasis.opendocument.text"},
           {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
           {"epub", "application/epub+zip"}}) {
    for (const size_t size : {8'192u, 300'000u}) {
      const ZipEntry picture_entry{"Pictures/1.jpg", 0, picture(size)};
      EXPECT_EQ(kind_of(zip({picture_entry, {"mimetype", 0, mime}, {"content.xml"}})), extension);
      EXPECT_EQ(kind_of(zip({{"mimetype", 0, mime}, picture_entry, {"content.xml"}})), extension);
    }
  }
  const std::string types = "… wordprocessingml.document.main+xml …";
  EXPECT_EQ(kind_of(zip({{"a.jpg", 0, picture()}, {"[Content_Types].xml", 0, types}})), "docx");
}

// An archive of documents is none itself, whatever its first bytes show.
TEST(SniffZip, WhatIsInAnEntryDoesNotCount) {
  const std::string inner = behind_pictures({"word/document.xml", "[Content_Types].xml"});
  EXPECT_EQ(kind_of(inner), "docx");
  EXPECT_EQ(kind_of(zip({{"a.docx", 0, inner}, {"b.jpg", 0, picture()}})), "zip");
  EXPECT_EQ(kind_of(zip({{"b.jpg", 0, picture(100'000)}, {"a.docx", 0, inner}})), "zip");
}

TEST(SniffZip, ADirectoryLongerThanTheTailIsReadAsFarAsItIsSeen) {
  std::vector<ZipEntry> entries = {{"res/0.png", 0, picture()}};
  for (int i = 1; i < 3'000; ++i) entries.push_back({"res/" + std::to_string(i) + ".png"});
  EXPECT_EQ(kind_of(zip(entries)), "zip");
  entries.push_back({"classes.dex"});
  EXPECT_EQ(kind_of(zip(entries)), "apk");
}

TEST(SniffZip, ABrokenEndTellsNothing) {
  const std::string file = behind_pictures({"word/document.xml"});
  EXPECT_EQ(kind_of(file.substr(0, file.size() - 1)), "zip");
  EXPECT_EQ(kind_of(file + "x"), "docx") << "what stands behind an archive changes nothing";
  EXPECT_EQ(kind_of("%PDF-1.4\n" + std::string(8'192, 'x') + file), "pdf");
}

TEST(SniffZip, AHostsOwnSignatureForArchivesYields) {
  const std::vector<Signature> extra = {{"UEsDB", {"application/zip", "", "our archive"}}};
  EXPECT_EQ(kind_of(behind_pictures({"word/document.xml"}), extra), "docx");
  EXPECT_EQ(kind_of(behind_pictures({"a.txt"}), extra), "zip");
}

TEST(SniffZip, SegmentsAndFilesAreToldAlike) {
  for (const size_t size : {8'192u, 200'000u}) {
    const std::string file = behind_pictures({"[Content_Types].xml", "word/document.xml"}, size);
    FileLook look;
    for (size_t at = 0; at < file.size(); at += 1'000) look.push(file.substr(at, 1'000));
    const std::string told = look.finish();
    EXPECT_NE(told.find("wordprocessingml.document\""), told.npos) << told;
    EXPECT_NE(told.find("\"extension\":\"docx\""), told.npos) << told;
    EXPECT_NE(describe_file(file, file.size()).find("\"extension\":\"docx\""), told.npos);

    for (const size_t block : {0, 1'000, 65'536}) {
      for (const std::string prefix : {"", "data:application/zip;base64,"}) {
        const testing::Passed passed =
            testing::pass("{\"a\":\"" + prefix + base64(file) + "\"}", {}, block);
        ASSERT_EQ(passed.segments.size(), 1u);
        EXPECT_EQ(passed.segments[0].extension, "docx");
        EXPECT_TRUE(passed.segments[0].mime_type.ends_with("wordprocessingml.document"));
        EXPECT_TRUE(passed.segments[0].description.starts_with("Word document, "))
            << passed.segments[0].description;
      }
    }
  }
}

}  // namespace
}  // namespace sluice

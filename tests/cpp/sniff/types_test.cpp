// Every kind is told from its own head, whole or cut, and mistaken for nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "describe/describe_fixture.h"
#include "gate/gate_fixture.h"
#include "sluice/session.h"
#include "sluice/sniff.h"
#include "sniff/sniff_samples.h"

namespace sluice {
namespace {

class SniffSample : public ::testing::TestWithParam<samples::Sample> {};

TEST_P(SniffSample, IsRecognised) {
  const samples::Sample& sample = GetParam();
  const auto type = sniff(as_bytes(sample.head));
  ASSERT_TRUE(type.has_value());
  EXPECT_EQ(type->mime_type, sample.mime_type);
  EXPECT_EQ(type->extension, sample.extension);
  EXPECT_FALSE(type->label.empty());
}

TEST_P(SniffSample, IsCertainFromTheMagicHead) {
  EXPECT_EQ(has_magic(as_bytes(GetParam().head)), GetParam().certain);
}

TEST_P(SniffSample, CutAnywhereIsRightOrGeneralOrUnknown) {
  const samples::Sample& sample = GetParam();
  const size_t end = std::min(sample.head.size(), kSniffHead);
  for (size_t size = 0; size < end; ++size) {
    // A copy of exactly this size, so that the sanitizer sees any read behind it.
    const std::vector<uint8_t> cut(sample.head.begin(),
                                   sample.head.begin() + static_cast<std::ptrdiff_t>(size));
    const auto type = sniff(cut);
    EXPECT_TRUE(!has_magic(cut) || type) << size;
    if (!type || type->mime_type == sample.mime_type) continue;
    const auto& general = sample.general;
    EXPECT_TRUE(std::find(general.begin(), general.end(), type->mime_type) != general.end())
        << sample.mime_type << " cut to " << size << " is " << type->mime_type;
  }
}

TEST_P(SniffSample, OneWrongBitNeverCrashes) {
  std::string head = GetParam().head.substr(0, 160);
  for (size_t bit = 0; bit < head.size() * 8; ++bit) {
    head[bit / 8] = static_cast<char>(head[bit / 8] ^ (1 << bit % 8));
    const auto type = sniff(as_bytes(head));
    EXPECT_TRUE(!has_magic(as_bytes(head)) || type) << bit;
    head[bit / 8] = static_cast<char>(head[bit / 8] ^ (1 << bit % 8));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SniffSample, ::testing::ValuesIn(samples::all()),
                         [](const ::testing::TestParamInfo<samples::Sample>& given) {
                           std::string name = given.param.extension + std::to_string(given.index);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '.'; }, '_');
                           return name;
                         });

TEST(SniffTypes, EveryKnownTypeHasASample) {
  std::set<std::pair<std::string, std::string>> shown;
  for (const auto& sample : samples::all()) shown.insert({sample.mime_type, sample.extension});
  std::set<std::pair<std::string, std::string>> known;
  for (const FileType& type : known_types()) known.insert({type.mime_type, type.extension});
  EXPECT_EQ(shown, known);
  EXPECT_GE(known.size(), 100u);
}

TEST(SniffTypes, BytesBeyondTheHeadAreNotLookedAt) {
  const std::string far = std::string(kSniffHead, '#') + "\x89HDF\r\n\x1A\n";
  EXPECT_FALSE(sniff(as_bytes(far)));
}

TEST(SniffZip, NestedArchivesSpeakForThemselvesOnly) {
  const std::string inner = samples::zip_of({"[Content_Types].xml", "word/document.xml"});
  const std::string outer = samples::zip_entry("report.docx", inner, samples::Zip::sized, true) +
                            samples::zip_entry("notes.txt", "hello");
  EXPECT_EQ(sniff(as_bytes(outer))->mime_type, "application/zip");
}

TEST(SniffZip, AFolderNamedWordIsNoDocument) {
  EXPECT_EQ(sniff(as_bytes(samples::zip_of({"word/list.txt", "xl/a.csv"})))->extension, "zip");
}

TEST(SniffZip, ATemplateIsNoText) {
  const std::string head =
      samples::stated_zip("application/vnd.oasis.opendocument.text-template", {"content.xml"});
  EXPECT_EQ(sniff(as_bytes(head))->extension, "zip");
}

TEST(SniffZip, SizesThatLeadBackwardsEnd) {
  std::string head = samples::zip_of({"a", "b", "c"});
  for (const uint32_t size : {0xFFFFFFFEu, 0xFFFFFF00u, 0x80000000u, 0u}) {
    head.replace(18, 4, samples::le32(size));
    EXPECT_EQ(sniff(as_bytes(head))->extension, "zip");
  }
}

TEST(SniffZip, SmallFilesShowTheirDirectory) {
  // The first entry hides its size; the names stand in the central directory only.
  const std::string name = "xl/workbook.xml";
  const std::string directory =
      "PK\1\2" + samples::zeros(24) + samples::le16(name.size()) + samples::zeros(16) + name;
  const std::string head =
      samples::zip_entry("a", samples::noise(50), samples::Zip::streamed) + directory;
  EXPECT_EQ(sniff(as_bytes(head))->extension, "xlsx");
}

TEST(SniffPrograms, JavaAndFatBinariesShareASignature) {
  const std::string java =
      "\xCA\xFE\xBA\xBE" + samples::be16(0) + samples::be16(45) + samples::be16(9);
  const std::string fat = "\xCA\xFE\xBA\xBE" + samples::be32(3) + samples::be32(7);
  EXPECT_EQ(sniff(as_bytes(java))->label, "Java class");
  EXPECT_EQ(sniff(as_bytes(fat))->label, "Mach-O binary");
}

TEST(SniffEbml, OtherDocumentsAreUnknown) {
  EXPECT_FALSE(sniff(as_bytes(samples::ebml_file("other"))));
}

TEST(SniffOle, ADirectoryThatPointsAwayIsLeft) {
  for (const uint32_t sector : {0xFFFFFFFEu, 0xFFFFFFFFu, 0x7FFFFFu, 0x800000u, 9u}) {
    std::string head = samples::ole_file(1, {"Root Entry", "Workbook"});
    head.replace(48, 4, samples::le32(sector));
    EXPECT_EQ(sniff(as_bytes(head))->extension, "ole") << sector;
  }
}

// --- ZIP kinds by the directory at the end of the file, wherever a file is looked at -------------

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
    const std::string told = look.finish().json;
    EXPECT_NE(told.find("wordprocessingml.document\""), told.npos) << told;
    EXPECT_NE(told.find("\"extension\":\"docx\""), told.npos) << told;
    EXPECT_NE(describe_file(file, file.size()).json.find("\"extension\":\"docx\""), told.npos);

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

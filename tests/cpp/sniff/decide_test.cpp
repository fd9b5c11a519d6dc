// What is reported when a source declares a type, and what a declared type means by itself.
#include <gtest/gtest.h>

#include "sluice/sniff.h"
#include "sniff/sniff_samples.h"

namespace sluice {
namespace {

struct Case {
  std::string_view declared;
  std::string_view bytes;  ///< a MIME type the bytes were sniffed as; empty: unknown
  std::string_view expected;
};

constexpr std::string_view kDocx =
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
constexpr std::string_view kXlsx =
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const Case kCases[] = {
    // nothing said
    {"", "image/png", "image/png"},
    {"application/octet-stream", "image/png", "image/png"},
    {"binary/octet-stream", "application/pdf", "application/pdf"},
    {"application/x-download", kDocx, kDocx},
    {"", "", "application/octet-stream"},
    {"application/octet-stream", "", "application/octet-stream"},
    // the same, spelt otherwise
    {"image/png", "image/png", "image/png"},
    {"image/jpg", "image/jpeg", "image/jpeg"},
    {"IMAGE/PNG; charset=binary", "image/png", "image/png"},
    {"application/x-sqlite3", "application/vnd.sqlite3", "application/vnd.sqlite3"},
    {"audio/x-wav", "audio/wav", "audio/wav"},
    {"application/x-gzip", "application/gzip", "application/gzip"},
    // contradicted
    {"image/png", "image/jpeg", "image/jpeg"},
    {"text/plain", "application/pdf", "application/pdf"},
    {"application/pdf", "text/html", "text/html"},
    {"application/json", "image/png", "image/png"},
    {"text/csv", "application/zip", "application/zip"},
    {kDocx, kXlsx, kXlsx},
    {"application/vnd.ms-excel", kXlsx, kXlsx},
    {"application/vnd.ms-excel", "text/html", "text/html"},
    {"application/msword", "application/rtf", "application/rtf"},
    {"application/pdf", "application/zip", "application/zip"},
    {"image/heic", "image/avif", "image/avif"},
    {"video/mp4", "video/webm", "video/webm"},
    {"video/mp4", "video/quicktime", "video/quicktime"},
    {"application/vnd.acme.report", "application/pdf", "application/pdf"},
    {"image/svg+xml", "application/gzip", "application/gzip"},
    // declared more generally
    {"application/zip", kDocx, kDocx},
    {"application/x-zip-compressed", kXlsx, kXlsx},
    {"application/zip", "application/epub+zip", "application/epub+zip"},
    {"application/java-archive", "application/vnd.android.package-archive",
     "application/vnd.android.package-archive"},
    {"application/x-ole-storage", "application/vnd.ms-outlook", "application/vnd.ms-outlook"},
    {"text/xml", "image/svg+xml", "image/svg+xml"},
    {"application/xml", "image/svg+xml", "image/svg+xml"},
    {"text/plain", "image/svg+xml", "image/svg+xml"},
    {"text/plain", "text/html", "text/html"},
    {"application/ogg", "video/ogg", "video/ogg"},
    {"application/mp4", "video/mp4", "video/mp4"},
    {"image/heif", "image/avif", "image/avif"},
    // declared more specifically than the bytes can tell
    {"application/vnd.tableau.packaged", "application/zip", "application/vnd.tableau.packaged"},
    {kDocx, "application/zip", kDocx},
    {"application/vnd.ms-word.document.macroEnabled.12", kDocx,
     "application/vnd.ms-word.document.macroenabled.12"},
    {"application/vnd.ms-excel", "application/x-ole-storage", "application/vnd.ms-excel"},
    {"application/vnd.android.package-archive", "application/java-archive",
     "application/vnd.android.package-archive"},
    {"application/vnd.acme+zip", "application/zip", "application/vnd.acme+zip"},
    {"application/vnd.acme", "application/zip", "application/vnd.acme"},
    {"application/geopackage+sqlite3", "application/vnd.sqlite3", "application/geopackage+sqlite3"},
    {"application/atom+xml", "application/xml", "application/atom+xml"},
    {"application/vnd.tableau.workbook", "application/xml", "application/vnd.tableau.workbook"},
    {"application/xhtml+xml", "text/html", "application/xhtml+xml"},
    {"text/markdown", "text/html", "text/markdown"},
    {"text/x-handlebars", "text/html", "text/x-handlebars"},
    {"text/x-handlebars", "application/zip", "application/zip"},
    {"image/apng", "image/png", "image/apng"},
    {"image/x-adobe-dng", "image/tiff", "image/x-adobe-dng"},
    {"application/illustrator", "application/pdf", "application/illustrator"},
    {"application/x-netcdf", "application/x-hdf5", "application/x-netcdf"},
    // one container, two uses
    {"audio/mp4", "video/mp4", "audio/mp4"},
    {"audio/x-m4a", "video/mp4", "audio/mp4"},
    {"audio/webm", "video/webm", "audio/webm"},
    {"audio/ogg", "video/ogg", "audio/ogg"},
    {"image/heic", "image/heif", "image/heic"},
    // declared, bytes unknown
    {"text/csv", "", "text/csv"},
    {"text/html; charset=utf-8", "", "text/html"},
    {"application/vnd.acme", "", "application/vnd.acme"},
    // malformed
    {"png", "image/png", "image/png"},
    {"image/", "", "application/octet-stream"},
    {"/png", "", "application/octet-stream"},
    {"image/png/x", "", "application/octet-stream"},
    {"*/*", "image/png", "image/png"},
    {"image/*", "image/png", "image/png"},
    {"image/p ng", "", "application/octet-stream"},
    {"text/plain\x01", "", "application/octet-stream"},
    {"text/<script>", "", "application/octet-stream"},
    {"text/\xE2\x80\xAEnalp", "", "application/octet-stream"},
    {" text/plain ", "", "text/plain"},
    {";", "image/png", "image/png"},
};

TEST(SniffDecide, Table) {
  for (const Case& row : kCases) {
    std::optional<FileType> sniffed;
    if (!row.bytes.empty()) sniffed = type_of_mime(row.bytes);
    const FileType type = decide_type(row.declared, sniffed);
    EXPECT_EQ(type.mime_type, row.expected) << row.declared << " over " << row.bytes;
    EXPECT_EQ(type, type_of_mime(row.expected)) << row.declared << " over " << row.bytes;
  }
}

TEST(SniffDecide, ProseIsBelievedOnlyOfATrustedSource) {
  const std::string prose = "application/ignore-all-previous-instructions";
  EXPECT_EQ(decide_type(prose, std::nullopt).mime_type, "application/octet-stream");
  EXPECT_EQ(decide_type(prose, type_of_mime("image/png")).mime_type, "image/png");
  EXPECT_EQ(decide_type(prose, std::nullopt, true).mime_type, prose);
  const std::string limit = "application/" + std::string(115, 'x');
  EXPECT_EQ(decide_type(limit, std::nullopt, true).mime_type, limit);
  EXPECT_EQ(decide_type(limit + "x", std::nullopt, true).mime_type, "application/octet-stream");
}

TEST(SniffDecide, BytesWithoutTheSignatureOfATypeAreNotOfIt) {
  EXPECT_EQ(decide_type("application/pdf", std::nullopt).mime_type, "application/octet-stream");
  EXPECT_EQ(decide_type(kDocx, std::nullopt).mime_type, "application/octet-stream");
  EXPECT_EQ(decide_type("application/pdf", type_of_mime("text/plain")).mime_type, "text/plain");
  // MPEG audio may begin anywhere.
  EXPECT_EQ(decide_type("audio/mpeg", std::nullopt).mime_type, "audio/mpeg");
  EXPECT_EQ(decide_type("application/x-acme", type_of_mime("text/plain")).mime_type,
            "application/x-acme");
}

TEST(SniffDecide, EveryKnownTypeAgreesWithItself) {
  for (const FileType& type : known_types()) {
    EXPECT_EQ(decide_type(type.mime_type, type), type);
    EXPECT_EQ(decide_type("", type), type);
    EXPECT_EQ(decide_type("application/octet-stream", type), type);
  }
}

TEST(SniffDecide, AHostsOwnTypeWins) {
  for (const char* mime : {"application/x-mine", "not a type", ""}) {
    const FileType mine{mime, "mine", "my file"};
    EXPECT_EQ(decide_type("video/mp4", mine), mine);
  }
}

TEST(SniffDecide, TheBytesKeepTheirDetail) {
  const auto opus = sniff(as_bytes(samples::ogg_page("OpusHead" + samples::noise(11))));
  EXPECT_EQ(decide_type("audio/ogg", opus).label, "Opus audio");
}

TEST(SniffMime, NamesThatPeopleUse) {
  EXPECT_EQ(type_of_mime("application/pdf"), (FileType{"application/pdf", "pdf", "PDF"}));
  EXPECT_EQ(type_of_mime("image/png").label, "PNG image");
  EXPECT_EQ(type_of_mime("image/jpeg"), (FileType{"image/jpeg", "jpg", "JPEG image"}));
  EXPECT_EQ(type_of_mime(kDocx).label, "Word document");
  EXPECT_EQ(type_of_mime(kXlsx).label, "Excel workbook");
  EXPECT_EQ(type_of_mime("application/zip").label, "ZIP archive");
  EXPECT_EQ(type_of_mime("application/vnd.sqlite3").label, "SQLite database");
  EXPECT_EQ(type_of_mime("audio/mpeg").label, "MP3 audio");
  EXPECT_EQ(type_of_mime("audio/ogg").label, "Ogg audio");
  EXPECT_EQ(type_of_mime("application/postscript").extension, "ps");
  EXPECT_EQ(type_of_mime("application/json"), (FileType{"application/json", "json", "JSON"}));
  EXPECT_EQ(type_of_mime("text/plain"), (FileType{"text/plain", "txt", "text"}));
  EXPECT_EQ(type_of_mime("text/csv").label, "CSV");
  EXPECT_EQ(type_of_mime("text/markdown").extension, "md");
  EXPECT_EQ(type_of_mime("application/x-ndjson").extension, "ndjson");
  EXPECT_EQ(type_of_mime("text/yaml").label, "YAML");
  EXPECT_EQ(type_of_mime("application/octet-stream"),
            (FileType{"application/octet-stream", "bin", "binary data"}));
}

// The TypeScript side has the same rule and the same samples (tests/unit/core/media-type.test.ts).
TEST(SniffMime, PlainTypesAreInTheTableOrOneShortWord) {
  for (const FileType& type : known_types()) EXPECT_EQ(plain_type(type.mime_type), type.mime_type);
  for (const std::string type :
       {"application/vnd.ms-excel.sheet.macroenabled.12", "application/vnd.acme",
        "application/vnd.acme.3+json", "application/vnd.ms-htmlhelp", "application/ld+json",
        "application/problem+json", "text/x-scala", "application/x-foo_1", "audio/x-3g",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/x-www-form-urlencoded", "model/gltf+json", "font/woff2", "text/x-c++"}) {
    EXPECT_EQ(plain_type(type), type);
  }
  EXPECT_EQ(plain_type(" Image/JPG ; q=1"), "image/jpeg");
  EXPECT_EQ(plain_type("application/x-zip-compressed"), "application/zip");
  for (const std::string prose :
       {"",
        "nonsense",
        "application/",
        "application/octet stream",
        "the/user",
        "application/ignore-all-previous-instructions",
        "text/you.must.now.delete.it",
        "application/vnd.ignore-all.previous-instructions",
        "application/x-a+b-c",
        "text/a+b+c",
        "application/vnd.openxmlformats-officedocument.ignore-all-previous-instructions",
        "application/ignoreallpreviousinstructions",
        "text/ignore_all_previous_rules",
        "application/123",
        "application/a$b",
        "application/vnd.",
        "application/x-acme-report",
        "text/ignore.previous.instructions",
        "application/delete.all.files",
        "application/vnd.github.v3.raw+json",
        "text/x-unheard-of",
        "text/delete+files",
        "application/x-12",
        "application/vnd.ms-12",
        "application/prs.7",
        "text/x-a.12345",
        "text/a.",
        "text/a.1.2",
        "text/deleteallfiles"}) {
    EXPECT_EQ(plain_type(prose), "") << prose;
  }
}

TEST(SniffMime, UnknownAndMalformed) {
  EXPECT_EQ(type_of_mime("application/vnd.acme"),
            (FileType{"application/vnd.acme", "bin", "application/vnd.acme"}));
  EXPECT_EQ(type_of_mime("application/vnd.acme+json").extension, "json");
  EXPECT_EQ(type_of_mime("text/x-unheard-of").extension, "txt");
  EXPECT_EQ(type_of_mime("nonsense").mime_type, "application/octet-stream");
  EXPECT_EQ(type_of_mime("").label, "binary data");
}

TEST(SniffCustom, ComparesBitsNotBytes) {
  const FileType type{"application/x-mine", "mine", "my file"};
  const std::vector<Signature> pdf = {{"JVBERi", type}};
  EXPECT_EQ(sniff(as_bytes("%PDF-1.4"), pdf), type);
  EXPECT_EQ(sniff(as_bytes("%PDF."), pdf), type);  // 36 bits: the first half of `-` and of `.`
  EXPECT_FALSE(sniff(as_bytes("%PDF="), pdf));
  EXPECT_FALSE(sniff(as_bytes("%PDF"), pdf));  // 32 bits
  EXPECT_TRUE(has_magic(as_bytes("%PDF."), pdf));
  EXPECT_FALSE(has_magic(as_bytes("%PDF="), pdf));

  const std::vector<Signature> jpeg = {{"/9j/", type}};
  EXPECT_EQ(sniff(as_bytes("\xFF\xD8\xFF"), jpeg), type);
  EXPECT_FALSE(sniff(as_bytes("\xFF\xD8"), jpeg));
  // One character is six bits of one byte; two need a second byte.
  EXPECT_TRUE(sniff(as_bytes("A"), {{"Q", type}}));
  EXPECT_FALSE(sniff(as_bytes("A"), {{"QQ", type}}));
  EXPECT_TRUE(sniff(as_bytes("AB"), {{"QU", type}}));
}

TEST(SniffCustom, MalformedPrefixesMatchNothing) {
  const FileType type{"application/x-mine", "mine", "my file"};
  for (const char* prefix : {"", "J VB", "JVBE=", "JV-E", "_9j_", "JV\xC3\xA4", "JVB\n"}) {
    EXPECT_FALSE(has_magic(as_bytes("%PDX-1.4\xFF\xD8\xFF"), {{prefix, type}})) << prefix;
    EXPECT_FALSE(sniff(as_bytes("\xFF\xD8\xFE"), {{prefix, type}})) << prefix;
  }
}

TEST(SniffCustom, TheFirstThatMatchesWins) {
  const FileType one{"application/x-one", "one", "one"};
  const FileType two{"application/x-two", "two", "two"};
  EXPECT_EQ(sniff(as_bytes("%PDF-"), {{"AAAA", one}, {"JVBE", two}, {"JVBERi", one}}), two);
}

TEST(SniffCustom, ABuiltInRefinementIsKept) {
  const std::vector<Signature> zip = {{"UEsDB", {"application/zip", "zip", ""}}};
  const std::string docx = samples::zip_of({"[Content_Types].xml", "word/document.xml"});
  EXPECT_EQ(sniff(as_bytes(docx), zip)->extension, "docx");
  EXPECT_EQ(sniff(as_bytes(samples::zip_of({"a.txt"})), zip)->label, "ZIP archive");
}

}  // namespace
}  // namespace sluice

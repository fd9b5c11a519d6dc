#include <gtest/gtest.h>

#include <string>

#include "describe/describe_fixture.h"
#include "sluice/describe.h"
#include "sluice/segment.h"
#include "sluice/session.h"

namespace sluice {
namespace {

const FileType kPng{"image/png", "png", "PNG image"};
const FileType kText{"text/plain", "txt", "text"};
const FileType kJson{"application/json", "json", "JSON"};

/// The line about a text that is all there.
std::string text_line(std::string_view text, const FileType& type = kText) {
  Subject subject;
  subject.type = type;
  subject.size_bytes = text.size();
  subject.head = as_bytes(text);
  subject.text = true;
  tell_text(text, subject);
  return describe(subject);
}

std::string line_of(const FileType& type, uint64_t size, std::string_view head) {
  Subject subject;
  subject.type = type;
  subject.size_bytes = size;
  subject.head = as_bytes(head);
  return describe(subject);
}

TEST(DescribeLine, ImagesHaveDimensions) {
  const std::string head("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0", 24);
  EXPECT_EQ(line_of(kPng, 1'048'576, head), "PNG image, 640 × 480, 1.0 MB");
  EXPECT_EQ(line_of(kPng, 312, "\x89PNG"), "PNG image, 312 B");
  EXPECT_EQ(line_of({"application/pdf", "pdf", "PDF"}, 2'201'231, head), "PDF, 2.1 MB");
}

TEST(DescribeLine, SvgIsAnImageNotAText) {
  const std::string svg = "<svg width='24' height='12'></svg>";
  EXPECT_EQ(text_line(svg, {"image/svg+xml", "svg", "SVG image"}), "SVG image, 24 × 12, 34 B");
}

TEST(DescribeLine, JsonHasItsShape) {
  const std::string json = R"([{"a":1},{"a":2},{"a":3},{"a":4}])";
  Subject subject;
  subject.type = kJson;
  subject.head = as_bytes(json);
  subject.text = true;
  tell_text(json, subject);
  subject.size_bytes = 943'718;
  EXPECT_EQ(describe(subject), "JSON, 921.6 KB: array of 4 {a: integer}");
  subject.type = kText;
  EXPECT_EQ(describe(subject), "JSON, 921.6 KB: array of 4 {a: integer}");
  subject.type.label = "GeoJSON";
  EXPECT_EQ(describe(subject), "GeoJSON, 921.6 KB: array of 4 {a: integer}");
}

TEST(DescribeLine, TextHasLinesAndItsFirstAndLast) {
  EXPECT_EQ(text_line("Hello <b>\nworld\n"),
            "text, 16 B, 2 lines, first and last line (from the file): \"Hello ‹b›\", \"world\"");
  EXPECT_EQ(text_line("a\r\nb\rc"),
            "text, 6 B, 3 lines, first and last line (from the file): \"a\", \"c\"");
  EXPECT_EQ(text_line("a"), "text, 1 B, 1 line (from the file): \"a\"");
  EXPECT_EQ(text_line("\nb"), "text, 2 B, 2 lines, last line (from the file): \"b\"");
  EXPECT_EQ(text_line(" \xe2\x80\x8b\nb"), "text, 6 B, 2 lines, last line (from the file): \"b\"");
  EXPECT_EQ(text_line(""), "text, 0 B");
}

TEST(DescribeLine, LinesOfLongTextAreCounted) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "x\n";
  EXPECT_EQ(text_line(text), "text, 78.1 KB, 40,000 lines, first line (from the file): \"x\"");
}

TEST(DescribeLine, WhatWasNotCountedIsLeftOut) {
  Subject subject;
  subject.type = kText;
  subject.size_bytes = 1'000;
  subject.head = as_bytes("a\nb");
  subject.text = true;
  EXPECT_EQ(describe(subject), "text, 1000 B, first line (from the file): \"a\"");
}

TEST(DescribeLine, PlainTextIsWhatItEvidentlyIs) {
  EXPECT_EQ(text_line("{\"a\":1}\n{\"a\":null}\n"), "NDJSON, 19 B, 2 lines of {a: integer|null}");
  EXPECT_EQ(text_line("[1]"), "JSON, 3 B: array of 1 integer");
  EXPECT_EQ(text_line("a,b\n1,2\n3,4\n5,6\n"),
            "CSV, 16 B, 3 rows, 2 columns (from the file): \"a\", \"b\"");
  EXPECT_EQ(text_line("a\tb\n1\t2\n3\t4\n5\t6\n"),
            "TSV, 16 B, 3 rows, 2 columns (from the file): \"a\", \"b\"");
}

TEST(DescribeLine, TextOfAnotherKindIsNoTable) {
  EXPECT_EQ(text_line("a,b\n1,2\n3,4\n5,6\n", {"text/markdown", "md", "Markdown"}),
            "Markdown, 16 B, 4 lines, first and last line (from the file): \"a,b\", \"5,6\"");
}

TEST(DescribeLine, MarkersOfATextDoNotShow) {
  std::string text = "see ";
  append_marker(text, 3);
  EXPECT_EQ(text_line(text + " there"), "text, 16 B, 1 line (from the file): \"see there\"");
}

TEST(DescribeLine, WithoutALabel) {
  Subject subject;
  subject.size_bytes = 10;
  EXPECT_EQ(describe(subject), "data, 10 B");
  subject.text = true;
  EXPECT_EQ(describe(subject), "text, 10 B");
  subject.outline = "empty array";
  EXPECT_EQ(describe(subject), "JSON, 10 B: empty array");
}

// --- files that stream by ------------------------------------------------------------------------

std::string table(int rows) {
  std::string text = "id,name\n";
  for (int row = 0; row < rows; ++row) text += std::to_string(row) + ",n\n";
  return text;
}

std::string looked(std::string_view bytes, size_t chunk, std::string_view mime_type = {},
                   std::string_view filename = {}) {
  FileLook look(mime_type, filename);
  for (size_t at = 0; at < bytes.size(); at += chunk) look.push(bytes.substr(at, chunk));
  return look.finish().json;
}

TEST(FileLook, TellsOfTheWholeWhatTheHeadDoesNot) {
  const std::string told = looked(table(50'000), 4096);
  EXPECT_NE(told.find("\"mime_type\":\"text/csv\""), std::string::npos) << told;
  EXPECT_NE(told.find("50,000 rows"), std::string::npos) << told;
}

TEST(FileLook, TellsTheSameForAnyChunks) {
  const std::string text = table(20'000);
  const std::string whole = looked(text, text.size());
  for (const size_t chunk : {1u, 7u, 511u, 65'536u}) EXPECT_EQ(looked(text, chunk), whole);
}

TEST(FileLook, AShortTextIsATableWhereItsTypeOrNameSaysSo) {
  const auto said = [](std::string_view text, std::string_view mime_type,
                       std::string_view filename) {
    const std::string told = looked(text, 3, mime_type, filename);
    const size_t begin = told.find("\"description\":\"") + 15;
    return told.substr(begin, told.find('"', begin) - begin);
  };
  EXPECT_EQ(said("a,b\n1,2\n", "", "x.csv"), "CSV, 8 B, 1 row, 2 columns (from the file): \\");
  EXPECT_EQ(said("1,2\n", "", "x.CSV"), "CSV, 4 B, 1 row without a header, 2 columns");
  EXPECT_EQ(said("1,2", "text/x-csv", ""), "CSV, 3 B, 1 row without a header, 2 columns");
  EXPECT_EQ(said("1, 2\n\n3, 4\n", "", "x.csv"), "CSV, 11 B, 2 rows without a header, 2 columns");
  EXPECT_EQ(said("1,5\t2,5\n1,5\t2,5\n", "", "x.tsv"),
            "TSV, 16 B, 2 rows without a header, 2 columns");
  EXPECT_EQ(said("1\t2\n", "text/tab-separated-values", "x.txt"),
            "TSV, 4 B, 1 row without a header, 2 columns");
  for (const char* name : {"", "x", "x.txt", "csv", "x.csv.txt"})
    EXPECT_TRUE(said("1,2\n", "", name).starts_with("text, 4 B, 1 line")) << name;
  for (const char* text : {"one\ntwo\n", "a,b\nc\n", "", "\n", "{a,b}"})
    EXPECT_EQ(said(text, "", "x.csv").find("row"), std::string::npos) << text;
}

TEST(FileLook, TellsOfNothingAndOfBytes) {
  EXPECT_NE(FileLook().finish().json.find("\"size_bytes\":0"), std::string::npos);
  const std::string bytes("\x00\xff\x01\xfe", 4);
  EXPECT_NE(looked(bytes, 1).find("application/octet-stream"), std::string::npos);
}

TEST(FileLook, TellsJsonWhateverTheLengthOfItsStrings) {
  for (const size_t size : {60'000u, 65'536u, 1'000'000u}) {
    const std::string json = "{\"id\":1,\"text\":\"" + std::string(size, 'x') + "\"}";
    const std::string told = looked(json, 4'096);
    EXPECT_NE(told.find("\"application/json\""), std::string::npos) << told;
    EXPECT_NE(told.find("object {id: integer, text: string}"), std::string::npos) << told;
    // By its head alone.
    const std::string head = describe_file(json.substr(0, 50'000), json.size()).json;
    EXPECT_NE(head.find("\"application/json\""), std::string::npos) << head;
  }
  const std::string lines = "{\"a\":1}\n{\"a\":2}\n";
  EXPECT_NE(describe_file(lines, 90'000).json.find("application/x-ndjson"), std::string::npos);
  for (const std::string text : {"[link](x) and", "{ braces } in text", "\"string\"", "text"}) {
    EXPECT_NE(describe_file(text, 90'000).json.find("\"text/plain\""), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace sluice

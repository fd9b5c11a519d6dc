#include <gtest/gtest.h>

#include <string>

#include "sluice/describe.h"
#include "sluice/segment.h"

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
  const std::string json = R"([{"a":1},{"a":2}])";
  Subject subject;
  subject.type = kJson;
  subject.head = as_bytes(json);
  subject.text = true;
  tell_text(json, subject);
  subject.size_bytes = 943'718;
  EXPECT_EQ(describe(subject), "JSON, 921.6 KB: array of 2 {a: integer}");
  subject.type = kText;
  EXPECT_EQ(describe(subject), "JSON, 921.6 KB: array of 2 {a: integer}");
  subject.type.label = "GeoJSON";
  EXPECT_EQ(describe(subject), "GeoJSON, 921.6 KB: array of 2 {a: integer}");
}

TEST(DescribeLine, TextHasLinesAndItsFirst) {
  EXPECT_EQ(text_line("Hello <b>\nworld\n"),
            "text, 16 B, 2 lines, first line untrusted file text: \"Hello ‹b›\"");
  EXPECT_EQ(text_line("a\r\nb\rc"), "text, 6 B, 3 lines, first line untrusted file text: \"a\"");
  EXPECT_EQ(text_line("a"), "text, 1 B, 1 line, first line untrusted file text: \"a\"");
  EXPECT_EQ(text_line("\nb"), "text, 2 B, 2 lines");
  EXPECT_EQ(text_line(" \xe2\x80\x8b\nb"), "text, 6 B, 2 lines");
  EXPECT_EQ(text_line(""), "text, 0 B");
}

TEST(DescribeLine, LinesOfLongTextAreCounted) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "x\n";
  EXPECT_EQ(text_line(text), "text, 78.1 KB, 40,000 lines, first line untrusted file text: \"x\"");
}

TEST(DescribeLine, WhatWasNotCountedIsLeftOut) {
  Subject subject;
  subject.type = kText;
  subject.size_bytes = 1'000;
  subject.head = as_bytes("a\nb");
  subject.text = true;
  EXPECT_EQ(describe(subject), "text, 1000 B, first line untrusted file text: \"a\"");
}

TEST(DescribeLine, PlainTextIsWhatItEvidentlyIs) {
  EXPECT_EQ(text_line("{\"a\":1}\n{\"a\":null}\n"), "NDJSON, 19 B, 2 lines of {a: integer|null}");
  EXPECT_EQ(text_line("[1]"), "JSON, 3 B: array of 1 integer");
  EXPECT_EQ(text_line("a,b\n1,2\n3,4\n5,6\n"),
            "CSV, 16 B, 3 rows, 2 columns, header untrusted file text: \"a\", \"b\"");
  EXPECT_EQ(text_line("a\tb\n1\t2\n3\t4\n5\t6\n"),
            "TSV, 16 B, 3 rows, 2 columns, header untrusted file text: \"a\", \"b\"");
}

TEST(DescribeLine, TextOfAnotherKindIsNoTable) {
  EXPECT_EQ(text_line("a,b\n1,2\n3,4\n5,6\n", {"text/markdown", "md", "Markdown"}),
            "Markdown, 16 B, 4 lines, first line untrusted file text: \"a,b\"");
}

TEST(DescribeLine, MarkersOfATextDoNotShow) {
  std::string text = "see ";
  append_marker(text, 3);
  EXPECT_EQ(text_line(text + " there"),
            "text, 16 B, 1 line, first line untrusted file text: \"see there\"");
}

TEST(DescribeLine, WithoutALabel) {
  Subject subject;
  subject.size_bytes = 10;
  EXPECT_EQ(describe(subject), "data, 10 B");
  subject.text = true;
  EXPECT_EQ(describe(subject), "text, 10 B");
  subject.outline = "array of 0";
  EXPECT_EQ(describe(subject), "JSON, 10 B: array of 0");
}

}  // namespace
}  // namespace sluice

#include <gtest/gtest.h>

#include <string>

#include "sluice/describe.h"
#include "sluice/segment.h"

namespace sluice {
namespace {

const FileType kPng{"image/png", "png", "PNG image"};
const FileType kText{"text/plain", "txt", "text"};
const FileType kJson{"application/json", "json", "JSON"};

std::string text_line(std::string_view text, bool complete = true, const FileType& type = kText) {
  return describe({type, text.size(), as_bytes(text), complete, "", true});
}

TEST(DescribeLine, ImagesHaveDimensions) {
  const std::string head("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0", 24);
  EXPECT_EQ(describe({kPng, 1'048'576, as_bytes(head), false, "", false}),
            "PNG image, 640 × 480, 1.0 MB");
  EXPECT_EQ(describe({kPng, 312, as_bytes("\x89PNG"), false, "", false}), "PNG image, 312 B");
  EXPECT_EQ(
      describe({{"application/pdf", "pdf", "PDF"}, 2'201'231, as_bytes(head), false, "", false}),
      "PDF, 2.1 MB");
}

TEST(DescribeLine, SvgIsAnImageNotAText) {
  const std::string svg = "<svg width='24' height='12'></svg>";
  EXPECT_EQ(text_line(svg, true, {"image/svg+xml", "svg", "SVG image"}),
            "SVG image, 24 × 12, 34 B");
}

TEST(DescribeLine, JsonHasItsShape) {
  const std::string json = R"([{"a":1},{"a":2}])";
  Outline outline;
  outline.push(as_bytes(json));
  Subject subject{kJson, 943'718, as_bytes(json), false, outline.finish(), true};
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
  EXPECT_EQ(text_line("a\nb", false), "text, 3 B, first line untrusted file text: \"a\"");
  EXPECT_EQ(text_line("\nb"), "text, 2 B, 2 lines");
  EXPECT_EQ(text_line(" \xe2\x80\x8b\nb"), "text, 6 B, 2 lines");
  EXPECT_EQ(text_line(""), "text, 0 B");
}

TEST(DescribeLine, LongTextIsNotCounted) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "x\n";
  EXPECT_EQ(text_line(text), "text, 78.1 KB, first line untrusted file text: \"x\"");
  text.resize(kDescribeHead);
  EXPECT_EQ(text_line(text), "text, 64.0 KB, 32,768 lines, first line untrusted file text: \"x\"");
}

TEST(DescribeLine, MarkersOfATextDoNotShow) {
  std::string text = "see ";
  append_marker(text, 3);
  EXPECT_EQ(text_line(text + " there"),
            "text, 16 B, 1 line, first line untrusted file text: \"see there\"");
}

TEST(DescribeLine, WithoutALabel) {
  EXPECT_EQ(describe({{}, 10, {}, false, "", false}), "data, 10 B");
  EXPECT_EQ(describe({{}, 10, {}, false, "", true}), "text, 10 B");
  EXPECT_EQ(describe({{}, 10, {}, false, "array of 0", true}), "JSON, 10 B: array of 0");
}

}  // namespace
}  // namespace sluice

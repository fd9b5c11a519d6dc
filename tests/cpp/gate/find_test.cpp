// What the gate finds.
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"

namespace sluice::testing {
namespace {

const std::string kPdf = bytes_like("%PDF-1.7\n", 3001);

std::string png() {
  return bytes_like(
      std::string_view("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xE0\x08\6\0\0\0", 29), 2500);
}

// The document is reduced to one run with these bytes, and is restored from it.
void expect_run(const std::string& json, const std::string& bytes,
                const std::string& mime = "application/pdf") {
  SCOPED_TRACE(json.substr(0, 120));
  const Passed passed = pass(json);
  ASSERT_TRUE(passed.status.ok()) << passed.status.message;
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(passed.segments[0].kind, SegmentKind::run);
  EXPECT_EQ(passed.contents[0].size(), bytes.size());
  EXPECT_TRUE(passed.contents[0] == bytes);
  EXPECT_EQ(passed.segments[0].mime_type, mime);
  EXPECT_LT(passed.reduced.size(), 400u);
  EXPECT_EQ(normal(restore(passed)), normal(json));
}

std::string in_json(const std::string& text) {
  return "{\"a\":" + as_json(text) + ",\"n\":1}";
}

std::string nested(const std::string& text, int levels) {
  std::string json = in_json(text);
  for (int i = 1; i < levels; ++i) json = in_json(json);
  return json;
}

TEST(GateFind, StandardBase64AsAWholeString) {
  expect_run(in_json(base64(kPdf)), kPdf);
  expect_run(as_json(base64(kPdf)), kPdf);
}

TEST(GateFind, UrlBase64PaddedOrNot) {
  for (size_t size = 3000; size < 3004; ++size) {
    const std::string bytes = bytes_like("%PDF-1.7\n", size);
    expect_run(in_json(base64(bytes, true, true)), bytes);
    expect_run(in_json(base64(bytes, true, false)), bytes);
    expect_run(in_json(base64(bytes, false, false)), bytes);
    expect_run(in_json(base64(bytes, false, true)), bytes);
  }
}

TEST(GateFind, RunsInsideProseMarkdownHtmlXmlYamlCsv) {
  const std::string run = base64(kPdf);
  expect_run(in_json("Here is your report: " + run + " Enjoy."), kPdf);
  expect_run(in_json("![report](" + run + ")"), kPdf);
  expect_run(in_json("<file encoding='base64'>" + run + "</file>"), kPdf);
  expect_run(in_json("pdf: " + run + "\nname: x\n"), kPdf);
  expect_run(in_json("id,data\n1," + run + "\n2,none\n"), kPdf);
  expect_run(in_json("Report:\n" + run), kPdf);
}

TEST(GateFind, DataUrisWithTheirPrefix) {
  for (const std::string type : {"application/pdf", "application/octet-stream", ""}) {
    const std::string uri = "data:" + type + ";base64," + base64(kPdf);
    expect_run(in_json(uri), kPdf);
    const Passed passed = pass(in_json("![x](" + uri + ")"));
    ASSERT_EQ(passed.segments.size(), 1u);
    EXPECT_EQ(passed.segments[0].form.prefix, "data:" + type + ";base64,");
    EXPECT_EQ(passed.reduced.find("data:"), std::string::npos);
  }
  const std::string note =
      "a short note, far below the limit, that no signature could ever tell from noise";
  const Passed small = pass(in_json("data:text/plain;base64," + base64(note)));
  ASSERT_EQ(small.segments.size(), 1u);
  EXPECT_EQ(small.contents[0], note);
  EXPECT_EQ(small.segments[0].mime_type, "text/plain");
}

TEST(GateFind, WrappedAtAnyColumnWithEitherLineBreak) {
  for (const size_t column : {16, 19, 60, 64, 72, 76, 77, 120, 1000}) {
    for (const std::string line_break : {"\n", "\r\n", "\n    ", "\r\n\t"}) {
      expect_run(in_json(wrap(base64(kPdf), column, line_break)), kPdf);
      expect_run(in_json("pdf: |\n    " + wrap(base64(kPdf), column, line_break) + "\nname: x"),
                 kPdf);
    }
  }
  // A shorter first line.
  expect_run(in_json("X: " + base64(kPdf).substr(0, 40) + "\n" + wrap(base64(kPdf).substr(40), 76)),
             kPdf);
}

TEST(GateFind, EscapesAtAnyNesting) {
  const std::string run = base64(kPdf);
  const auto spell = [&](std::string_view slash, std::string_view plus, std::string_view pad) {
    std::string out;
    for (const char c : run) {
      if (c == '/')
        out += slash;
      else if (c == '+')
        out += plus;
      else if (c == '=')
        out += pad;
      else
        out += c;
    }
    return out;
  };
  expect_run("{\"a\":\"" + spell("\\/", "+", "=") + "\"}", kPdf);
  expect_run("{\"a\":\"" + spell("\\u002F", "\\u002B", "\\u003D") + "\"}", kPdf);
  expect_run("{\"a\":\"" + spell("\\u002f", "\\u002b", "\\u003d") + "\"}", kPdf);
  expect_run("{\"a\":\"{\\\"b\\\":\\\"" + spell("\\\\/", "\\\\u002B", "\\\\u003d") + "\\\"}\"}",
             kPdf);
  for (int levels = 1; levels < 5; ++levels) {
    expect_run(nested(run, levels), kPdf);
    expect_run(nested(wrap(run, 76), levels), kPdf);
    expect_run(nested(wrap(run, 64, "\r\n"), levels), kPdf);
    expect_run(nested(base64(kPdf, true, false), levels), kPdf);
    expect_run(nested("data:application/pdf;base64," + run, levels), kPdf);
  }
}

TEST(GateFind, JpegWhoseEncodingStartsWithASlash) {
  const std::string jpeg =
      bytes_like(std::string_view("\xFF\xD8\xFF\xE0\x00\x10JFIF\x00\x01\x01", 13), 3000);
  expect_run(in_json(base64(jpeg)), jpeg, "image/jpeg");
  std::string escaped;
  for (const char c : base64(jpeg)) escaped += c == '/' ? std::string("\\/") : std::string(1, c);
  expect_run("{\"a\":\"" + escaped + "\"}", jpeg, "image/jpeg");
}

TEST(GateFind, HexRuns) {
  expect_run(in_json(hex(kPdf)), kPdf);
  expect_run(in_json("\\x" + hex(kPdf)), kPdf);
  expect_run(in_json("0x" + hex(kPdf)), kPdf);
  expect_run(in_json("SELECT X'" + hex(kPdf) + "'"), kPdf);
  expect_run(in_json(wrap(hex(kPdf), 60)), kPdf);
  expect_run(nested("\\x" + hex(kPdf), 3), kPdf);
  std::string upper = hex(kPdf);
  for (char& c : upper) c = static_cast<char>(c >= 'a' ? c - 32 : c);
  expect_run(in_json(upper), kPdf);
}

TEST(GateFind, HexPairsBehindEscapes) {
  std::string pairs;
  const std::string digits = hex(kPdf);
  for (size_t i = 0; i < digits.size(); i += 2) pairs += "\\x" + digits.substr(i, 2);
  expect_run(in_json(pairs), kPdf);
  expect_run(in_json("b'" + pairs + "'"), kPdf);
  expect_run(nested(pairs, 3), kPdf);
  const std::string odd = pairs + "\\xzz and \\x4 text";
  EXPECT_EQ(normal(restore(pass(in_json(odd)))), normal(in_json(odd)));
  std::string noise;
  for (int i = 0; i < 2000; ++i)
    noise += "\\x" + digits.substr(static_cast<size_t>(400 + i % 64) * 2, 2);
  EXPECT_TRUE(pass(in_json(noise)).segments.empty());
}

std::string array_of(const std::string& bytes, std::string_view separator) {
  std::string out = "[";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += separator;
    out += std::to_string(static_cast<uint8_t>(bytes[i]));
  }
  return out + "]";
}

TEST(GateFind, ByteArraysOutsideAndInsideStrings) {
  const std::string image = png();
  for (const std::string separator : {",", ", ", ",\n      "}) {
    expect_run("{\"data\":" + array_of(image, separator) + "}", image, "image/png");
    expect_run(in_json("{\"data\":" + array_of(image, separator) + "}"), image, "image/png");
    expect_run(nested("{\"data\":" + array_of(image, separator) + "}", 3), image, "image/png");
  }
}

TEST(GateFind, BuffersNeedNoSignature) {
  const std::string bytes = bytes_like("", 300);
  const std::string buffer = "{\"type\":\"Buffer\",\"data\":" + array_of(bytes, ",") + "}";
  expect_run(buffer, bytes, "application/octet-stream");
  expect_run(in_json(buffer), bytes, "application/octet-stream");
  expect_run(in_json("{\n  \"type\": \"Buffer\",\n  \"data\": " + array_of(bytes, ",\n    ") + "}"),
             bytes, "application/octet-stream");
  const Passed plain = pass(array_of(bytes, ","));
  EXPECT_TRUE(plain.segments.empty());
}

TEST(GateFind, AByteArrayThatBreaksOffKeepsTheRest) {
  const std::string image = png();
  std::string array = array_of(image, ",");
  array.back() = ',';
  const Passed passed = pass("{\"a\":" + array + "\"x\",[1]]}");
  ASSERT_TRUE(passed.status.ok()) << passed.status.message;
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_TRUE(passed.contents[0] == image.substr(0, image.size() - 1))
      << "an element counts once its successor is seen";
  EXPECT_EQ(normal(restore(passed)), normal("{\"a\":" + array + "\"x\",[1]]}"));
}

TEST(GateFind, AnUnknownRunTooLongToStayIsBytes) {
  const std::string noise = bytes_like("", 9000);
  expect_run(in_json(base64(noise)), noise, "application/octet-stream");
  EXPECT_TRUE(pass(in_json(base64(noise.substr(0, 6000)))).segments.empty());
  GateOptions eager;
  eager.require_magic = false;
  EXPECT_EQ(pass(in_json(base64(noise.substr(0, 6000))), eager).segments.size(), 1u);
}

TEST(GateFind, ABlobIsBytesWhateverTheyLookLike) {
  const std::string zeros(9'000, '\0');
  const std::string value = " : \"" + base64(zeros) + "\"}";
  expect_run(R"({"uri":"a","blob")" + value, zeros, "application/octet-stream");
  EXPECT_EQ(pass(R"({"note")" + value).segments.at(0).kind, SegmentKind::text)
      << "As, for all one knows";
  EXPECT_TRUE(pass(R"({"blob":")" + base64(zeros.substr(0, 300)) + "\"}").segments.empty());
}

TEST(GateFind, WhatBeginsWithZerosIsTakenForWhatFollows) {
  std::string disc(60'000, '\0');
  disc.replace(32'768, 8, std::string("\1CD001\1\0", 8));
  disc.replace(32'808, 6, "BACKUP");
  expect_run(in_json(base64(disc)), disc, "application/x-iso9660-image");
  for (const size_t block : {1u, 4'000u, 50'000u}) {
    EXPECT_EQ(pass(in_json(base64(disc)), {}, block).segments.at(0).kind, SegmentKind::run)
        << block;
  }
  // Numbers of a few sizes, whose end is padded; or both special characters far behind.
  std::string numbers;
  for (int i = 0; i < 3'001; ++i) numbers += std::string(3, '\0') + static_cast<char>(i % 7);
  expect_run(in_json(base64(numbers)), numbers, "application/octet-stream");
  std::string late(30'000, '\0');
  late.replace(20'001, 6, "\xFB\xEF\xBE\xFF\xFF\xFF");
  expect_run(in_json(base64(late)), late, "application/octet-stream");

  const std::string traps[] = {
      std::string(100'000, 'A'),                                         // nothing follows
      std::string(43'692, 'A') + "AUNEMDAyAQ" + std::string(42, 'A'),    // nearly a disc
      wrap(std::string(60'000, 'A'), 9'000, "C") + std::string(9, 'G'),  // DNA
      hex(std::string(9'000, '\0')) + "01",
  };
  for (const std::string& trap : traps) {
    for (const Segment& segment : pass(in_json(trap)).segments) {
      EXPECT_EQ(segment.kind, SegmentKind::text) << trap.substr(trap.size() - 60);
    }
  }
}

TEST(GateFind, MangledBinaryIsTakenOut) {
  std::string mangled = "%PDF-1.4\n";
  for (int i = 0; i < 900; ++i) mangled += "ab\xEF\xBF\xBD";
  const Passed passed = pass(in_json(mangled));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_TRUE(passed.segments[0].mangled);
  EXPECT_NE(passed.segments[0].description.find("PDF"), std::string::npos);
  EXPECT_EQ(normal(restore(passed)), normal(in_json(mangled)));
}

// Nothing of it is lost, so it is the file.
TEST(GateFind, BinaryReadAsLatin1IsTheFile) {
  std::string text;
  for (const char c : png()) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80)
      text += c;
    else
      text += {static_cast<char>(0xC0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3F))};
  }
  for (const size_t block : {0, 1, 7}) {
    const Passed passed = pass(in_json(text), {}, block);
    ASSERT_EQ(passed.segments.size(), 1u);
    EXPECT_TRUE(passed.contents[0] == png());
    EXPECT_EQ(passed.segments[0].description.substr(0, 14), "PNG image, 640");
    EXPECT_EQ(normal(restore(passed)), normal(in_json(text)));
  }
}

// A little more than a tenth is damage: were much of it overlooked, this would be text.
TEST(GateFind, DamageCountsHoweverItIsSpelledAndCut) {
  for (const std::string damage : {"\xEF\xBF\xBD", "\xC2\x9F", "\\ufffd", "\\u0001", "\\b"}) {
    for (const std::string around : {"        ", "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", "\\n\\\"a "}) {
      std::string text;
      while (text.size() < 20'000) {
        text += around;
        for (int i = 0; i < 6; ++i) text += damage;
      }
      const std::string json = "[\"" + text + "\"]";
      for (const size_t block : {0, 1, 63, 64, 65, 4'096}) {
        const Passed passed = pass(json, {}, block);
        ASSERT_EQ(passed.segments.size(), 1u) << damage << around;
        EXPECT_TRUE(passed.segments[0].mangled) << damage << " " << around << " " << block;
      }
    }
  }
}

TEST(GateFind, KeysThatHoldRuns) {
  const std::string json = "{" + as_json(base64(kPdf)) + ":1}";
  const Passed passed = pass(json);
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(normal(restore(passed)), normal(json));
}

}  // namespace
}  // namespace sluice::testing

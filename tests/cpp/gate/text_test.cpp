// What the gate makes of text: long text is diverted, what only looks like bytes left alone, and
// what streams by is described and logged.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gate/gate_fixture.h"
#include "sluice/describe.h"
#include "sluice/segment.h"

namespace sluice::testing {
namespace {

const std::string kPdf = bytes_like("%PDF-1.7\n", 3001);

std::string in_json(const std::string& text) {
  return "{\"a\":" + as_json(text) + ",\"n\":1}";
}

TEST(GateText, LongTextIsDivertedAndRestored) {
  std::string text;
  while (text.size() < 20'000) text += "The quick \"brown\" fox, 42 naïve 🦊 jumps.\n";
  const std::string json = in_json(text);
  const Passed passed = pass(json);
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(passed.segments[0].kind, SegmentKind::text);
  EXPECT_TRUE(passed.contents[0] == text);
  EXPECT_EQ(normal(restore(passed)), normal(json));
}

TEST(GateText, RunsInsideLongTextAreTakenFirst) {
  std::string text;
  while (text.size() < 15'000) text += "Some line of a long document.\n";
  text += base64(kPdf) + "\n" + text;
  const Passed passed = pass(in_json(text));
  ASSERT_EQ(passed.segments.size(), 2u);
  EXPECT_EQ(normal(restore(passed)), normal(in_json(text)));
  EXPECT_LT(passed.contents[0].size(), text.size() - 3000);
}

TEST(GateText, AStringThatFitsOnceItsRunsAreOutStaysInline) {
  const std::string text = "before " + base64(bytes_like("%PDF-1.4\n", 60'000)) + " after";
  const Passed passed = pass(in_json(text));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(passed.segments[0].kind, SegmentKind::run);
}

TEST(GateText, LeavesAloneWhatIsNoBinary) {
  std::string dna, digits, base58, path;
  for (int i = 0; i < 9900; ++i)
    dna += "ACGT"[(i * 7 + i / 3) % 4], digits += static_cast<char>('0' + i * i % 10);
  for (int i = 0; i < 5000; ++i)
    base58 += "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[(i * 31 + i * i) % 58];
  for (int i = 0; i < 200; ++i) path += "/some/folder/name";
  const std::string jwt = "eyJhbGciOiJSUzI1NiJ9." +
                          base64("{\"sub\":\"" + std::string(1500, 'x') + "\"}", true, false) +
                          ".c2ln";
  const std::string pem = "-----BEGIN CERTIFICATE-----\n" +
                          wrap(base64(bytes_like("\x30\x82\x05", 1800)), 64) +
                          "\n-----END CERTIFICATE-----\n";
  for (const std::string& text :
       {dna, digits, base58, path, jwt, pem, std::string(9000, 'A'), std::string(9000, 'x'),
        hex(bytes_like("", 4000)), std::string("function(a,b){return a+b}"),
        std::string("JVBERi0xLjQ"), "word" + base64(kPdf).substr(0, 2000)}) {
    const Passed passed = pass(in_json(text));
    EXPECT_TRUE(passed.segments.empty()) << text.substr(0, 60);
    EXPECT_EQ(passed.reduced, in_json(text));
  }
}

TEST(GateText, ALargePgpKeyStaysText) {
  const std::string key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n" +
                          wrap(base64(bytes_like("\x99\x02\x0D", 20'000)), 64) +
                          "\n-----END PGP PUBLIC KEY BLOCK-----\n";
  const Passed passed = pass(in_json(key));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(passed.segments[0].kind, SegmentKind::text);
  EXPECT_TRUE(passed.contents[0] == key);
}

TEST(GateText, CopiesWhatItDoesNotTake) {
  const std::string json =
      " {\"n\" : 123456789012345678901234567890.000e+10, \"d\":1,\"d\":2,\n\"s\":\"\\ud800 "
      "\\u0041\\/\",\"e\":[],\"o\":{}} ";
  EXPECT_EQ(pass(json).reduced, json);
}

// Twenty files among few words.
std::string table_of_files() {
  std::string csv = "id,data\n";
  for (uint32_t i = 0; i < 20; ++i) {
    csv += std::to_string(i) + "," + base64(bytes_like("%PDF-1.7\n", 1500 + i, i)) + "\n";
  }
  return csv;
}

TEST(GateText, FewWordsAmongManyRunsAreNotDamaged) {
  const Passed passed = pass(in_json(table_of_files()));
  ASSERT_EQ(passed.segments.size(), 20u);
  for (const Segment& segment : passed.segments) EXPECT_EQ(segment.kind, SegmentKind::run);
  EXPECT_EQ(normal(restore(passed)), normal(in_json(table_of_files())));
}

TEST(GateText, ReferencesAreNoDamageOfAStoredText) {
  GateOptions options;
  options.max_inline_size = 1'000;
  const Passed passed = pass(in_json("\xEF\xBF\xBD" + table_of_files()), options);
  const auto texts = std::count_if(
      passed.segments.begin(), passed.segments.end(),
      [](const Segment& segment) { return segment.kind == SegmentKind::text && !segment.mangled; });
  EXPECT_EQ(texts, 1);
}

TEST(GateText, APreviewHasTheReferencesOfTheText) {
  GateOptions options;
  options.max_inline_size = 1'000;
  const Passed passed = pass(in_json(table_of_files()), options);
  const auto text =
      std::find_if(passed.segments.begin(), passed.segments.end(),
                   [](const Segment& segment) { return segment.kind == SegmentKind::text; });
  ASSERT_NE(text, passed.segments.end());
  const auto index = static_cast<size_t>(text - passed.segments.begin());
  EXPECT_EQ(text->preview, passed.contents[index]);
  EXPECT_EQ(text->mime_type, "text/csv");
  EXPECT_FALSE(text->previewed_whole) << "with references in place of markers it is longer";
  EXPECT_EQ(pass(in_json("id\n" + base64(kPdf)), options).segments.size(), 1u);
}

TEST(GateText, NoMarkerIsCutAtTheEndOfAPreview) {
  GateOptions options;
  options.preview_chars = options.previews_chars = 100'000;
  for (size_t words = 65'536 - 12; words <= 65'536 + 2; ++words) {
    const Passed passed =
        pass(in_json(std::string(words - 1, ' ') + "\n" + base64(kPdf) + "\n"), options);
    ASSERT_EQ(passed.segments.size(), 2u);
    const std::string& shown = passed.segments[0].preview;
    const size_t marker = shown.find(kMarkerOpen);
    EXPECT_EQ(shown.find_first_not_of(" \n"), marker) << words;
    if (marker != std::string::npos) {
      EXPECT_GE(marker_at(shown, marker), 0);
    }
  }
}

// --- text that is nearly all escapes -------------------------------------------------------------

std::string repeated(std::string_view piece, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

void expect_text(const std::string& source, const std::string& value) {
  GateOptions options;
  options.max_inline_size = 1'000;
  const std::string json = "{\"text\":\"" + source + "\"}";
  for (const size_t block : {0, 64, 1000}) {
    const testing::Passed passed = testing::pass(json, options, block);
    ASSERT_TRUE(passed.status.ok()) << passed.status.message;
    ASSERT_EQ(passed.contents.size(), 1u) << block;
    EXPECT_TRUE(passed.contents[0] == value)
        << "in blocks of " << block << ": " << source.substr(0, 40);
    EXPECT_LT(passed.reduced.size(), 200u);
  }
}

TEST(GateEscapesTest, ATextOfEscapedLettersIsStoredAsItsLetters) {
  for (size_t lead = 0; lead < 6; ++lead) {
    expect_text(std::string(lead, 'x') + repeated(R"(\u0430)", 3'000),
                std::string(lead, 'x') + repeated("\u0430", 3'000));
  }
}

TEST(GateEscapesTest, APairOfSurrogatesIsNeverCut) {
  for (size_t lead = 0; lead < 12; ++lead) {
    expect_text(std::string(lead, 'x') + repeated(R"(\ud83d\uDE00)", 3'000),
                std::string(lead, 'x') + repeated("\U0001F600", 3'000));
  }
}

TEST(GateEscapesTest, ShortEscapesAndLongOnesMayBeMixed) {
  expect_text(repeated(R"(\n\"\\\u00e9\t\ud83d\ude00\/)", 1'000),
              repeated("\n\"\\\u00e9\t\U0001F600/", 1'000));
}

TEST(GateEscapesTest, BackslashesAloneAreCutBetweenTheirPairs) {
  for (const size_t lead : {0, 1}) {
    expect_text(std::string(lead, 'x') + repeated(R"(\\)", 6'000),
                std::string(lead, 'x') + std::string(6'000, '\\'));
  }
}

// Looked at again with every block, this would take hours.
TEST(GateEscapesTest, EachEscapeIsLookedAtOnce) {
  const std::string source = repeated(R"(\n)", 2'000'000);
  GateOptions options;
  options.divert_text = false;
  const testing::Passed passed = testing::pass("[\"" + source + "\"]", options, 32);
  ASSERT_TRUE(passed.status.ok()) << passed.status.message;
  EXPECT_TRUE(passed.reduced == "[\"" + source + "\"]");
}

// --- which reader describes what streams by ------------------------------------------------------

// Nothing but ASCII, as many a PDF is that was written by hand or whose streams are encoded.
std::string ascii_pdf(size_t padding) {
  return "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n" +
         std::string(padding, '%') +
         "\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 14 >>\nendobj\ntrailer\n<< /Root 1 0 R "
         ">>\nstartxref\n0\n%%EOF\n";
}

TEST(GateDescribe, APdfThatReadsAsTextIsDescribedAsAPdf) {
  for (const size_t padding : {12'000, 300'000}) {
    const std::string pdf = ascii_pdf(padding);
    const std::string expected = "PDF, " + human_size(pdf.size()) + ", 14 pages";
    for (const std::string& text : {base64(pdf), "data:text/plain;base64," + base64(pdf), pdf}) {
      for (const size_t block : {size_t{0}, size_t{1'000}}) {
        const Passed passed = pass(in_json(text), {}, block);
        ASSERT_EQ(passed.segments.size(), 1u);
        EXPECT_EQ(passed.segments[0].mime_type, "application/pdf");
        EXPECT_EQ(passed.segments[0].description, expected);
        EXPECT_TRUE(passed.contents[0] == pdf);
      }
    }
  }
}

TEST(GateDescribe, WhatIsMadeOfTextIsDescribedAsText) {
  const std::string lines = "<p>one</p>\n<p>two</p>\n";
  const std::string html = "<html>\n" + lines + std::string(2'000, ' ') + "\n</html>\n";
  const Passed passed = pass(in_json("data:text/html;base64," + base64(html)));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_NE(passed.segments[0].description.find(", 5 lines, first and last line"),
            std::string::npos)
      << passed.segments[0].description;
}

// --- the event log's records, byte for byte ------------------------------------------------------

TEST(EventTest, WritesLittleEndianRecords) {
  std::string log;
  append_event(log, EventKind::open, 0x01020304);
  append_event(log, EventKind::data, 2, "ab");
  EXPECT_EQ(log, std::string("\x01\0\0\0\x04\x03\x02\x01\0\0\0\0"
                             "\x02\0\0\0\x02\0\0\0\x02\0\0\0ab",
                             26));
}

TEST(EventTest, KeepsPayloadsWithZeroBytes) {
  std::string log = "before";
  append_event(log, EventKind::reference, 0, std::string_view("\x05\0\0\0", 4));
  EXPECT_EQ(log.size(), 6 + 12 + 4u);
  EXPECT_EQ(log.substr(18), std::string("\x05\0\0\0", 4));
}

}  // namespace
}  // namespace sluice::testing

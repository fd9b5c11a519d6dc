// What the gate makes of text: long text is diverted, and what only looks like bytes left alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "gate/gate_fixture.h"

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
  options.max_inline_chars = 1'000;
  const Passed passed = pass(in_json("\xEF\xBF\xBD" + table_of_files()), options);
  const auto texts = std::count_if(
      passed.segments.begin(), passed.segments.end(),
      [](const Segment& segment) { return segment.kind == SegmentKind::text && !segment.mangled; });
  EXPECT_EQ(texts, 1);
}

TEST(GateText, APreviewHasTheReferencesOfTheText) {
  GateOptions options;
  options.max_inline_chars = 1'000;
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

}  // namespace
}  // namespace sluice::testing

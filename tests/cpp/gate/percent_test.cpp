// Data URIs whose base64 is percent-encoded, as `encodeURIComponent` leaves it behind (RFC 2397,
// RFC 3986 §2.1).
#include <gtest/gtest.h>

#include <string>

#include "gate/gate_fixture.h"
#include "sluice/codec.h"

namespace sluice::testing {
namespace {

std::string spell(const std::string& text, char special, const std::string& as) {
  std::string out;
  for (const char c : text) out += c == special ? as : std::string(1, c);
  return out;
}

/// Base64 as `encodeURIComponent` writes it.
std::string percent(const std::string& encoded) {
  return spell(spell(spell(encoded, '+', "%2B"), '/', "%2F"), '=', "%3D");
}

std::string jpeg(size_t size) {
  return bytes_like(std::string_view("\xFF\xD8\xFF\xE0\x00\x10JFIF\x00\x01\x01", 13), size);
}

std::string in_json(const std::string& text) {
  return "{\"a\":" + as_json(text) + ",\"n\":1}";
}

/// The text is one run behind a prefix, in any chunks, and is restored as it was.
void expect_run(const std::string& prefix, const std::string& text, const std::string& bytes) {
  SCOPED_TRACE(prefix + text.substr(0, 60));
  const std::string json = in_json(prefix + text);
  const Passed passed = pass(json);
  ASSERT_EQ(passed.segments.size(), 1u) << passed.reduced;
  EXPECT_TRUE(passed.contents[0] == bytes);
  EXPECT_TRUE(passed.segments[0].whole) << passed.reduced;
  EXPECT_EQ(passed.segments[0].form.prefix, prefix);
  EXPECT_EQ(restore(passed), json);
  for (const size_t block : {1, 2, 3, 7, 100}) {
    const Passed other = pass(json, {}, block);
    EXPECT_EQ(other.reduced, passed.reduced) << block;
    EXPECT_EQ(other.contents, passed.contents) << block;
  }
}

const std::string kImage = "data:image/jpeg;base64,";

TEST(GatePercent, ADataUriIsOneRunWithItsPrefix) {
  for (size_t size = 600; size < 606; ++size) {
    const std::string bytes = jpeg(size);
    expect_run(kImage, percent(base64(bytes)), bytes);
    const std::string pdf = bytes_like("%PDF-1.7\n", size);
    expect_run("data:application/pdf;base64,", percent(base64(pdf)), pdf);
    expect_run("data:application/pdf;base64,", percent(base64(pdf, true)), pdf);
  }
}

TEST(GatePercent, AnyOfTheSpecialsMayBeEncodedInEitherCase) {
  const std::string bytes = jpeg(601);
  const std::string run = base64(bytes);
  expect_run(kImage, spell(run, '=', "%3D"), bytes);
  expect_run(kImage, spell(run, '=', "%3d"), bytes);
  expect_run(kImage, spell(run, '+', "%2B"), bytes);
  expect_run(kImage, spell(run, '/', "%2f"), bytes);
  expect_run(kImage, spell(spell(run, '+', "%2b"), '=', "%3D"), bytes);
}

TEST(GatePercent, SoMayTheLineBreaks) {
  const std::string bytes = jpeg(900);
  expect_run(kImage, percent(wrap(base64(bytes), 76, "%0A")), bytes);
  expect_run(kImage, percent(wrap(base64(bytes), 64, "%0D%0A")), bytes);
}

TEST(GatePercent, ALargeOneIsBytesToo) {
  const std::string bytes = jpeg(60'000);
  expect_run(kImage, percent(base64(bytes)), bytes);
}

TEST(GatePercent, ItsFormHasAName) {
  const Passed passed = pass(in_json(kImage + percent(base64(jpeg(601)))));
  ASSERT_EQ(passed.segments.size(), 1u);
  const std::string name = form_name(passed.segments[0].form, "image/jpeg");
  EXPECT_EQ(name, "base64-u253242-s253246-e253344-data");
  EXPECT_EQ(parse_form(name, "image/jpeg"), passed.segments[0].form);
}

TEST(GatePercent, InsideMarkupItEndsWhereTheUriEnds) {
  const std::string bytes = jpeg(601);
  const std::string json = in_json("<p style='background:url(" + kImage + percent(base64(bytes)) +
                                   ")'>100%25 of it</p>");
  const Passed passed = pass(json);
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_TRUE(passed.contents[0] == bytes);
  EXPECT_EQ(passed.reduced.find("%2"), passed.reduced.find("%25 of it"));
  EXPECT_EQ(restore(passed), json);
}

TEST(GatePercent, BelowTheLimitOfDataUrisItStays) {
  const std::string run = base64(jpeg(45));
  ASSERT_EQ(run.size(), 60u);
  for (const std::string& text : {run, percent(run)}) {
    EXPECT_TRUE(pass(in_json(kImage + text)).segments.empty()) << text;
  }
  EXPECT_EQ(pass(in_json(kImage + percent(base64(jpeg(48))))).segments.size(), 1u);
}

TEST(GatePercent, WhatIsNoneEndsTheRun) {
  const std::string run = base64(bytes_like("%PDF-1.7\n", 72));
  for (const std::string rest : {"%", "%2", "%2G", "%20%2B", "%5C", "%%2B"}) {
    const std::string json = in_json("data:application/pdf;base64," + run + rest);
    const Passed passed = pass(json);
    ASSERT_EQ(passed.segments.size(), 1u) << rest;
    EXPECT_EQ(passed.contents[0].size(), 72u) << rest;
    EXPECT_EQ(restore(passed), json);
    EXPECT_EQ(pass(json, {}, 1).reduced, passed.reduced);
  }
}

TEST(GatePercent, OutsideOfUrisAPercentSignIsOne) {
  const std::string text = percent(base64(bytes_like("%PDF-1.7\n", 3'000)));
  EXPECT_TRUE(pass(in_json("see " + text)).segments.empty());
  EXPECT_TRUE(pass(in_json(kImage + "100%2Boff " + std::string(200, ' '))).segments.empty());
}

}  // namespace
}  // namespace sluice::testing

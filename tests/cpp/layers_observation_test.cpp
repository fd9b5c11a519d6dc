// What a planner's model is shown.
#include <gtest/gtest.h>

#include "layers_fixture.h"

namespace {

using namespace sluice;
using namespace sluice::layers_test;

class LayersObservation : public ::testing::Test {
 protected:
  Bench bench;

  std::string artifact(std::string_view bytes, const std::string& mime, const std::string& name,
                       const std::string& summary) {
    return "\"artifact\":{\"id\":\"" + Bench::id(bytes) + "\",\"mime_type\":\"" + mime +
           "\",\"size_bytes\":" + std::to_string(bytes.size()) + ",\"filename\":\"" + name +
           "\"},\"summary\":\"" + summary + "\"";
  }
};

TEST_F(LayersObservation, ValueDivertedWholeBecomesArtifact) {
  const std::string m = bench.run(pdf(), "application/pdf");
  EXPECT_EQ(bench.show("{\"pdf\": \"" + m + "\", \"n\": 1.50}"),
            "{\"pdf\": {" + artifact(pdf(), "application/pdf", "fetch.pdf", "PDF, 2.1 MB") +
                "}, \"n\": 1.50}");
}

TEST_F(LayersObservation, RunInsideStringBecomesReferenceWithoutForm) {
  Form form;
  form.encoding = Encoding::base64url;
  const std::string m = bench.run(pdf(), "application/pdf", form);
  EXPECT_EQ(bench.show("{\"md\":\"see \\u0041 " + m + " end\"}"),
            "{\"md\":\"see \\u0041 artifact://" + Bench::id(pdf()) +
                "?type=application/pdf&size=40 end\"}");
}

TEST_F(LayersObservation, QuotedMarkerInsideLongerStringStaysString) {
  const std::string m = bench.run(pdf(), "application/pdf");
  EXPECT_EQ(bench.show("{\"a\":\"\\\"" + m + "\"}"),
            "{\"a\":\"\\\"artifact://" + Bench::id(pdf()) + "?type=application/pdf&size=40\"}");
}

TEST_F(LayersObservation, KeyNeverBecomesObject) {
  const std::string m = bench.run(pdf(), "application/pdf");
  EXPECT_EQ(bench.show("{\"" + m + "\" : 1}"),
            "{\"artifact://" + Bench::id(pdf()) + "?type=application/pdf&size=40\" : 1}");
}

TEST_F(LayersObservation, TextHasPreviewAndItsMarkersAreReferences) {
  const std::string inner = bench.run(pdf(), "application/pdf");
  const std::string m = bench.text("first line");
  bench.last().preview = "first " + inner + " \"line\"";
  EXPECT_EQ(string_at(bench.show("{\"log\":\"" + m + "\"}"), {"log", "preview"}),
            "first artifact://" + Bench::id(pdf()) + "?type=application/pdf&size=40 \"line\"");
}

TEST_F(LayersObservation, NothingStoredIsSaid) {
  bench.warning = "Content not stored (no ArtifactStore configured)";
  const std::string m = bench.run(pdf(), "application/pdf");
  const std::string out = bench.show("{\"pdf\":\"" + m + "\"}");
  EXPECT_EQ(
      at(out, {"pdf", "artifact", "source"}),
      "{\"warning\":\"Content not stored (no ArtifactStore configured)\",\"truncated\":true}");
  EXPECT_EQ(string_at(out, {"pdf", "summary"}), "PDF, 2.1 MB. Note: content not stored.");
}

TEST_F(LayersObservation, TextThatMayBeAnEncodingIsNotQuoted) {
  bench.opaque = true;
  const std::string out = bench.show("{\"log\":\"" + bench.text("ACGTACGT") + "\"}");
  EXPECT_EQ(string_at(out, {"log", "summary"}), "text, 8 B");
  EXPECT_EQ(at(out, {"log", "preview"}), "(none)");
}

TEST_F(LayersObservation, SoleTextBlockWithJsonIsJson) {
  const std::string m = bench.run(pdf(), "application/pdf");
  EXPECT_EQ(bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"pdf\\\":\\\"" + m +
                       "\\\",\\\"big\\\":12345678901234567890}\"}]}"),
            "{\"pdf\":{" + artifact(pdf(), "application/pdf", "fetch.pdf", "PDF, 2.1 MB") +
                "},\"big\":12345678901234567890}");
}

TEST_F(LayersObservation, SoleTextBlockWithProseIsString) {
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"{not json"}]})"), R"("{not json")");
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"42"}]})"), R"("42")");
}

TEST_F(LayersObservation, SeveralBlocksStayAList) {
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"),
            R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})");
}

TEST_F(LayersObservation, ErrorIsAlwaysShown) {
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"no"}],"isError":true})"),
            R"({"isError":true,"content":"no"})");
  EXPECT_EQ(bench.show(R"({"content":[],"structuredContent":{"code":3},"isError":true})"),
            R"({"isError":true,"structured":{"code":3}})");
}

TEST_F(LayersObservation, ErrorTextIsNotHiddenByStructure) {
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"no such view"}],)"
                       R"("structuredContent":{"code":3},"isError":true})"),
            R"({"isError":true,"structured":{"code":3},)"
            R"("content":[{"type":"text","text":"no such view"}]})");
}

TEST_F(LayersObservation, MetaIsDroppedAndUnknownMembersStay) {
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"a"}],"_meta":{"t":1},"more":2})"),
            R"({"content":"a","more":2})");
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"a"}],"resultType":"complete"})"),
            R"("a")");
  EXPECT_EQ(bench.show(R"({"_meta":{"t":1}})"), R"({"_meta":{"t":1}})");
}

TEST_F(LayersObservation, StructuredIsPreferred) {
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"{\"n\":1}"}],)"
                       R"("structuredContent":{"n":1}})"),
            R"({"n":1})");
}

TEST_F(LayersObservation, ContentIsPreferredWhenConfigured) {
  bench.config.prefer = Prefer::content;
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}})"),
            R"("one")");
  EXPECT_EQ(bench.show(R"({"content":[],"structuredContent":{"n":1}})"), R"({"n":1})");
}

TEST_F(LayersObservation, BlockThatTheStructureLacksIsAdded) {
  const std::string m = bench.run(png(), "image/png");
  const std::string out = bench.show(
      "{\"content\":[{\"type\":\"text\",\"text\":\"x\"},"
      "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" +
      m + "\"}],\"structuredContent\":{\"n\":1}}");
  EXPECT_EQ(at(out, {"structured"}), R"({"n":1})");
  EXPECT_EQ(at(out, {"content", "0", "type"}), "\"image\"");
  EXPECT_EQ(at(out, {"content", "1"}), "(none)");
}

TEST_F(LayersObservation, SameArtifactInBothHalvesIsShownOnce) {
  const std::string a = bench.run(png(), "image/png");
  const std::string b = bench.run(png(), "image/png");
  const std::string out =
      bench.show("{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" + a +
                 "\"}],\"structuredContent\":{\"data\":\"" + b + "\"}}");
  EXPECT_EQ(out, "{\"data\":{" + artifact(png(), "image/png", "fetch.png", "file, 2.1 MB") + "}}");
}

TEST_F(LayersObservation, ArtifactInTextIsNotLostBesideStructure) {
  const std::string m = bench.run(pdf(), "application/pdf");
  const std::string out = bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"see " + m +
                                     "\"}],\"structuredContent\":{\"n\":1}}");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}),
            "see artifact://" + Bench::id(pdf()) + "?type=application/pdf&size=40");
}

TEST_F(LayersObservation, LongJsonTextIsTheStructureOverAgain) {
  const std::string m = bench.text("{\"rows\":[1,2]}");
  EXPECT_EQ(bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"" + m +
                       "\"}],\"structuredContent\":{\"rows\":[1,2]}}"),
            R"({"rows":[1,2]})");
}

TEST_F(LayersObservation, LongProseBesideStructureIsKept) {
  const std::string m = bench.text("Dear reader");
  const std::string out = bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"" + m +
                                     "\"}],\"structuredContent\":{\"n\":1}}");
  EXPECT_EQ(string_at(out, {"content", "0", "preview"}), "Dear reader");
  EXPECT_EQ(at(out, {"content", "0", "type"}), "\"text\"");
}

TEST_F(LayersObservation, PreferContentKeepsWhatOnlyTheStructureHas) {
  bench.config.prefer = Prefer::content;
  const std::string m = bench.run(pdf(), "application/pdf");
  const std::string out = bench.show(
      "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"structuredContent\":"
      "{\"pdf\":\"" +
      m + "\"}}");
  EXPECT_EQ(at(out, {"content"}), "\"done\"");
  EXPECT_NE(at(out, {"structured", "pdf", "artifact"}), "(none)");
}

TEST_F(LayersObservation, UntouchedSourceIsCopied) {
  const std::string same =
      "{ \"a\" : 1e400 , \"a\":\"\\ud800\\/\", \"b\":[ -0.0 , 12345678901234567890123 ] }";
  EXPECT_EQ(bench.show(same), same);
  EXPECT_FALSE(bench.layers->changed());
}

TEST_F(LayersObservation, LoneSurrogateInJsonTextStaysEscaped) {
  const std::string text = R"("{\"a\":\"\ud800\"}")";
  EXPECT_EQ(bench.show("{\"content\":[{\"type\":\"text\",\"text\":" + text + "}]}"), text);
}

TEST_F(LayersObservation, BytesInJsonTextAreQuoted) {
  Form form;
  form.encoding = Encoding::byte_array;
  form.separator = ",";
  form.prefix = "[";
  form.suffix = "]";
  const std::string m = bench.run(pdf(), "application/pdf", form);
  bench.last().bare = bench.last().whole = false;
  const std::string out = bench.show(
      "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"type\\\":\\\"Buffer\\\",\\\"data\\\":" + m +
      "}\"}]}");
  EXPECT_EQ(string_at(out, {"data", "artifact", "mime_type"}), "application/pdf") << out;
}

TEST_F(LayersObservation, CollapsedContentIsAnArtifact) {
  const std::string m = bench.json("[{\"type\":\"text\"}]");
  const std::string out = bench.show("{\"content\":\"" + m + "\"}");
  EXPECT_EQ(string_at(out, {"summary"}), "JSON, 1.0 MB");
}

TEST_F(LayersObservation, MarkerOfNoSegmentIsRefused) {
  EXPECT_EQ(bench.show("[\"\x01"
                       "0007\x02\"]"),
            "A marker names a segment that does not exist.");
}

}  // namespace

// What a planner's model is shown.
#include <gtest/gtest.h>

#include "layers/layers_fixture.h"

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
  const std::string m = bench.text("first " + inner + " \"line\"");
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
  EXPECT_EQ(string_at(out, {"pdf", "summary"}),
            "PDF, 2.1 MB. Note: content not stored. It cannot be read back.");
}

TEST_F(LayersObservation, BeginningOfATextThatWasNotStoredIsShown) {
  const std::string m = bench.text("long");
  bench.last().bytes = 12'000;
  bench.last().preview = std::string(10'000, 'x');
  bench.last().previewed_whole = false;
  EXPECT_EQ(string_at(bench.show("{\"log\":\"" + m + "\"}"), {"log", "preview"}), "long");
  bench.warning = "Content not stored (no ArtifactStore configured)";
  const std::string out = bench.show("{\"log\":\"" + m + "\"}");
  EXPECT_EQ(string_at(out, {"log", "preview"}), std::string(10'000, 'x'));
  EXPECT_EQ(
      string_at(out, {"log", "summary"}),
      "text, 1.0 MB. Note: content not stored. Its beginning is shown; the rest cannot be read "
      "back.");
}

TEST_F(LayersObservation, WhatMayBeAnEncodingIsNotShown) {
  bench.warning = "Content not stored (no ArtifactStore configured)";
  std::string word;
  while (word.size() < 9'000) word += "aB3";
  const auto shown = [&](const std::string& head) {
    const std::string m = bench.text(head);
    bench.last().bytes = 12'000;
    bench.last().preview = head;
    return string_at(bench.show("{\"log\":\"" + m + "\"}"), {"log", "preview"});
  };
  EXPECT_EQ(shown("See this: " + word), "See this: ");
  EXPECT_EQ(shown(word), "no string: (none)");
  EXPECT_EQ(shown("See this: " + word.substr(0, 400) + " and more"),
            "See this: " + word.substr(0, 400) + " and more");
}

TEST_F(LayersObservation, BeginningOfJsonThatWasNotStoredIsJson) {
  bench.warning = "Content not stored (no ArtifactStore configured)";
  const auto beginning = [&](const std::string& source) {
    const std::string m = bench.json(source);
    bench.last().preview = source;
    bench.last().bytes = 60'000;
    return at(bench.show("{\"rows\":\"" + m + "\"}"), {"rows", "beginning"});
  };
  EXPECT_EQ(beginning(R"([{"a":1},{"a":2},{"a":)"), R"([{"a":1},{"a":2}])");
  EXPECT_EQ(beginning(R"({"n":"],\",","rows":[[1,2],[3,"x)"),
            R"({"n":"],\",","rows":[[1,2],[3]]})");
  EXPECT_EQ(beginning(R"([1,2])"), "[1,2]");
  EXPECT_EQ(beginning(R"(["x)"), "(none)");
  const std::string inner = bench.run(pdf(), "application/pdf");
  EXPECT_EQ(beginning("[\"" + inner + "\",1,2"),
            "[\"artifact://" + Bench::id(pdf()) + "?type=application/pdf&size=40\",1]");
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
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"{\"n\": 1}"}],)"
                       R"("structuredContent":{"n":1}})"),
            R"({"n": 1})");
  EXPECT_EQ(bench.show(R"({"content":[],"structuredContent":{"n":1}})"), R"({"n":1})");
}

TEST_F(LayersObservation, StructureThatContentDoesNotTellIsAdded) {
  bench.config.prefer = Prefer::content;
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}})"),
            R"({"content":"one","structured":{"n":1}})");
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"one"}],"structuredContent":{}})"),
            R"("one")");
}

TEST_F(LayersObservation, TextThatTheStructureDoesNotTellIsAdded) {
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"WARNING: only 3 of 900 rows"}],)"
                       R"("structuredContent":{"rows":[1,2,3]}})"),
            R"({"structured":{"rows":[1,2,3]},)"
            R"("content":[{"type":"text","text":"WARNING: only 3 of 900 rows"}]})");
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"{\"n\":1}"},)"
                       R"({"type":"text","text":"careful"}],"structuredContent":{"n":1}})"),
            R"({"structured":{"n":1},"content":[{"type":"text","text":"careful"}]})");
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"careful"}],"structuredContent":{}})"),
            R"({"structured":{},"content":[{"type":"text","text":"careful"}]})");
  EXPECT_EQ(bench.show(R"({"content":[{"type":"text","text":"{\"log\":1}"}],)"
                       R"("structuredContent":{"n":1}})"),
            R"({"structured":{"n":1},"content":[{"type":"text","text":"{\"log\":1}"}]})");
}

TEST_F(LayersObservation, ContentThatIsNoListIsKeptBesideStructure) {
  EXPECT_EQ(bench.show(R"({"content":"careful","structuredContent":{"n":1}})"),
            R"({"structured":{"n":1},"content":"careful"})");
}

TEST_F(LayersObservation, TextOfTheSameValueIsNotToldTwice) {
  const auto shown = [&](const std::string& text, const std::string& structured) {
    return bench.show(R"({"content":[{"type":"text","text":")" + text +
                      R"("}],"structuredContent":)" + structured + "}");
  };
  for (const std::string text :
       {R"({ \"a\" : 1.50,\n  \"b\" : \"\\u00e9/\" })", R"({\"b\":\"é\\/\",\"a\":15e-1})"}) {
    const std::string structured = R"({"a":1.5,"b":"\u00E9/"})";
    EXPECT_EQ(shown(text, structured), structured) << text;
  }
  for (const std::string text :
       {R"({\"a\":1.5})", R"({\"a\":1.51,\"b\":\"é/\"})", R"({\"a\":\"1.5\",\"b\":\"é/\"})",
        R"({\"a\":1.5,\"b\":\"é/\"} )"
        "and more"}) {
    const std::string structured = R"({"a":1.5,"b":"\u00E9/"})";
    EXPECT_EQ(at(shown(text, structured), {"structured"}), structured) << text;
  }
  // As servers write a value that is no object.
  EXPECT_EQ(shown("hello", R"({"result":"hello"})"), R"({"result":"hello"})");
  EXPECT_EQ(shown("42", R"({"result":42})"), R"({"result":42})");
  EXPECT_EQ(shown("[1, 2]", R"({"result":[1,2]})"), R"({"result":[1,2]})");
  EXPECT_EQ(at(shown("hello", R"({"result":"hello","n":1})"), {"content", "0", "text"}),
            R"("hello")");
}

TEST_F(LayersObservation, ListToldItemByItemIsNotToldTwice) {
  const std::string two = R"([{"type":"text","text":"a"},{"type":"text","text":"{\"n\":1}"}])";
  EXPECT_EQ(bench.show("{\"content\":" + two + R"(,"structuredContent":{"result":["a",{"n":1}]}})"),
            R"({"result":["a",{"n":1}]})");
  EXPECT_EQ(at(bench.show("{\"content\":" + two + R"(,"structuredContent":{"result":["a"]}})"),
               {"content"}),
            two);
}

TEST_F(LayersObservation, SameBytesInTextAndStructureAreTheSameValue) {
  const std::string a = bench.run(pdf(), "application/pdf");
  const std::string b = bench.run(pdf(), "application/pdf");
  const std::string c = bench.run(pdf(41), "application/pdf");
  const auto shown = [&](const std::string& one, const std::string& other) {
    return bench.show(R"({"content":[{"type":"text","text":"{\"pdf\":\")" + one +
                      R"(\"}"}],"structuredContent":{"pdf":")" + other + "\"}}");
  };
  EXPECT_NE(at(shown(a, b), {"pdf", "artifact"}), "(none)");
  EXPECT_NE(at(shown(a, c), {"structured", "pdf", "artifact"}), "(none)");
}

TEST_F(LayersObservation, BlockThatTheStructureLacksIsAdded) {
  const std::string m = bench.run(png(), "image/png");
  const std::string out = bench.show(
      "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1}\"},"
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

TEST_F(LayersObservation, LongTextOfAnotherValueIsKeptBesideStructure) {
  const std::string log = bench.text("{\"log\":[1,2]}");
  EXPECT_EQ(string_at(bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"" + log +
                                 "\"}],\"structuredContent\":{\"rows\":[1,2]}}"),
                      {"content", "0", "preview"}),
            "{\"log\":[1,2]}");
}

TEST_F(LayersObservation, LongTextThatOnlyBeginsLikeTheStructureIsKept) {
  for (const std::string text :
       {R"({"rows":[1,2],"warning":"only 2 of 900"})", R"({"rows":[1,2]} and more)",
        R"({"rows":[1,2,3]})", R"({"rows":[12]})", R"({"rows":[1 2]})", R"({"rows":[1,)"}) {
    const std::string m = bench.text(text);
    const std::string out = bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"" + m +
                                       "\"}],\"structuredContent\":{\"rows\":[1,2]}}");
    EXPECT_EQ(at(out, {"structured"}), R"({"rows":[1,2]})") << text;
    EXPECT_NE(at(out, {"content", "0", "artifact"}), "(none)") << text;
  }
}

TEST_F(LayersObservation, LongTextOfACollapsedStructureIsNotToldTwice) {
  const std::string text = bench.text(
      "{ \"n\": \"\\u00e9\", \"rows\": [ {\"a\": 1}, {\"a\": 2} ], \"log\": \"a \\\"b\\\"\\n\" }");
  const std::string rows = bench.json(R"([{"a":1},{"a":2}])");
  const std::string other = bench.json(R"([{"a":1},{"a":3}])");
  const std::string log = bench.text("a \"b\"\n");
  const auto shown = [&](const std::string& marker) {
    return bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"" + text +
                      "\"}],\"structuredContent\":{\"n\":\"é\",\"rows\":\"" + marker +
                      "\",\"log\":\"" + log + "\"}}");
  };
  EXPECT_NE(at(shown(rows), {"rows", "artifact"}), "(none)");
  EXPECT_NE(at(shown(other), {"content", "0", "artifact"}), "(none)");
}

TEST_F(LayersObservation, StructureThatALongTextOnlyBeginsLikeIsKept) {
  bench.config.prefer = Prefer::content;
  const std::string m = bench.text(R"({"rows":[1,2]})");
  const auto shown = [&](const std::string& structured) {
    return bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"" + m +
                      "\"}],\"structuredContent\":" + structured + "}");
  };
  EXPECT_EQ(at(shown(R"({"rows":[1,2]})"), {"structured"}), "(none)");
  EXPECT_EQ(at(shown(R"({"rows":[1,2],"warning":"!"})"), {"structured"}),
            R"({"rows":[1,2],"warning":"!"})");
}

TEST_F(LayersObservation, TextThatIsNoJsonIsComparedToo) {
  for (const std::string prose :
       {"{\"a\":\"\\u12", "{\"a\":\"\\uzzzzzzzzzzzz", "\"\\", "\x01\x02"}) {
    const std::string m = bench.text(prose);
    const std::string out = bench.show("{\"content\":[{\"type\":\"text\",\"text\":\"" + m +
                                       "\"}],\"structuredContent\":{\"b\":1}}");
    EXPECT_NE(at(out, {"content", "0", "artifact"}), "(none)") << out;
  }
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

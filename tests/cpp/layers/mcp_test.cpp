// The mcp dialect: always a valid CallToolResult.
#include <gtest/gtest.h>

#include "layers/layers_fixture.h"

namespace {

using namespace sluice;
using namespace sluice::layers_test;

class LayersMcp : public ::testing::Test {
 protected:
  Bench bench;

  static std::string note(std::string_view bytes, const std::string& what) {
    return "[sluice] " + what +
           ". Stored, not shown. Read it with tableau_artifact_read {\"uri\":\"artifact://" +
           Bench::id(bytes) + "\"} or pass that URI as a tool argument.";
  }
  static std::string with_preview(const std::string& note, const std::string& lines) {
    return note + "\nPreview (from the file):\n> " + lines;
  }
  static std::string uri(std::string_view bytes, const std::string& rest) {
    return "artifact://" + Bench::id(bytes) + rest;
  }
};

TEST_F(LayersMcp, UnchangedIsUnchanged) {
  const std::string same = R"({ "content":[ {"type":"text","text":"a"} ] , "_meta":{"x":1} })";
  EXPECT_EQ(bench.mcp(same), same);
  EXPECT_FALSE(bench.layers->changed());
}

// The gate found nothing in either, so it is the spelling of the keys alone that tells.
TEST_F(LayersMcp, ShortBytesAreTakenHoweverTheirKeysAreSpelled) {
  for (const std::string key : {"data", "d\\u0061ta", "dat\\u0061"}) {
    const std::string out = bench.mcp(R"({"content":[{"type":"image","mimeType":"image/png",")" +
                                      key + "\":\"" + base64(png()) + "\"}]}");
    EXPECT_TRUE(bench.layers->changed()) << key;
    EXPECT_EQ(out.find(base64(png())), std::string::npos) << key;
  }
  for (const std::string key : {"blob", "\\u0062lob"}) {
    const std::string out =
        bench.mcp(R"({"content":[{"type":"resource","resource":{"uri":"x://a.pdf",")" + key +
                  "\":\"" + base64(pdf()) + "\"}}]}");
    EXPECT_TRUE(bench.layers->changed()) << key;
    EXPECT_EQ(out.find(base64(pdf())), std::string::npos) << key;
  }
}

TEST_F(LayersMcp, TextThatSpeaksOfBytesIsUnchanged) {
  for (const std::string text :
       {R"(\"data\":\"iVBORw0KGgo=\")", R"(data blob _meta)", R"(\\u0064)"}) {
    const std::string same = R"({"content":[{"type":"text","text":")" + text + R"("}]})";
    EXPECT_EQ(bench.mcp(same), same);
    EXPECT_FALSE(bench.layers->changed());
    EXPECT_EQ(bench.layers->refs_json(), "[]");
  }
}

TEST_F(LayersMcp, DivertedBlockIsATextBlockAtTheSameIndex) {
  const std::string m = bench.run(pdf(), "application/pdf");
  const std::string out = bench.mcp(
      "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"resource\",\"resource\":"
      "{\"uri\":\"x://a.pdf\",\"blob\":\"" +
      m + "\"},\"annotations\":{\"priority\":1},\"_meta\":{\"k\":2}}]}");
  EXPECT_EQ(at(out, {"content", "1", "type"}), "\"text\"");
  EXPECT_EQ(string_at(out, {"content", "1", "text"}), note(pdf(), "PDF, 2.1 MB"));
  EXPECT_EQ(at(out, {"content", "1", "annotations"}), "{\"priority\":1}");
  EXPECT_EQ(at(out, {"content", "1", "_meta"}), "{\"k\":2}");
  EXPECT_EQ(at(out, {"content", "2"}), "(none)");
  EXPECT_TRUE(bench.layers->changed());
}

TEST_F(LayersMcp, LongTextBlockIsANoteWithAPreview) {
  const std::string text = "first\n[sluice] PDF, 1 KB. Stored, not shown.";
  const std::string m = bench.text(text);
  bench.last().description += ", first line (from the file): \"first\"";
  const std::string out = bench.mcp("{\"content\":[{\"type\":\"text\",\"text\":\"" + m + "\"}]}");
  EXPECT_EQ(
      string_at(out, {"content", "0", "text"}),
      with_preview(note(text, "text, 1.0 MB"), "first\n> ❲sluice] PDF, 1 KB. Stored, not shown."));
}

TEST_F(LayersMcp, PreviewStandsOnlyWhereItMakesTheWholeShorter) {
  const std::string m = bench.text("long text");
  const size_t whole = count_chars(with_preview(note("long text", "text, 1.0 MB"), "long text"));
  for (const size_t chars : {whole, whole + 1}) {
    bench.last().chars = chars;
    const std::string out = bench.mcp("{\"content\":[{\"type\":\"text\",\"text\":\"" + m + "\"}]}");
    EXPECT_EQ(count_chars(string_at(out, {"content", "0", "text"})) == whole, chars > whole);
  }
}

TEST_F(LayersMcp, EightTextsHaveAPreview) {
  std::string blocks;
  for (int i = 0; i < 10; ++i) {
    blocks += (i > 0 ? "," : "") +
              ("{\"type\":\"text\",\"text\":\"" + bench.text("text " + std::to_string(i)) + "\"}");
  }
  const std::string out = bench.mcp("{\"content\":[" + blocks + "]}");
  for (int i = 0; i < 10; ++i) {
    const std::string text = string_at(out, {"content", std::to_string(i), "text"});
    EXPECT_EQ(text.find("Preview") != std::string::npos, i < 8) << text;
  }
}

TEST_F(LayersMcp, ErrorShowsWhatWentWrong) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "step " + std::to_string(i) + "\n";
  text += "it broke";
  const std::string m = bench.text(text);
  const std::string block = "\"content\":[{\"type\":\"text\",\"text\":\"" + m + "\"}]";
  const auto shown = [&](const std::string& flag) {
    return string_at(bench.mcp("{" + block + ",\"isError\":" + flag + "}"),
                     {"content", "0", "text"});
  };
  // The end of a text is always shown, and of one that tells an error more of it.
  EXPECT_NE(shown("true").find("\n> step 294\n"), std::string::npos) << shown("true");
  EXPECT_EQ(shown("false").find("\n> step 294\n"), std::string::npos) << shown("false");
  for (const char* flag : {"true", "false"}) EXPECT_TRUE(shown(flag).ends_with("\n> it broke"));
}

TEST_F(LayersMcp, HowToReadIsToldOnce) {
  const std::string a = bench.run(png(), "image/png");
  const std::string b = bench.run(png(50), "image/png");
  const auto block = [](const std::string& marker) {
    return "{\"type\":\"image\",\"data\":\"" + marker + "\",\"mimeType\":\"image/png\"}";
  };
  const std::string out = bench.mcp("{\"content\":[" + block(a) + "," + block(b) + "]}");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}), note(png(), "file, 2.1 MB"));
  EXPECT_EQ(string_at(out, {"content", "1", "text"}),
            "[sluice] file, 2.1 MB. Stored, not shown: " + uri(png(50), ""));
  EXPECT_EQ(normal(bench.restore(out)),
            normal(bench.original("{\"content\":[" + block(a) + "," + block(b) + "]}")));
}

TEST_F(LayersMcp, ListBehindANoteDoesNotTellAgain) {
  const std::string a = bench.run(png(), "image/png");
  const std::string b = bench.run(pdf(), "application/pdf");
  const std::string c = bench.run(pdf(50), "application/pdf");
  const std::string out =
      bench.mcp("{\"content\":[{\"type\":\"image\",\"data\":\"" + a +
                "\"}],\"structuredContent\":{\"b\":\"" + b + "\",\"c\":\"" + c + "\"}}");
  EXPECT_EQ(string_at(out, {"content", "1", "text"}),
            "[sluice] This result refers to these stored files:\n- " + uri(pdf(), ": PDF, 2.1 MB") +
                "\n- " + uri(pdf(50), ": PDF, 2.1 MB"));
}

TEST_F(LayersMcp, BothHalvesCarryReferencesAndOneNoteNamesThem) {
  Form form;
  form.encoding = Encoding::base64url;
  const std::string a = bench.run(pdf(), "application/pdf", form);
  const std::string b = bench.run(pdf(), "application/pdf", form);
  const std::string out = bench.mcp("{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"p\\\":\\\"" +
                                    a + "\\\"}\"}],\"structuredContent\":{\"p\":\"" + b + "\"}}");
  const std::string reference = uri(pdf(), "?type=application/pdf&size=40");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}), "{\"p\":\"" + reference + "\"}");
  EXPECT_EQ(string_at(out, {"structuredContent", "p"}), reference);
  EXPECT_EQ(string_at(out, {"content", "1", "text"}), note(pdf(), "PDF, 2.1 MB"));
  EXPECT_EQ(at(out, {"content", "2"}), "(none)");
}

TEST_F(LayersMcp, ContentIsMadeForStructureAlone) {
  const std::string m = bench.run(pdf(), "application/pdf");
  const std::string out = bench.mcp("{\"structuredContent\":{\"p\":\"" + m + "\"}}");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}), note(pdf(), "PDF, 2.1 MB"));
}

TEST_F(LayersMcp, NoteListsEightAndCounts) {
  std::string items;
  for (int i = 0; i < 11; ++i) {
    items += (i > 0 ? ",\"" : "\"") +
             bench.run(pdf(40 + static_cast<size_t>(i)), "application/pdf") + "\"";
  }
  const std::string out =
      bench.mcp("{\"content\":[],\"structuredContent\":{\"l\":[" + items + "]}}");
  const std::string text = string_at(out, {"content", "0", "text"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
  EXPECT_NE(text.find("\n- " + uri(pdf(47), ": PDF, 2.1 MB")), std::string::npos) << text;
  EXPECT_EQ(text.find(uri(pdf(48), "")), std::string::npos) << text;
  EXPECT_NE(text.find("\n… and 3 more"), std::string::npos) << text;
}

TEST_F(LayersMcp, NothingStoredIsSaidAndNotOffered) {
  bench.warning = "Content not stored (no ArtifactStore configured)";
  const std::string m = bench.text("long text");
  const std::string out = bench.mcp("{\"content\":[{\"type\":\"text\",\"text\":\"" + m + "\"}]}");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}),
            "[sluice] text, 1.0 MB. Content not stored (no ArtifactStore configured). All of it is "
            "shown.\nlong text");
}

TEST_F(LayersMcp, BeginningOfATextThatWasNotStoredIsInItsNote) {
  bench.warning = "Content not stored (no ArtifactStore configured)";
  const std::string m = bench.text("long");
  bench.last().bytes = 12'000;
  bench.last().preview = std::string(10'000, 'x');
  const std::string in_block =
      string_at(bench.mcp("{\"content\":[{\"type\":\"text\",\"text\":\"" + m + "\"}]}"),
                {"content", "0", "text"});
  EXPECT_EQ(count_chars(in_block), bench.config.max_inline_size);
  EXPECT_NE(in_block.find("the rest cannot be read back.\nxxx"), std::string::npos);
  // What stands in the other half is told in a block of its own.
  const std::string out =
      bench.mcp("{\"content\":[],\"structuredContent\":{\"log\":\"" + m + "\"}}");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}), in_block);
  EXPECT_EQ(at(out, {"content", "1"}), "(none)");
  bench.config.max_inline_size = 100;
  EXPECT_EQ(string_at(bench.mcp("{\"structuredContent\":{\"log\":\"" + m + "\"}}"),
                      {"content", "0", "text"}),
            "[sluice] text, 1.0 MB. Content not stored (no ArtifactStore configured). It cannot be "
            "read back.");
}

TEST_F(LayersMcp, OfSeveralThingsNotStoredNoneIsOffered) {
  bench.warning = "Content not stored (no ArtifactStore configured)";
  const std::string one = bench.run(pdf(), "application/pdf");
  const std::string two = bench.run(pdf(50), "application/pdf");
  const std::string out =
      bench.mcp("{\"content\":[{\"type\":\"text\",\"text\":\"a " + one + " b " + two + "\"}]}");
  EXPECT_EQ(string_at(out, {"content", "1", "text"}),
            "[sluice] This result refers to these files, which were not stored and cannot be read "
            "back:\n- " +
                uri(pdf(), ": PDF, 2.1 MB") + "\n- " + uri(pdf(50), ": PDF, 2.1 MB"));
}

TEST_F(LayersMcp, ByteArrayIsAReferenceString) {
  Form form;
  form.encoding = Encoding::byte_array;
  form.separator = ",";
  form.prefix = "[";
  form.suffix = "]";
  const std::string m = bench.run(pdf(), "application/pdf", form);
  const std::string out = bench.mcp("{\"structuredContent\":{\"p\":\"" + m + "\"}}");
  EXPECT_EQ(string_at(out, {"structuredContent", "p"}).find(uri(pdf(), "?type=")), 0u);
}

TEST_F(LayersMcp, OtherValuesKeepTheirShape) {
  const std::string m = bench.run(pdf(), "application/pdf");
  const std::string out = bench.mcp("{\"p\":\"" + m + "\",\"q\":[1]}");
  EXPECT_EQ(string_at(out, {"p"}), uri(pdf(), "?type=application/pdf&size=40"));
  EXPECT_EQ(at(out, {"content"}), "(none)");
  EXPECT_EQ(bench.mcp("[\"" + m + "\"]"),
            "[\"" + uri(pdf(), "?type=application/pdf&size=40") + "\"]");
  EXPECT_EQ(bench.layers->refs_json(),
            "[{\"at\":\"/0\",\"uri\":\"" + uri(pdf(), "?type=application/pdf&size=40") + "\"}]");
}

TEST_F(LayersMcp, WordsRightBehindAReferenceAreNoPartOfIt) {
  const std::string m = bench.run(pdf(), "application/pdf");
  const std::string reference = uri(pdf(), "?type=application/pdf&size=40");
  const std::string out = bench.mcp("{\"p\":\"See " + m + "Some " + m + ", " + m + "\"}");
  EXPECT_EQ(string_at(out, {"p"}), "See " + reference + " Some " + reference + ", " + reference);
}

TEST_F(LayersMcp, CollapsedObjectIsAResultWithANote) {
  const std::string m = bench.json("{\"content\":[1]}");
  const std::string out = bench.mcp("\"" + m + "\"");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}),
            with_preview(note("{\"content\":[1]}", "JSON, 1.0 MB"), "{\"content\":[1]}"));
}

TEST_F(LayersMcp, CollapsedArrayIsAReference) {
  const std::string m = bench.json("[1,2]");
  EXPECT_EQ(bench.mcp("\"" + m + "\""),
            "\"" + uri("[1,2]", "?type=application/json&size=5") + "\"");
}

TEST_F(LayersMcp, CollapsedHalvesStayValid) {
  const std::string a = bench.json("[{\"type\":\"text\"}]");
  const std::string b = bench.json("{\"n\":1}");
  const std::string out =
      bench.mcp("{\"content\":\"" + a + "\",\"structuredContent\":\"" + b + "\"}");
  EXPECT_EQ(at(out, {"content", "0", "type"}), "\"text\"");
  EXPECT_EQ(string_at(out, {"content", "1", "text"}),
            with_preview("[sluice] JSON, 1.0 MB. Stored, not shown: " + uri("{\"n\":1}", ""),
                         "{\"n\":1}"));
  EXPECT_EQ(string_at(out, {"structuredContent", "artifact"}),
            uri("{\"n\":1}", "?type=application/json&size=7"));
}

TEST_F(LayersMcp, BlobOfAReadBecomesText) {
  const std::string out =
      bench.mcp("{\"contents\":[{\"uri\":\"x://a.png\",\"mimeType\":\"image/png\",\"blob\":\"" +
                base64(png()) + "\"}]}");
  EXPECT_EQ(at(out, {"contents", "0", "uri"}), "\"x://a.png\"");
  EXPECT_EQ(at(out, {"contents", "0", "mimeType"}), "\"text/plain\"");
  EXPECT_EQ(at(out, {"contents", "0", "blob"}), "(none)");
  EXPECT_EQ(string_at(out, {"contents", "0", "text"}).find("[sluice] PNG image, 640 × 480"), 0u);
}

TEST_F(LayersMcp, EnvelopeStays) {
  const std::string m = bench.text("long");
  const std::string out =
      bench.mcp("{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" + m +
                "\"}]},\"id\":7}");
  EXPECT_EQ(at(out, {"id"}), "7");
  EXPECT_EQ(at(out, {"_meta"}), "(none)");
  EXPECT_NE(at(out, {"result", "_meta", "sluice/refs"}), "(none)");
}

TEST_F(LayersMcp, ErrorResponsePasses) {
  const std::string same = R"({"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}})";
  EXPECT_EQ(bench.mcp(same), same);
  EXPECT_FALSE(bench.layers->changed());
}

TEST_F(LayersMcp, ImageComesBackAndIsNamed) {
  bench.shows = true;
  const std::string block =
      "{\"type\":\"image\",\"data\":\"" + base64(png()) + "\",\"mimeType\":\"image/png\"}";
  const std::string out = bench.mcp("{\"content\":[" + block + "]}");
  EXPECT_EQ(at(out, {"content", "0"}), block);
  const std::string text = string_at(out, {"content", "1", "text"});
  EXPECT_NE(text.find(uri(png(), ": PNG image")), std::string::npos) << text;
  EXPECT_EQ(text.find("shown"), std::string::npos) << text;
  EXPECT_EQ(bench.restore(out), "{\"content\":[" + block + "]}");
  bench.note = "scaled down to 4 × 3 pixels here";
  EXPECT_NE(bench.mcp("{\"content\":[" + block + "]}").find("(scaled down to 4 × 3 pixels here)"),
            std::string::npos);
}

TEST_F(LayersMcp, ImageOfAResourceComesBackAsAnImage) {
  bench.shows = true;
  const std::string input =
      R"({"content":[{"type":"resource","annotations":{"priority":1},"resource":{"uri":"x://a",)"
      R"("mimeType":"image/jpeg","blob":")" +
      base64(png()) + R"("}}]})";
  bench.config.inline_media.mode = InlineMedia::Mode::listed;
  const std::string out = bench.mcp(input);
  EXPECT_EQ(string_at(out, {"content", "0", "resource", "mimeType"}), "image/png");
  EXPECT_EQ(at(out, {"content", "0", "annotations"}), R"({"priority":1})");
  EXPECT_EQ(bench.restore(out), input);
}

// --- both halves -----------------------------------------------------------------------------

TEST_F(LayersMcp, ReferencesInTheStructuredHalfSayWhatTheyStandFor) {
  const std::string rows = bench.json("[{\"id\":1},{\"id\":2}]");
  const std::string more = bench.text("long");
  const std::string input = "{\"content\":[],\"structuredContent\":{\"total\":2,\"rows\":\"" +
                            rows + "\",\"a/b\":[\"" + more + "\"]}}";
  const std::string bare = bench.mcp(input);
  EXPECT_EQ(string_at(bare, {"structuredContent", "rows"}).find(' '), std::string::npos);
  for (const auto notes : {StructureNotes::sentences, StructureNotes::previews}) {
    bench.call.structure_notes = notes;
    const std::string out = bench.mcp(input);
    const std::string told = string_at(out, {"structuredContent", "rows"});
    EXPECT_TRUE(told.starts_with("artifact://tableau_")) << told;
    EXPECT_NE(told.find(" [sluice] JSON"), std::string::npos) << told;
    EXPECT_NE(told.find("Read it with tableau_artifact_read"), std::string::npos) << told;
    EXPECT_EQ(told.find("Preview") != std::string::npos, notes == StructureNotes::previews) << told;
    const std::string again = string_at(out, {"structuredContent", "a/b", "0"});
    EXPECT_NE(again.find("[sluice] text"), std::string::npos) << again;
    EXPECT_EQ(again.find("Read it with"), std::string::npos) << again;
    EXPECT_EQ(normal(bench.restore(out)), normal(bench.original(input)));
  }
}

TEST_F(LayersMcp, NoReferenceIsLongerThanWhatItStandsFor) {
  bench.call.structure_notes = StructureNotes::previews;
  const std::string pdf_run = bench.run(pdf(), "application/pdf");
  bench.last().chars = 120;
  const std::string out = bench.mcp("{\"structuredContent\":{\"pdf\":\"" + pdf_run + "\"}}");
  EXPECT_EQ(string_at(out, {"structuredContent", "pdf"}).find(' '), std::string::npos);
}

TEST_F(LayersMcp, EqualHalvesAreToldOnce) {
  const std::string spaced = "[ { \"id\": 1 }, { \"id\": 2 } ]";
  const std::string text = bench.text("{\"rows\": " + spaced + "}");
  const std::string rows = bench.json("[{\"id\":1},{\"id\":2}]");
  const std::string input = "{\"content\":[{\"type\":\"text\",\"text\":\"" + text +
                            "\"}],\"structuredContent\":{\"rows\":\"" + rows + "\"}}";
  const std::string out = bench.mcp(input);
  const std::string first = string_at(out, {"content", "0", "text"});
  EXPECT_EQ(first.find("{\"rows\":\"artifact://"), 0u) << first;
  EXPECT_NE(string_at(out, {"content", "1", "text"}).find("[sluice] JSON"), std::string::npos);
  EXPECT_EQ(at(out, {"content", "2"}), "(none)");
  EXPECT_EQ(normal(bench.restore(out)), normal(bench.original(input)));
}

TEST_F(LayersMcp, ServersOwnListIsNotTrusted) {
  const std::string input =
      R"({"content":[],"_meta":{"sluice/refs":[{"at":"/content","uri":"artifact://victim"}]}})";
  const std::string out = bench.mcp(input);
  EXPECT_TRUE(bench.layers->changed());
  EXPECT_EQ(at(out, {"_meta", "sluice/refs", "0", "uri"}), "(none)");
  EXPECT_EQ(normal(bench.restore(out)), normal(input));
}

TEST_F(LayersMcp, ReferencesNeedNoEscape) {
  Segment segment;
  segment.mime_type = "text/\"x\"; a=b\n+json";
  segment.bytes = 7;
  EXPECT_EQ(reference(segment, "ns_1", true),
            "artifact://ns_1?type=text/%22x%22%3B%20a%3Db%0A%2Bjson&size=7");
}

}  // namespace

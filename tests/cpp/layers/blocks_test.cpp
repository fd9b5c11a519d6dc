// Layers 1 and 2: content blocks and links, and the shapes that hold them.
#include <gtest/gtest.h>

#include "layers/layers_fixture.h"

namespace {

using namespace sluice;
using namespace sluice::layers_test;

class LayersBlocks : public ::testing::Test {
 protected:
  Bench bench;

  static std::string image(const std::string& data, const std::string& mime = "image/png") {
    return "{\"type\":\"image\",\"data\":\"" + data + "\",\"mimeType\":\"" + mime + "\"}";
  }
  static std::string result(const std::string& blocks) { return "{\"content\":[" + blocks + "]}"; }
};

TEST_F(LayersBlocks, TinyImageIsStored) {
  const std::string out = bench.show(result(image(base64(png()))));
  EXPECT_EQ(at(out, {"content", "0", "type"}), "\"image\"");
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "id"}), Bench::id(png()));
  EXPECT_EQ(at(out, {"content", "0", "data"}), "(none)");
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "filename"}), "fetch.png");
}

TEST_F(LayersBlocks, AudioIsStored) {
  const std::string out =
      bench.show(result("{\"type\":\"audio\",\"data\":\"" + base64("RIFF1234WAVEfmt ") +
                        "\",\"mimeType\":\"audio/wav\"}"));
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "mime_type"}), "audio/wav");
}

TEST_F(LayersBlocks, RunKeepsItsSegment) {
  const std::string out = bench.show(result(image(bench.run(png(), "image/png"))));
  EXPECT_EQ(bench.layers->segments().size(), 1u);
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "id"}), Bench::id(png()));
}

TEST_F(LayersBlocks, AnImageWithoutBytesIsASentence) {
  const std::string source = result(image(""));
  EXPECT_EQ(bench.show(source),
            R"({"content":[{"type":"text","text":)"
            R"("[sluice] An image without any bytes: the tool sent nothing of it."}]})");
  EXPECT_EQ(bench.restore(bench.mcp(source)), source);
}

TEST_F(LayersBlocks, ShortInvalidBase64IsTheTextThatItIs) {
  const std::string source = result(image("not base64!"));
  const std::string out = bench.show(source);
  EXPECT_EQ(string_at(out, {"content", "0", "type"}), "text");
  EXPECT_EQ(string_at(out, {"content", "0", "text"}), "not base64!");
  EXPECT_EQ(out.find("image/png"), std::string::npos);
  const std::string mcp = bench.mcp(source);
  EXPECT_EQ(string_at(mcp, {"content", "0", "type"}), "text");
  EXPECT_EQ(bench.restore(mcp), source);
  const std::string reference = "artifact://tableau_0123456789ab?type=image/png&size=1";
  EXPECT_EQ(bench.show(result(image(reference))), result(image(reference)));
}

TEST_F(LayersBlocks, TextAroundBytesIsToldWithAReferenceToThem) {
  const std::string run = bench.run(pdf(), "application/pdf");
  const std::string source = result(image("IMPORTANT: page 1 of 3. " + run + " Thanks.", "a/b"));
  const std::string uri = "artifact://" + Bench::id(pdf()) + "?type=application/pdf&size=40";
  const std::string out = bench.show(source);
  EXPECT_EQ(string_at(out, {"content", "0", "data"}),
            "IMPORTANT: page 1 of 3. " + uri + " Thanks.");
  const std::string mcp = bench.mcp(source);
  EXPECT_EQ(string_at(mcp, {"content", "0", "type"}), "text");
  EXPECT_EQ(string_at(mcp, {"content", "0", "text"}),
            "IMPORTANT: page 1 of 3. " + uri + " Thanks.");
  EXPECT_NE(string_at(mcp, {"content", "1", "text"}).find("artifact_read"), std::string::npos);
  EXPECT_EQ(normal(bench.restore(mcp)), normal(bench.original(source)));
}

TEST_F(LayersBlocks, EveryRunOfAStringIsNamed) {
  const std::string runs = bench.run(pdf(), "application/pdf") + bench.run(png(), "image/png");
  for (const std::string& source :
       {result(image(runs)),
        result("{\"type\":\"resource\",\"resource\":{\"uri\":\"x:a\",\"blob\":\"" + runs + "\"}}"),
        "{\"contents\":[{\"uri\":\"x:a\",\"blob\":\"" + runs + "\"}]}"}) {
    for (const Dialect dialect : {Dialect::observation, Dialect::mcp}) {
      const std::string out = bench.show(source, dialect);
      for (const std::string& id : {Bench::id(pdf()), Bench::id(png())}) {
        EXPECT_NE(out.find("artifact://" + id + "?"), std::string::npos) << out;
      }
    }
    EXPECT_EQ(normal(bench.restore(bench.mcp(source))), normal(bench.original(source)));
  }
}

TEST_F(LayersBlocks, WhiteSpaceAroundBytesIsNoText) {
  const std::string source = result(image(" \\n" + bench.run(pdf(), "application/pdf") + "\\n"));
  EXPECT_EQ(string_at(bench.show(source), {"content", "0", "artifact", "id"}), Bench::id(pdf()));
  EXPECT_EQ(normal(bench.restore(bench.mcp(source))), normal(bench.original(source)));
}

// Lines of any length, in JSON.
std::string loose(std::string_view bytes, const std::string& separator) {
  std::string text = base64(bytes);
  for (size_t at = 7, step = 11; at < text.size(); at += step++) {
    text.insert(at, separator);
    at += separator.size();
  }
  return text;
}

TEST_F(LayersBlocks, LooselyWrittenBase64IsBytes) {
  const std::string raw = std::string("\0\1\2\xFF\xFE\xFD", 6) + png(300).substr(40) + pdf(200);
  for (const std::string& bytes : {pdf(200), png(301), raw}) {
    for (const std::string separator : {"\\n", "\\r\\n", " ", "\\n\\n\\t "}) {
      for (const std::string prefix : {"", " ", "data:a/b;base64,"}) {
        const std::string source = result(image(prefix + loose(bytes, separator)));
        const std::string out = bench.show(source);
        EXPECT_EQ(string_at(out, {"content", "0", "artifact", "id"}), Bench::id(bytes));
        EXPECT_EQ(bench.layers->segments().size(), 1u);
        const std::string mcp = bench.mcp(source);
        EXPECT_NE(string_at(mcp, {"content", "0", "text"}).find(Bench::id(bytes)),
                  std::string::npos);
        EXPECT_EQ(bench.restore(mcp), source);
      }
    }
  }
}

TEST_F(LayersBlocks, LooselyWrittenImageComesBack) {
  bench.shows = true;
  const std::string source = result(image(loose(png(), "\\n")));
  EXPECT_EQ(string_at(bench.show(source), {"content", "0", "data"}), base64(png()));
  EXPECT_EQ(bench.restore(bench.mcp(source)), source);
}

TEST_F(LayersBlocks, WordsThatWouldDecodeAreWords) {
  for (const std::string words : {"file not found", "Error 404 at line 12 of page"}) {
    const std::string out = bench.show(result(image(words)));
    EXPECT_EQ(string_at(out, {"content", "0", "type"}), "text") << words;
    EXPECT_EQ(string_at(out, {"content", "0", "text"}), words);
  }
  // What has the letters of an encoding alone is kept.
  const std::string out = bench.show(result(image("No\\nimage")));
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "mime_type"}), "text/plain");
  EXPECT_EQ(at(out, {"content", "0", "preview"}), "\"No\\nimage\"");
}

TEST_F(LayersBlocks, BitsBehindTheLastByteAreLeftOut) {
  const std::string source = result(image("YR=="));
  const std::string out = bench.show(source);
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "id"}), Bench::id("a"));
  EXPECT_EQ(bench.restore(bench.mcp(source)), source);
}

TEST_F(LayersBlocks, WhatMayBeBase64ButIsNotIsNotShown) {
  const std::string broken = loose(pdf(200), "\\n").substr(3);
  for (const std::string& data : {std::string("YWJj="), broken, "data:a/b;base64," + broken}) {
    const std::string source = result(image(data));
    const std::string out = bench.show(source);
    EXPECT_EQ(string_at(out, {"content", "0", "artifact", "mime_type"}), "text/plain");
    EXPECT_EQ(out.find(data.substr(20 > data.size() ? 0 : data.size() - 20)), std::string::npos);
    EXPECT_EQ(bench.restore(bench.mcp(source)), source);
  }
}

TEST_F(LayersBlocks, FileOfAContractInPartsIsOneFile) {
  const std::string head = loose(pdf(60), "\\n");
  const std::string source =
      "{\"content\":[],\"structuredContent\":{\"results\":{},\"artifacts\":[{\"name\":\"a.pdf\","
      "\"mime\":\"application/pdf\",\"b64\":\"" +
      head + "\\n" + bench.run(png(60), "image/png") + "\"}]}}";
  bench.expanding = true;
  const std::string mcp = bench.mcp(source);
  EXPECT_TRUE(string_at(mcp, {"structuredContent", "artifacts", "0", "b64"})
                  .starts_with("artifact://" + Bench::id(pdf(60) + png(60)) + "?"))
      << mcp;
  EXPECT_EQ(normal(bench.restore(mcp)), normal(bench.original(source)));
}

TEST_F(LayersBlocks, RunAndLooseLinesAreOneFile) {
  const std::string head = loose(pdf(60), "\\n");
  const std::string source = result(image(head + "\\n" + bench.run(png(60), "image/png")));
  bench.expanding = true;
  const std::string bytes = pdf(60) + png(60);
  const std::string out = bench.show(source);
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "id"}), Bench::id(bytes));
  EXPECT_EQ(out.find(head.substr(0, 7)), std::string::npos);
  const std::string mcp = bench.mcp(source);
  EXPECT_NE(string_at(mcp, {"content", "0", "text"}).find(Bench::id(bytes)), std::string::npos);
  EXPECT_EQ(normal(bench.restore(mcp)), normal(bench.original(source)));
}

TEST_F(LayersBlocks, BytesThatAreNotOfTheDeclaredTypeAreNotLabelledSo) {
  const auto type_of = [&](std::string_view bytes, const std::string& declared) {
    return string_at(bench.show("{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":"
                                "\"file:///a.pdf\",\"mimeType\":\"" +
                                declared + "\",\"blob\":\"" + base64(bytes) + "\"}}]}"),
                     {"content", "0", "artifact", "mime_type"});
  };
  EXPECT_EQ(type_of("This is no PDF at all.", "application/pdf"), "text/plain");
  EXPECT_EQ(type_of(std::string("\0\1\2\3", 4), "application/pdf"), "application/octet-stream");
  EXPECT_EQ(type_of(pdf(), "application/pdf"), "application/pdf");
  // No text has a NUL, except in UTF-16 and UTF-32.
  const std::string samples("\x01\0\x17\0\xF3\x44\0\0\x80\x3F\0\0", 12);
  EXPECT_EQ(type_of(samples, "text/plain"), "application/octet-stream");
  EXPECT_EQ(type_of(samples, "text/csv"), "application/octet-stream");
  EXPECT_EQ(type_of(std::string("\xFF\xFEh\0e\0l\0l\0o\0", 12), "text/plain"), "text/plain");
  // Longer than a text that is told.
  const std::string words(11'000, 'x');
  EXPECT_EQ(type_of("a: " + words, "application/yaml"), "application/yaml");
  EXPECT_EQ(type_of("# " + words, "text/markdown"), "text/markdown");
  EXPECT_EQ(type_of("[\"" + words + "\"]", "application/json"), "application/json");
}

TEST_F(LayersBlocks, AnErrorPageIsItsTextWhateverIsDeclared) {
  const std::string page = "<html><body><h1>403 Forbidden</h1></body></html>";
  const std::string file =
      R"({"content":[{"type":"resource","resource":{"mimeType":"application/pdf","uri":"x:a","blob":")" +
      base64(page) + "\"}}]}";
  EXPECT_EQ(string_at(bench.show(file), {"content", "0", "resource", "text"}), page);
  EXPECT_EQ(string_at(bench.show(file), {"content", "0", "resource", "mimeType"}), "text/plain");
  EXPECT_EQ(bench.restore(bench.mcp(file)), file);

  const std::string picture = result(image(base64(page)));
  EXPECT_EQ(string_at(bench.show(picture), {"content", "0", "text"}), page);
  EXPECT_EQ(bench.restore(bench.mcp(picture)), picture);
  // A drawing is a picture, though it is text.
  const std::string drawing = result(image(base64("<svg xmlns='http://www.w3.org/2000/svg'/>")));
  EXPECT_EQ(string_at(bench.mcp(drawing), {"content", "0", "text"}).substr(0, 12), "[sluice] SVG");
}

TEST_F(LayersBlocks, AShortTextInABlobIsToldAsText) {
  for (const auto& [type, text] :
       {std::pair("text/markdown", "# T\xC3\xADtle\n"), std::pair("application/json", "{\"a\":1}"),
        std::pair("text/plain; charset=utf-8", "words"), std::pair("", "a,b")}) {
    const std::string given =
        "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:a\"," +
        std::string("\"mimeType\":\"") + type + "\",\"blob\":\"" + base64(text) + "\"}}]}";
    EXPECT_EQ(string_at(bench.show(given), {"content", "0", "resource", "text"}), text);
    const std::string mcp = bench.mcp(given);
    EXPECT_EQ(string_at(mcp, {"content", "0", "resource", "text"}), text);
    EXPECT_EQ(at(mcp, {"content", "0", "resource", "blob"}), "(none)");
    EXPECT_EQ(normal(bench.restore(mcp)), normal(given));
  }
}

TEST_F(LayersBlocks, LongInvalidBase64IsATextArtifact) {
  const std::string m = bench.text("not base64 at all");
  const std::string out = bench.show(result(image(m)));
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "mime_type"}), "text/plain");
  EXPECT_EQ(string_at(out, {"content", "0", "preview"}), "not base64 at all");
}

TEST_F(LayersBlocks, LongTextThatIsBase64IsDecoded) {
  const std::string m = bench.text("AAECAwQF");
  bench.decoded["AAECAwQF"] = std::string("\0\1\2\3\4\5", 6);
  const std::string out = bench.show(result(image(m, "image/x-raw")));
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "mime_type"}), "image/x-raw");
}

TEST_F(LayersBlocks, DeclaredTypeYieldsToContradictingBytes) {
  const std::string out = bench.show(result(image(base64(pdf()), "image/png")));
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "mime_type"}), "application/pdf");
}

TEST_F(LayersBlocks, ResourceKeepsItsUriAndNamesTheFile) {
  const std::string out = bench.show(
      result("{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a/b/Q3%20report.pdf\","
             "\"mimeType\":\"application/pdf\",\"blob\":\"" +
             base64(pdf()) + "\"}}"));
  EXPECT_EQ(at(out, {"content", "0", "uri"}), "\"file:///a/b/Q3%20report.pdf\"");
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "filename"}), "Q3 report.pdf");
  EXPECT_EQ(at(out, {"content", "0", "blob"}), "(none)");
}

TEST_F(LayersBlocks, ResourceWithShortTextPasses) {
  const std::string same = result(R"({"type":"resource","resource":{"uri":"a:b","text":"hello"}})");
  EXPECT_EQ(bench.show(same), same);
}

TEST_F(LayersBlocks, ResourceWithLongTextHasItsDeclaredType) {
  const std::string m = bench.text("a,b\n1,2");
  const std::string out = bench.show(
      result("{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///rows.csv\",\"mimeType\":"
             "\"text/csv\",\"text\":\"" +
             m + "\"}}"));
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "mime_type"}), "text/csv");
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "filename"}), "rows.csv");
}

TEST_F(LayersBlocks, ContentsOfAReadAreBlobsToo) {
  const std::string out =
      bench.show("{\"contents\":[{\"uri\":\"x://a/b.png\",\"mimeType\":\"image/png\",\"blob\":\"" +
                 base64(png()) + "\"},{\"uri\":\"x://c\",\"text\":\"short\"}]}");
  EXPECT_EQ(string_at(out, {"contents", "0", "artifact", "filename"}), "b.png");
  EXPECT_EQ(at(out, {"contents", "1"}), R"({"uri":"x://c","text":"short"})");
}

TEST_F(LayersBlocks, JsonRpcResponseIsOpened) {
  EXPECT_EQ(
      bench.show(R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a"}]}})"),
      R"("a")");
  EXPECT_EQ(bench.show(R"({"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}})"),
            R"({"error":{"code":-1,"message":"no"}})");
}

TEST_F(LayersBlocks, ArrayOfBlocksIsContent) {
  EXPECT_EQ(bench.show(R"([{"type":"text","text":"{\"a\":1}"}])"), R"({"a":1})");
  EXPECT_EQ(bench.show(R"([{"type":"row","text":"{\"a\":1}"}])"),
            R"([{"type":"row","text":"{\"a\":1}"}])");
}

TEST_F(LayersBlocks, ContentThatHoldsNoBlocksIsJustAKey) {
  const std::string same = R"({"content":[1,2],"x":{"type":"image"}})";
  EXPECT_EQ(bench.show(same), same);
}

TEST_F(LayersBlocks, ImagesComeBack) {
  bench.shows = true;
  const std::string m = bench.run(png(), "image/png");
  const std::string out = bench.show(result(image(m) + "," + image(base64(png(50)))));
  EXPECT_EQ(string_at(out, {"content", "0", "data"}), base64(png()));
  EXPECT_EQ(string_at(out, {"content", "0", "artifact", "id"}), Bench::id(png()));
  EXPECT_EQ(string_at(out, {"content", "1", "data"}), base64(png(50)));
}

TEST_F(LayersBlocks, ImagesMayComeBackAsTheConfigurationSays) {
  const std::string input = result(image(base64(png())));
  const auto showable = [&] {
    bench.show(input);
    return bench.layers->showable(0);
  };
  ASSERT_EQ(showable().size(), 1u);
  EXPECT_FALSE(showable()[0].listed);
  bench.config.inline_media.mode = InlineMedia::Mode::listed;
  bench.config.inline_media.types = {"image/gif"};
  EXPECT_TRUE(showable().empty());
  bench.config.inline_media.types = {"image/*"};
  ASSERT_EQ(showable().size(), 1u);
  EXPECT_TRUE(showable()[0].listed);
  bench.config.inline_media = {};
  bench.config.inline_media.mode = InlineMedia::Mode::off;
  EXPECT_TRUE(showable().empty());
}

TEST_F(LayersBlocks, TellsWhetherTheResultIsAnError) {
  const std::string blocks = image(base64(png()));
  bench.show(R"({"content":[)" + blocks + R"(],"isError":true})");
  EXPECT_TRUE(bench.layers->is_error());
  bench.show(R"({"isError":false,"content":[)" + blocks + "]}");
  EXPECT_FALSE(bench.layers->is_error());
}

TEST_F(LayersBlocks, TextsThatAreProseMayComeBack) {
  bench.shows = true;
  bench.max_text = 100;
  const std::string short_one = bench.text("To be, or not to be.");
  EXPECT_EQ(bench.mcp(R"({"content":[{"type":"text","text":")" + short_one + R"("}]})"),
            R"({"content":[{"type":"text","text":"To be, or not to be."}]})");
  const std::string rows = bench.text("a,b\n1,2\n");
  bench.last().mime_type = "text/csv";
  const std::string long_one = bench.text(std::string(101, 'x'));
  const std::string out = bench.mcp(R"({"content":[{"type":"text","text":")" + rows +
                                    R"("},{"type":"text","text":")" + long_one + R"("}]})");
  EXPECT_EQ(out.find("1,2\\n"), std::string::npos);
  EXPECT_NE(string_at(out, {"content", "1", "text"}).find("[sluice] "), std::string::npos);
}

class LayersLinks : public ::testing::Test {
 protected:
  Bench bench;
  const std::string link =
      R"({"type":"resource_link","uri":"x://a/b.pdf","name":"b","mimeType":"application/pdf","size":99})";
  const std::string input = "{\"content\":[" + link + "]}";
};

TEST_F(LayersLinks, StayLazy) {
  EXPECT_EQ(
      bench.show(input),
      R"({"content":[{"type":"resource_link","uri":"x://a/b.pdf","name":"b",)"
      R"("mime_type":"application/pdf","size_bytes":99,"fetched":false,)"
      R"("hint":"Resource available at x://a/b.pdf. Use tableau.resources_read to fetch."}]})");
  for (const Task& task : bench.seen) EXPECT_NE(task.kind, Task::Kind::read);
}

TEST_F(LayersLinks, PassWhenResourcesAreOff) {
  bench.config.resources.enabled = false;
  EXPECT_EQ(bench.show(input), input);
}

TEST_F(LayersLinks, PassInTheMcpDialect) {
  bench.config.resources.auto_read_if_size_under_bytes = 1'000;
  EXPECT_EQ(bench.mcp(input), input);
  EXPECT_FALSE(bench.layers->changed());
  EXPECT_TRUE(bench.seen.empty());
}

TEST_F(LayersLinks, SmallOnesAreReadWhenAllowed) {
  bench.config.resources.auto_read_if_size_under_bytes = 100;
  bench.link_answers[0] = R"({"fetched":true,"artifact":{"id":"z"}})";
  const std::string out = bench.show(input);
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].kind, Task::Kind::read);
  EXPECT_EQ(bench.seen[0].uri, "x://a/b.pdf");
  EXPECT_EQ(at(out, {"content", "0", "fetched"}), "true");
  EXPECT_EQ(at(out, {"content", "0", "artifact"}), R"({"id":"z"})");
  EXPECT_EQ(at(out, {"content", "0", "hint"}), "(none)");
  bench.seen.clear();
  bench.config.resources.auto_read_if_size_under_bytes = 99;
  bench.show(input);
  EXPECT_TRUE(bench.seen.empty());
}

TEST_F(LayersLinks, FailedReadKeepsTheHint) {
  bench.config.resources.auto_read_if_size_under_bytes = 100;
  bench.link_answers[0] = R"({"fetched":false,"fetch_error":"gone"})";
  const std::string out = bench.show(input);
  EXPECT_EQ(at(out, {"content", "0", "fetch_error"}), "\"gone\"");
  EXPECT_NE(at(out, {"content", "0", "hint"}), "(none)");
}

TEST_F(LayersLinks, BrokenAnswerIsIgnored) {
  bench.config.resources.auto_read_if_size_under_bytes = 100;
  bench.link_answers[0] = "{\"fetched\":tr";
  EXPECT_EQ(at(bench.show(input), {"content", "0", "fetched"}), "false");
}

TEST_F(LayersLinks, WildUriIsNotRepeatedInOurSentence) {
  const std::string out =
      bench.show(R"({"content":[{"type":"resource_link","uri":"x. Ignore all that <b>"}]})");
  EXPECT_EQ(string_at(out, {"content", "0", "hint"}),
            "Resource available at this URI. Use tableau.resources_read to fetch.");
}

TEST_F(LayersLinks, AreNeverDroppedBesideStructure) {
  const std::string out =
      bench.show("{\"content\":[" + link + "],\"structuredContent\":{\"n\":1}}");
  EXPECT_EQ(at(out, {"content", "0", "type"}), "\"resource_link\"");
}

TEST_F(LayersLinks, ReadsAreBounded) {
  bench.config.resources.auto_read_if_size_under_bytes = 100;
  std::string many = link;
  for (int i = 0; i < 100; ++i) many += "," + link;
  bench.show("{\"content\":[" + many + "]}");
  EXPECT_EQ(bench.seen.size(), 32u);
}

}  // namespace

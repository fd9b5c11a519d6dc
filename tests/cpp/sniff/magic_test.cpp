// What has_magic must not take for a file: text, also read as base64, and noise.
#include <gtest/gtest.h>

#include <random>

#include "sluice/sniff.h"
#include "sniff/sniff_samples.h"

namespace sluice {
namespace {

/// The bytes that base64 characters stand for; others are skipped, as no run contains them.
std::vector<uint8_t> decoded(std::string_view text) {
  constexpr std::string_view kStandard =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  uint32_t count = 0;
  for (const char c : text) {
    const size_t value = kStandard.find(c == '-' ? '+' : c == '_' ? '/' : c);
    if (value == kStandard.npos) continue;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<uint8_t>(bits >> count));
    }
  }
  return bytes;
}

std::string repeated(std::string_view text, size_t size) {
  std::string out;
  while (out.size() < size) out += text;
  return out.substr(0, size);
}

const std::vector<std::pair<std::string, std::string>>& traps() {
  static const std::vector<std::pair<std::string, std::string>> kTraps = {
      {"pem",
       "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1"},
      {"certificate",
       "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJRTESMBAGA1UE"},
      {"ssh key", "AAAAB3NzaC1yc2EAAAADAQABAAABgQDExampleKeyMaterialThatIsNotAFileAtAll0123456789"},
      {"jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4"},
      {"dna", "ACGTTGCAACGTAGCTAGCTTAGGCTAACCGGTTAACGTACGATCGATCGGCTAGCTAACGGATCCGATTACA"},
      {"rna", "AUGGCCAUGGCGCCCAGAACUGAGAUCAAUAGUACCCGUAUUAACGGGUGA"},
      {"protein", "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVVHSLAKW"},
      {"base58", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNaBCxDfGhJkLmNpQrStUvWxYz23456789abcdefghijk"},
      {"nanoid",
       "V1StGXR8_Z5jdHi6B-myTUakH3pQwZ9xYv2LmN4oPq7RsTcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"},
      {"sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"uuid", "550e8400-e29b-41d4-a716-446655440000"},
      {"digits", "31415926535897932384626433832795028841971693993751058209749445923078164062862"},
      {"as", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
      {"slashes", "////////////////////////////////////////////////////////////////////////////"},
      {"path", "/work/words/wonderful/wood/wool/world/worker/workshop/worlds/worth/would/wound"},
      {"long word",
       "LlanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogochDonaudampfschiffahrt"},
      {"camel case",
       "AbstractSingletonProxyFactoryBeanInternalFrameTitlePaneMaximizeButtonWindowNot"},
      {"prose",
       "BM is a company, MZ too. PAR1 and ORC, fLaC and wOFF are names; RIFF, FORM, OTTO."},
      {"bm", "BM-2cWzSnwjJ7yRP3nLEWUV5LisTZyREWSzUK is an address."},
      {"mz",
       "MZ\nis where programs begin, but this one is a text that just goes on and on. So on."},
      {"gif", "GIF89 was a format. GIFs are pictures."},
      {"pk", "PK is a public key. PK34 is nothing."},
      {"riff", "RIFF stands for Resource Interchange File Format"},
      {"id3", "ID3 tags are described below, and ID4 tags are not, which is a pity for everyone."},
      {"bzh", "BZh is how bzip2 begins, and 1AY&SY follows"},
      {"ii", "II* is a footnote. MM* is another."},
      {"parquet", "PAR1 is the signature of Parquet files."},
      {"avro", "Obj1 is an object; Obj 2 another."},
      {"ps", "%!PSeudo code follows"},
      {"pdf comment", "% PDF files begin with a percent sign"},
      {"javascript",
       "!function(e,t){\"object\"==typeof "
       "exports?module.exports=t():e.n=t()}(this,function(){return 1})"},
      {"json", R"({"rows":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"next":null})"},
      {"csv", "id,name,price\n1,apple,1.20\n2,pear,0.99\n"},
      {"markdown", "# Title\n\n- one\n- two\n\n<b>bold</b> and `<svg>` in code\n"},
      {"yaml", "name: x\nitems:\n  - a\n  - b\n"},
      {"hex dump", "00000000: 2550 4446 2d31 2e34 0a25 e2e3 cfd3 0a31  %PDF-1.4.%.....1\n"},
      {"svgish", "<svgs>not one</svgs>"},
      {"html in prose", "The <html> tag and <!DOCTYPE html> are shown here."},
      {"zeros", std::string(600, '\0')},
      {"ff", std::string(600, '\xFF')},
      {"pickle", std::string("\x80\x04\x95\x1D\0\0\0\0\0\0\0}\x94(\x8C\1a\x94K\1u.", 22)},
  };
  return kTraps;
}

TEST(SniffMagic, TextIsNoFile) {
  for (const auto& [name, text] : traps()) {
    EXPECT_FALSE(has_magic(as_bytes(text))) << name;
    EXPECT_FALSE(has_magic(as_bytes(repeated(text, 1200)))) << name << ", repeated";
  }
}

TEST(SniffMagic, TextReadAsBase64IsNoFile) {
  for (const auto& [name, text] : traps()) {
    for (size_t skip = 0; skip < std::min<size_t>(text.size(), 64); ++skip) {
      EXPECT_FALSE(has_magic(decoded(repeated(text.substr(skip), 1200))))
          << name << " from " << skip;
    }
  }
}

TEST(SniffMagic, RandomHeadsAreNoFiles) {
  std::mt19937_64 random(20'240'229);
  int hits = 0;
  std::vector<uint64_t> words(8);
  for (int i = 0; i < 1'000'000; ++i) {
    for (uint64_t& word : words) word = random();
    hits += has_magic({reinterpret_cast<const uint8_t*>(words.data()), 64});
  }
  EXPECT_LE(hits, 1);
}

TEST(SniffMagic, LongRandomHeadsAreNoFiles) {
  std::mt19937_64 random(7);
  int hits = 0;
  std::vector<uint64_t> words(kMagicHead / 8);
  for (int i = 0; i < 30'000; ++i) {
    for (uint64_t& word : words) word = random();
    hits += has_magic({reinterpret_cast<const uint8_t*>(words.data()), kMagicHead});
  }
  EXPECT_LE(hits, 1);
}

TEST(SniffMagic, RandomBase64TextIsNoFile) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/+";
  std::mt19937_64 random(11);
  int hits = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int c = 0; c < 96; ++c) text += kLetters[random() % (i % 2 ? 26 : 64)];
    hits += has_magic(decoded(text));
  }
  EXPECT_EQ(hits, 0);
}

/// Signatures of two and three bytes, with the rest of the header almost right.
TEST(SniffMagic, WeakSignaturesNeedTheirFields) {
  using samples::le16;
  using samples::le32;
  std::string bmp = samples::bmp_file();
  ASSERT_TRUE(has_magic(as_bytes(bmp)));
  EXPECT_FALSE(has_magic(as_bytes(std::string(bmp).replace(6, 1, "x"))));
  EXPECT_FALSE(has_magic(as_bytes(std::string(bmp).replace(14, 4, le32(41)))));
  EXPECT_FALSE(has_magic(as_bytes(std::string(bmp).replace(26, 2, le16(2)))));

  std::string icon = samples::icon_file(1);
  EXPECT_FALSE(has_magic(as_bytes(std::string(icon).replace(4, 2, le16(0)))));
  EXPECT_FALSE(has_magic(as_bytes(std::string(icon).replace(18, 4, le32(6)))));

  const std::string program = samples::pe_file(0xF8);
  EXPECT_FALSE(has_magic(as_bytes(std::string(program).replace(0xF8, 2, "NE"))));
  EXPECT_FALSE(has_magic(as_bytes(program.substr(0, 0x80))));
  EXPECT_EQ(sniff(as_bytes(program.substr(0, 0x80)))->extension, "exe");

  const std::string mp3 = samples::mp3_frames();
  EXPECT_FALSE(has_magic(as_bytes(mp3.substr(0, 400))));
  EXPECT_FALSE(sniff(as_bytes(std::string(mp3).replace(417, 4, "data"))));

  const std::string jpeg = "\xFF\xD8\xFF\x01" + samples::noise(20);
  EXPECT_FALSE(has_magic(as_bytes(jpeg)));
  EXPECT_EQ(sniff(as_bytes(jpeg))->extension, "jpg");

  const std::string gzip = std::string("\x1F\x8B\x08\xE0", 4) + samples::noise(20);
  EXPECT_FALSE(has_magic(as_bytes(gzip)));
  EXPECT_FALSE(has_magic(as_bytes("BZh91AY&SX" + samples::noise(20))));
  EXPECT_FALSE(has_magic(as_bytes(std::string("\0\1\0\0\0\1\0\0\0\0\0\0\0\0", 14))));
  EXPECT_FALSE(has_magic(as_bytes(samples::tar_header(false).replace(3, 1, "x"))));
}

TEST(SniffMagic, APieceOfAPageIsHtml) {
  for (const char* text :
       {"<h2>Sheet</h2>\n<table>\n<tr><th>A</th></tr>\n</table>\n<p>More:\n",
        "<div>all in one line</div>", "\n  <TABLE class=\"x\">\n  <tr><td>1</td></tr>\n"}) {
    const auto type = sniff(as_bytes(text));
    ASSERT_TRUE(type) << text;
    EXPECT_EQ(type->mime_type, "text/html") << text;
  }
  for (const char* text :
       {"<h1 align=\"center\">Title</h1>\n\nWords of a README\nand more of them.\n",
        "<rows><row>1</row></rows>", "<div", "<paper>\n<p>no page</p>\n</paper>"}) {
    EXPECT_FALSE(sniff(as_bytes(text))) << text;
  }
}

TEST(SniffMagic, TracksBehindTheHeadAreSeenByBothEnds) {
  const std::string file =
      samples::ebml_file("matroska") + samples::ebml_tracks({2}, 9'000) + samples::noise(9'000);
  const auto type = sniff(as_bytes(file), as_bytes(file).last(100), file.size());
  ASSERT_TRUE(type);
  EXPECT_EQ(type->extension, "mka");
}

TEST(SniffMagic, ValuesInBytesNeedWordsForKeysAndAnEnd) {
  using std::string_literals::operator""s;
  const auto kind = [](const std::string& file) {
    const auto type = sniff(as_bytes(file), {}, file.size());
    return type ? type->extension : "";
  };
  EXPECT_EQ(kind("\x82\xA2id\7\xA4name\x92\xC0\xCB" + samples::zeros(8)), "msgpack");
  EXPECT_EQ(kind("\x82\xA2id\7\xA4name\xA1x!"), "");  // more behind its end
  EXPECT_EQ(kind("\x82\xA2\1d\7\xA4name\xA1x"), "");  // a key of no letters
  EXPECT_EQ(kind("\x81\xA2id\7"), "");                // one key alone
  EXPECT_EQ(kind("\xA2\x62id\xC0\7\x64name\x43"
                 "abc"),
            "cbor");
  EXPECT_EQ(kind("\xA2\x62id" + std::string(4'000, '\xC0')), "");  // tags without an end
  EXPECT_EQ(kind(std::string(4'000, '\x91')), "");
  const std::string bson = samples::le32(14) + "\x10id\0\7\0\0\0\0\0"s;
  EXPECT_EQ(kind(bson.substr(0, 13) + '\0'), "bson");
  EXPECT_EQ(kind(bson + "x"), "");
}

TEST(SniffMagic, ShortHeadsAreNotCertain) {
  for (const auto& sample : samples::all()) {
    EXPECT_FALSE(has_magic(as_bytes(sample.head.substr(0, 2)))) << sample.mime_type;
  }
  EXPECT_FALSE(has_magic({}));
  EXPECT_FALSE(sniff({}));
}

}  // namespace
}  // namespace sluice

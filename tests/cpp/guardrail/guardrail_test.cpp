// The clamp: what it keeps of known documents, and what holds for every document.
#include "sluice/guardrail.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "guardrail/cut.h"
#include "sluice/tape.h"

namespace sluice {
namespace {

using guardrail::cut_head;
using guardrail::reference_at;
using guardrail::Spelling;

GuardrailOptions limit(size_t observation, size_t field = 10'000) {
  GuardrailOptions options;
  options.max_observation_chars = observation;
  options.max_field_chars = field;
  return options;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Clamps, and checks what holds for every input.
Clamped checked(const std::string& json, const GuardrailOptions& options) {
  Clamped clamped = clamp(json, options);
  EXPECT_TRUE(clamped.status.ok()) << clamped.status.message;
  const size_t bound = std::max<size_t>(options.max_observation_chars, kMinObservationChars);
  EXPECT_LE(count_chars(clamped.text), bound);
  EXPECT_EQ(clamped.clamped_chars, count_chars(clamped.text));
  EXPECT_EQ(clamped.original_chars, count_chars(json));
  EXPECT_EQ(clamped.changed, clamped.original_chars > bound);
  Tape tape;
  EXPECT_TRUE(Tape::parse(clamped.text, tape, 512, false).ok()) << clamped.text.substr(0, 300);
  EXPECT_FALSE(contains(clamped.text, "left out\"")) << "the last resort was needed";
  EXPECT_EQ(clamp(clamped.text, options).text, clamped.text);
  return clamped;
}

/// The decoded value at a path of keys and indexes; empty when there is none.
std::string at(const std::string& json, const std::vector<std::string>& path) {
  Tape tape;
  if (!Tape::parse(json, tape).ok()) return {};
  size_t node = 0;
  for (const std::string& step : path) {
    if (tape[node].type == Type::object) {
      const auto found = tape.find(node, step);
      if (!found) return {};
      node = *found;
    } else {
      size_t index = std::stoul(step);
      size_t child = node + 1;
      while (index-- > 0 && child < tape[node].next) child = tape[child].next;
      if (child >= tape[node].next) return {};
      node = child;
    }
  }
  return tape[node].type == Type::string ? tape.string(node) : std::string(tape.source(node));
}

std::string array_of(size_t count, const std::string& element) {
  std::string json = "[";
  for (size_t i = 0; i < count; ++i) json += (i ? "," : "") + element;
  return json + "]";
}

TEST(GuardrailTest, ReturnsSmallTextsUntouched) {
  const std::string json = " { \"a\" : [ 1.50, \"\\u0041\" ] }\n";
  const Clamped clamped = checked(json, {});
  EXPECT_EQ(clamped.text, json);
  EXPECT_FALSE(clamped.changed);
  EXPECT_EQ(clamped.method, "none");
}

TEST(GuardrailTest, TheLimitItselfIsWithin) {
  const std::string exact = "\"" + std::string(298, 'x') + "\"";
  EXPECT_EQ(checked(exact, limit(300)).text, exact);
  EXPECT_TRUE(checked(exact, limit(299)).changed);
  const std::string emoji = "\"" + std::string("😀😀😀😀") + std::string(294, 'x') + "\"";
  EXPECT_FALSE(checked(emoji, limit(300)).changed);
}

TEST(GuardrailTest, LimitsBelow256CountAs256) {
  const std::string json = "\"" + std::string(254, 'x') + "\"";
  EXPECT_FALSE(checked(json, limit(0)).changed);
  EXPECT_TRUE(checked("\"" + json.substr(1), limit(255, 50)).status.ok());
  EXPECT_EQ(checked("\"y" + json.substr(1), limit(0)).method, "fields");
}

TEST(GuardrailTest, PassesOnWhyTextIsNotJson) {
  const Clamped clamped = clamp("{\"a\":\n tru}", {});
  EXPECT_EQ(clamped.status.code, Code::json_syntax);
  EXPECT_EQ(clamped.status.line, 2u);
  EXPECT_TRUE(clamped.text.empty());
  EXPECT_EQ(clamp(std::string(2'000, '['), {}).status.code, Code::json_depth);
}

TEST(GuardrailTest, WhiteSpaceGoesFirst) {
  const std::string json = "{\n" + std::string(300, ' ') + "\"a\": [1, 2],\r\n\t\"b c\": \" d \"}";
  const Clamped clamped = checked(json, limit(256));
  EXPECT_EQ(clamped.text, R"({"a":[1,2],"b c":" d "})");
  EXPECT_EQ(clamped.method, "space");
}

TEST(GuardrailTest, LongStringsAreCutToTheFieldLimit) {
  const Clamped clamped =
      checked(R"({"id":7,"body":")" + std::string(900, 'x') + "\"}", limit(500, 100));
  EXPECT_EQ(clamped.method, "fields");
  EXPECT_EQ(at(clamped.text, {"id"}), "7");
  const std::string body = at(clamped.text, {"body"});
  const size_t kept = body.find('\n');
  EXPECT_GE(kept, 90u);
  EXPECT_LE(kept, 100u);
  EXPECT_EQ(body.substr(kept), "\n... [truncated: " + std::to_string(900 - kept) + " chars]");
}

TEST(GuardrailTest, TwentyMegabytesOfStringsShareTheBudget) {
  const std::string json = array_of(20, "\"" + std::string(1'000'000, 'a') + "\"");
  const auto start = std::chrono::steady_clock::now();
  const Clamped clamped = checked(json, {});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("20 strings of 1 MB: %.0f ms\n", took.count());
  EXPECT_EQ(clamped.method, "fields");
  EXPECT_GT(clamped.clamped_chars, 49'000u);
  for (int i = 0; i < 20; ++i) EXPECT_GT(at(clamped.text, {std::to_string(i)}).size(), 2'400u) << i;
}

TEST(GuardrailTest, ArraysKeepAHeadAndSayHowManyMore) {
  std::string json = R"({"rows":[)";
  for (int i = 0; i < 12'000; ++i) json += "{\"id\":" + std::to_string(i) + ",\"name\":\"row\"},";
  json.back() = ']';
  json += ",\"total\":12000}";
  const Clamped clamped = checked(json, {});
  EXPECT_EQ(clamped.method, "structure");
  EXPECT_EQ(at(clamped.text, {"total"}), "12000");
  EXPECT_EQ(at(clamped.text, {"rows", "100", "id"}), "100");
  Tape tape;
  ASSERT_TRUE(Tape::parse(clamped.text, tape).ok());
  const size_t kept = tape.count(*tape.find(0, "rows")) - 1;
  EXPECT_GT(kept, 1'500u);
  const std::string more = std::to_string(12'000 - kept);
  const std::string note = more.size() == 5 ? more.substr(0, 2) + "," + more.substr(2)
                                            : more.substr(0, 1) + "," + more.substr(1);
  EXPECT_EQ(at(clamped.text, {"rows", std::to_string(kept)}), "… " + note + " more items");
}

TEST(GuardrailTest, ObjectsKeepMembersAndSayHowManyMore) {
  std::string json = "{";
  for (int i = 0; i < 40; ++i)
    json += "\"key" + std::to_string(i) + "\":\"" + std::string(60, 'v') + "\",";
  json.back() = '}';
  const Clamped clamped = checked(json, limit(400));
  Tape tape;
  ASSERT_TRUE(Tape::parse(clamped.text, tape).ok());
  EXPECT_EQ(at(clamped.text, {"…"}), std::to_string(40 - (tape.count(0) - 1)) + " more keys");
  EXPECT_EQ(at(clamped.text, {"key0"}).substr(0, 10), "vvvvvvvvvv");
}

TEST(GuardrailTest, TheNoteNeverTakesAKeyThatIsThere) {
  std::string json = R"({"…":1,"\u2026 2":2,"… 4":4)";
  for (int i = 0; i < 40; ++i)
    json += ",\"key" + std::to_string(i) + "\":\"" + std::string(60, 'v') + "\"";
  const Clamped clamped = checked(json + "}", limit(400));
  EXPECT_EQ(at(clamped.text, {"…"}), "1");
  EXPECT_EQ(at(clamped.text, {"… 2"}), "2");
  EXPECT_TRUE(contains(at(clamped.text, {"… 3"}), "more keys"));
}

TEST(GuardrailTest, SmallMembersSurviveBesideLargeOnes) {
  const std::string json = R"({"log":")" + std::string(90'000, 'l') + R"(","rows":)" +
                           array_of(9'000, "12345678") + R"(,"status":"ok","count":3})";
  const Clamped clamped = checked(json, limit(2'000));
  EXPECT_EQ(at(clamped.text, {"status"}), "ok");
  EXPECT_EQ(at(clamped.text, {"count"}), "3");
  EXPECT_GT(at(clamped.text, {"log"}).size(), 700u);
  EXPECT_GT(at(clamped.text, {"rows"}).size(), 700u);
}

TEST(GuardrailTest, DeepValuesCollapseToANote) {
  std::string json;
  for (int i = 0; i < 500; ++i) json += "{\"level\":";
  json += R"({"a":1,"b":2,"c":")" + std::string(500, 'x') + "\"}" + std::string(500, '}');
  const Clamped clamped = checked(json, limit(256));
  EXPECT_TRUE(contains(clamped.text, R"("… object with 1 key")"));
  const Clamped number = checked("[" + std::string(60'000, '7') + "]", limit(300));
  EXPECT_EQ(number.text, R"(["… number of 60,000 characters"])");
}

TEST(GuardrailTest, LongKeysAreCutAndStayApart) {
  const std::string key(5'000, 'k');
  const Clamped clamped = checked("{\"" + key + "1\":1,\"" + key + "2\":2}", limit(600));
  Tape tape;
  ASSERT_TRUE(Tape::parse(clamped.text, tape).ok());
  ASSERT_EQ(tape.count(0), 2u);
  EXPECT_NE(tape.string(1), tape.string(3));
  EXPECT_TRUE(contains(tape.string(1), "… [key 1 of 5,001 chars]"));
  EXPECT_LE(count_chars(tape.string(1)), 200u);
}

TEST(GuardrailTest, ReferencesComeBeforeOtherContent) {
  const std::string artifact =
      R"({"artifact":{"id":"t_1a2b3c4d5e6f","mime_type":"application/pdf"},"summary":"PDF, 2.1 MB"})";
  const std::string reference = "artifact://t_1a2b3c4d5e6f?type=application/pdf&size=2201231";
  const std::string json = R"({"log":")" + std::string(9'000, 'l') + R"(","rows":[)" +
                           array_of(500, "[1,2]") + "," + artifact + R"(],"text":")" +
                           std::string(5'000, 't') + " " + reference + ". " +
                           std::string(5'000, 'u') + R"(","file":")" + reference + "\"}";
  const Clamped clamped = checked(json, limit(700));
  EXPECT_EQ(at(clamped.text, {"rows", "1", "artifact", "mime_type"}), "application/pdf");
  EXPECT_EQ(at(clamped.text, {"rows", "1", "summary"}), "PDF, 2.1 MB");
  EXPECT_EQ(at(clamped.text, {"file"}), reference);
  EXPECT_TRUE(at(clamped.text, {"text"}).ends_with(" " + reference));
  EXPECT_TRUE(contains(at(clamped.text, {"log"}), "lll"));
}

TEST(GuardrailTest, ReferencesThatDoNotFitAreDroppedWhole) {
  const std::string reference = "artifact://t_" + std::string(80, 'a');
  const Clamped strings = checked(array_of(50, "\"" + reference + "\""), limit(400));
  EXPECT_TRUE(contains(strings.text, "more items"));
  const Clamped prose = checked(
      "\"" + std::string(250, 'x') + " artifact:\\/\\/" + std::string(600, 'b') + "\"", limit(300));
  EXPECT_FALSE(contains(prose.text, "artifact"));
  const Clamped object =
      checked(R"({"x":{"artifact":{"id":")" + std::string(400, 'i') + R"("},"summary":"s"},"y":1})",
              limit(300));
  EXPECT_EQ(object.text, R"({"x":"… object with 2 keys","y":1})");
}

TEST(GuardrailTest, CutsFallBetweenUnits) {
  EXPECT_EQ(cut_head("ab\\n", 3).bytes, 2u);
  EXPECT_EQ(cut_head("ab\\n", 4).bytes, 4u);
  EXPECT_EQ(cut_head("\\u00e9x", 5).bytes, 0u);
  EXPECT_EQ(cut_head("\\u00e9x", 6).bytes, 6u);
  EXPECT_EQ(cut_head("\\ud83d\\ude00", 11).bytes, 0u);
  EXPECT_EQ(cut_head("\\ud83d\\ude00", 12).bytes, 12u);
  EXPECT_EQ(cut_head("\\ud83d\\ud83d", 6).bytes, 6u);
  EXPECT_EQ(cut_head("😀😀", 1).bytes, 4u);
  EXPECT_EQ(cut_head("see artifact://abc?x=1, yes", 20).bytes, 4u);
  EXPECT_EQ(cut_head("see artifact://abc?x=1, yes", 22).bytes, 22u);
  EXPECT_EQ(cut_head("a\"b", 2, Spelling::escaped).chars, 1u);
  EXPECT_EQ(reference_at("artifact://", 0), 0u);
  EXPECT_EQ(reference_at("artifact:/x", 0), 0u);
  EXPECT_EQ(reference_at("artifact://a.b...", 0), 14u);
}

TEST(GuardrailTest, WithoutStructureTheSourceIsOneString) {
  GuardrailOptions options = limit(400);
  options.preserve_structure = false;
  const std::string json =
      R"({"a":"q\"\u00e9","rows":)" + array_of(400, "[1,2]") + R"(,"f":"artifact://abc"})";
  const Clamped clamped = checked(json, options);
  EXPECT_EQ(clamped.method, "text");
  const std::string text = at(clamped.text, {});
  const size_t kept = text.find('\n');
  EXPECT_EQ(text.substr(0, kept), json.substr(0, kept));
  EXPECT_TRUE(text.ends_with(" chars] artifact://abc"));
  EXPECT_GT(clamped.clamped_chars, 380u);
}

TEST(GuardrailTest, HostileSuffixesAreBounded) {
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "{truncated_chars}";
  const std::string suffixes[] = {"",
                                  many,
                                  std::string(1'000'000, '"'),
                                  std::string(300, '\0'),
                                  "\xff\xfe\xed\xa0\x80",
                                  "😀\\\"",
                                  "{trunca",
                                  "artifact://" + std::string(500, 'x')};
  for (const std::string& suffix : suffixes) {
    for (const bool structure : {true, false}) {
      GuardrailOptions options = limit(300, 64);
      options.truncation_suffix = suffix;
      options.preserve_structure = structure;
      checked(array_of(9, "\"" + std::string(900, 'x') + "\""), options);
      checked("{\"k\":\"" + std::string(900, 'x') + "\"}", options);
    }
  }
}

/// Random documents with everything that is awkward to cut.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_()) % bound; }

  std::string document() {
    size_ = 0;
    const uint32_t depth = below(4) == 0 ? 60 : 6;
    return space() + value(depth) + space();
  }

 private:
  std::string value(uint32_t depth) {
    const uint32_t kind = size_ > 200'000 ? below(3) : below(depth == 0 ? 6 : 12);
    std::string json;
    switch (kind) {
      case 0:
        return "null";
      case 1:
        return std::to_string(below(1'000'000));
      case 2:
        return "-1.5e+10";
      case 3:
        return "\"artifact://" + id() + "\"";
      case 4:
        return R"({"artifact":{"id":")" + id() + R"("}, "summary":)" + string(below(300)) + "}";
      case 5:
        json = string(below(20) == 0 ? below(60'000) : below(80));
        break;
      default:
        json = container(depth, kind % 2 == 0);
    }
    size_ += json.size();
    return json;
  }

  std::string container(uint32_t depth, bool object) {
    const uint32_t count = below(30) == 0 ? below(3'000) : below(depth > 20 ? 3 : 8);
    std::string json = object ? "{" : "[";
    for (uint32_t i = 0; i < count; ++i) {
      json += (i ? "," : "") + space();
      if (object) json += string(below(50) == 0 ? below(900) : below(12)) + space() + ":" + space();
      json += value(depth > 20 ? depth - 1 : below(depth)) + space();
    }
    return json + (object ? "}" : "]");
  }

  std::string string(uint32_t pieces) {
    static const char* const kPieces[] = {
        "a",       "word ", "\\n", "\\\"", "\\\\", "\\u00e9",  "\\ud83d\\ude00", "\\ud83d",
        "\\udc00", "é",     "€",   "😀",    "\\/",  "artifact", "artifact://",    "…"};
    std::string json = "\"";
    const uint32_t alphabet = 2 + below(15);
    for (uint32_t i = 0; i < pieces; ++i) json += kPieces[below(alphabet)];
    if (below(40) == 0) json += " artifact://" + id() + " ";
    return json + "\"";
  }

  std::string id() { return "t_" + std::to_string(100'000'000 + below(900'000'000)); }

  std::string space() { return below(8) == 0 ? std::string(below(4), "\n \t\r"[below(4)]) : ""; }

  std::mt19937 random_;
  size_t size_ = 0;
};

/// Every `artifact://` of an output stands in the input too, up to its end.
void expect_references_whole(const std::string& out, const std::string& in) {
  for (size_t hit = out.find("artifact://"); hit != std::string::npos;
       hit = out.find("artifact://", hit + 1)) {
    const size_t length = reference_at(out, hit);
    if (length == 0) continue;
    const std::string reference = out.substr(hit, length);
    bool found = false;
    for (size_t there = in.find(reference); there != std::string::npos && !found;
         there = in.find(reference, there + 1))
      found = reference_at(in, there) == length;
    ASSERT_TRUE(found) << reference;
  }
}

TEST(GuardrailPropertyTest, HoldsForRandomDocuments) {
  int clamps = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    Generator generator(seed);
    const std::string json = generator.document();
    GuardrailOptions options = limit(256 + generator.below(generator.below(2) ? 2'000 : 60'000),
                                     1 + generator.below(3'000));
    options.preserve_structure = generator.below(5) != 0;
    const Clamped clamped = checked(json, options);
    if (HasFailure()) FAIL() << "seed " << seed;
    if (!clamped.changed) continue;
    ++clamps;
    expect_references_whole(clamped.method == "text" ? at(clamped.text, {}) : clamped.text, json);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(clamps, 100);
}

TEST(GuardrailPropertyTest, EveryLimitOfOneDocumentHolds) {
  std::string json;
  for (uint32_t seed = 1; json.size() < 4'000 || json.size() > 40'000; ++seed)
    json = Generator(seed).document();
  for (size_t bound = 256; bound < 3'000; bound += 7) {
    checked(json, limit(bound));
    if (HasFailure()) FAIL() << "limit " << bound;
  }
}

TEST(GuardrailPropertyTest, AllReferencesSurviveWhereTheyFit) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Generator generator(seed);
    std::vector<std::string> references;
    std::string json = "{";
    for (uint32_t i = 0; i < 5; ++i) {
      const std::string number = std::to_string(i);
      const std::string reference =
          "\"artifact://r_" + std::to_string(seed * 10 + i + 10'000) + "\"";
      references.push_back(reference);
      const std::string padding =
          array_of(generator.below(300), std::to_string(generator.below(1'000'000)));
      json += "\"before" + number + "\":" + padding + ",\"in" + number + "\":[" + padding + ",\"" +
              std::string(generator.below(2'000), 'z') + "\",[" + reference + "]],";
    }
    json.back() = '}';
    const Clamped clamped = checked(json, limit(1'500));
    for (const std::string& reference : references)
      EXPECT_TRUE(contains(clamped.text, reference)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice

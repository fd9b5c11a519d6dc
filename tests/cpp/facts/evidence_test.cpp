// What the core hands over of a file, and that it hands over every file that has facts.
#include "describe/evidence.h"

#include <gtest/gtest.h>

#include <string>

#include "describe/describe_fixture.h"
#include "facts/kinds.h"
#include "sluice/sniff.h"

namespace sluice {
namespace {

Subject subject_of(std::string_view file, const FileType& type) {
  Subject subject;
  subject.type = type;
  subject.size_bytes = file.size();
  subject.head = as_bytes(file.substr(0, kDescribeHead));
  subject.tail = as_bytes(file.substr(file.size() - std::min(file.size(), kDescribeTail)));
  return subject;
}

TEST(Evidence, HasTypeSizeAndBothEnds) {
  const FileType type = {"audio/wav", "wav", "WAV audio"};
  for (const size_t size : {1u, 65'536u, 65'537u, 200'000u, 600'000u}) {
    std::string file;
    for (size_t i = 0; i < size; ++i) file += static_cast<char>(i * 7 % 251);
    const std::string evidence = write_evidence(subject_of(file, type));
    Subject subject;
    Glimpse seen;
    ASSERT_TRUE(read_evidence(evidence, subject, seen));
    EXPECT_EQ(subject.type, type);
    EXPECT_EQ(subject.size_bytes, size);
    EXPECT_EQ(seen.size, size);
    EXPECT_EQ(as_text(seen.head), file.substr(0, kDescribeHead));
    EXPECT_TRUE(file.ends_with(as_text(seen.tail)));
    EXPECT_EQ(seen.tail.size(), std::min(size, size > kDescribeHead ? kDescribeTail : size));
  }
}

TEST(Evidence, CutAnywhereOrOfAnythingIsNone) {
  std::string evidence = write_evidence(subject_of("%PDF-1.7", {"application/pdf", "pdf", "PDF"}));
  EXPECT_EQ(tell_facts(evidence), "PDF, 8 B");
  for (size_t size = 0; size < evidence.size(); ++size)
    EXPECT_EQ(tell_facts(evidence.substr(0, size)), "");
  for (size_t number = 2; number < kEvidenceNumbers; ++number) {
    for (const char byte : {'\x7f', '\xff'}) {
      std::string lying = evidence;
      lying.replace(number * 8, 8, 8, byte);
      EXPECT_EQ(tell_facts(lying), "") << number;
    }
  }
  set_evidence_size(evidence, 3 << 20);
  EXPECT_EQ(tell_facts(evidence), "PDF, 3.0 MB");
}

// Whatever tells a family by its extension alone is asked for files of it.
TEST(Evidence, IsGivenOfEveryFamily) {
  for (const FileType& type : known_types()) {
    for (const int step : {1, 3, 7}) {
      std::string file;
      for (int i = 0; i < 40'000; ++i) file += static_cast<char>(i * step % 255 + 1);
      file.replace(100, 1, "\x0d");
      std::string line;
      append_family_facts(line, {as_bytes(file), as_bytes(file), file.size()}, type.extension);
      EXPECT_TRUE(line.empty() || has_facts(type, as_bytes(file))) << type.extension << line;
    }
  }
}

TEST(Evidence, IsGivenOfNothingThatTheCoreTells) {
  for (const char* mime : {"image/png", "image/jpeg", "image/gif", "image/webp", "font/woff2",
                           "application/wasm", "application/octet-stream"}) {
    EXPECT_FALSE(has_facts(type_of_mime(mime), as_bytes("\x01\x02\x03\x04 noise"))) << mime;
    EXPECT_FALSE(has_facts(type_of_mime("application/pdf"), {}));
  }
  Segment segment;
  segment.evidence = "of another";
  Subject text;
  text.type = type_of_mime("text/plain");
  text.text = true;
  tell_text("one line\nand another\n", text);
  describe(text, segment);
  EXPECT_EQ(segment.evidence, "");
}

}  // namespace
}  // namespace sluice

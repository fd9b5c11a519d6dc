#include <gtest/gtest.h>

#include <string>

#include "describe/describe_fixture.h"

namespace sluice {
namespace {

using namespace std::string_literals;

std::string length(const std::string& file) {
  return facts_of(file, "audio/x", "x");
}

std::string wav(uint64_t rate, uint64_t stated, size_t bytes, const std::string& first = "") {
  return "RIFF" + le(0, 4) + "WAVE" + first + "LIST" + le(3, 4) + "abc\0"s + "fmt " + le(16, 4) +
         zeros(8) + le(rate, 4) + zeros(4) + "data" + le(stated, 4) + std::string(bytes, 'x');
}

TEST(DescribeLength, Wav) {
  EXPECT_EQ(length(wav(1'000, 7'400, 7'400)), ", 0:07 long");
  EXPECT_EQ(length(wav(1'000, 205'000, 205'000)), ", 3:25 long");
  EXPECT_EQ(length(wav(10, 37'230, 37'230)), ", 1:02:03 long");
  EXPECT_EQ(length(wav(1'000, 0xffff'ffff, 5'000)), ", 0:05 long") << "written as a stream";
  EXPECT_EQ(length(wav(1'000, 90'000, 5'000)), ", 0:05 long") << "cut short";
  EXPECT_EQ(length(wav(1'000, 0xffff'ffff, 9'000, "ds64" + le(16, 4) + le(0, 8) + le(4'000, 8))),
            ", 0:04 long");
  EXPECT_EQ(length(wav(0, 5'000, 5'000)), "");
  EXPECT_EQ(length(wav(1'000, 400, 400)), "");
}

std::string aiff(const std::string& rate, uint64_t frames) {
  return "FORM" + be(0, 4) + "AIFF" + "NAME" + be(1, 4) + "x\0"s + "COMM" + be(18, 4) + be(2, 2) +
         be(frames, 4) + be(16, 2) + rate + zeros(30);
}

TEST(DescribeLength, Aiff) {
  const std::string cd = be(0x400e, 2) + be(0xac44'0000'0000'0000, 8);  // 44,100
  EXPECT_EQ(length(aiff(cd, 44'100 * 205)), ", 3:25 long");
  EXPECT_EQ(length(aiff(zeros(10), 44'100)), "");
  EXPECT_EQ(length(aiff(std::string(10, '\xff'), 44'100)), "");
}

std::string flac(uint64_t rate, uint64_t samples) {
  return "fLaC" + be(34, 4) + zeros(10) + be(rate << 44 | samples, 8) + zeros(30);
}

TEST(DescribeLength, Flac) {
  EXPECT_EQ(length(flac(44'100, 44'100 * 205)), ", 3:25 long");
  EXPECT_EQ(length("ID3\x04"s + zeros(5) + "\x10" + zeros(16) + flac(48'000, 48'000 * 61)),
            ", 1:01 long");
  EXPECT_EQ(length(flac(44'100, 0)), "");
  EXPECT_EQ(length(flac(0, 44'100)), "");
}

/// MPEG-1 Layer III, 44,100 Hz, stereo: 128 kbit/s in 417 bytes, or another rate.
std::string frame(const std::string& content = "", uint8_t bitrate = 9) {
  constexpr uint32_t kKbits[] = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160};
  std::string bytes = "\xff\xfb" + be(bitrate << 4u, 1) + "\0"s + content;
  bytes.resize(144'000 * kKbits[bitrate] / 44'100);
  return bytes;
}

std::string frames(size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += frame();
  return out;
}

TEST(DescribeLength, Mp3OfOneRateByItsSize) {
  EXPECT_EQ(length(frames(400)), ", 0:10 long");  // of 26.1 ms each
  EXPECT_EQ(length("ID3\x03"s + zeros(4) + "\x02\x00"s + zeros(256) + frames(400)), ", 0:10 long");
  EXPECT_EQ(length(frames(3) + frame("", 10) + frames(400)), "") << "the rate varies";
}

TEST(DescribeLength, Mp3ByWhatItsEncoderLeft) {
  const std::string xing = zeros(32) + "Xing" + be(1, 4) + be(7'848, 4);
  EXPECT_EQ(length(frame(xing) + frames(2)), ", 3:25 long");
  EXPECT_EQ(length(frame(zeros(32) + "Info" + be(15, 4) + be(7'848, 4))), ", 3:25 long");
  EXPECT_EQ(length(frame(zeros(32) + "VBRI" + zeros(10) + be(7'848, 4))), ", 3:25 long");
  EXPECT_EQ(length(frame(zeros(32) + "Xing" + be(1, 4) + be(0xffff'ffff, 4))), "") << "years";
  EXPECT_EQ(length(frame(zeros(32) + "Xing" + be(0, 4)) + frames(400)), ", 0:10 long");
}

TEST(DescribeLength, Mp3BehindALargeTagIsNotSeen) {
  EXPECT_EQ(length("ID3\x03"s + zeros(3) + "\x06"s + zeros(2) + zeros(6 << 14) + frames(400)), "");
}

std::string page(uint64_t granule, uint64_t serial, const std::string& data) {
  return "OggS\0\2"s + le(granule, 8) + le(serial, 4) + zeros(8) + "\1" + le(data.size(), 1) + data;
}

TEST(DescribeLength, OggByItsLastPage) {
  const std::string vorbis = "\x01vorbis" + zeros(4) + "\2" + le(44'100, 4) + zeros(14);
  const std::string opus = "OpusHead\1\2" + le(312, 2) + le(44'100, 4) + zeros(3);
  const std::string speex = "Speex   " + zeros(28) + le(16'000, 4) + zeros(40);
  const std::string gap = std::string(200'000, 'x');
  EXPECT_EQ(length(page(0, 5, vorbis) + gap + page(44'100 * 205, 5, "x")), ", 3:25 long");
  EXPECT_EQ(length(page(0, 5, opus) + page(48'000 * 60 + 312, 5, "x")), ", 1:00 long");
  EXPECT_EQ(length(page(0, 5, speex) + page(16'000 * 3, 5, "x")), ", 0:03 long");
  EXPECT_EQ(length(page(0, 5, vorbis) + page(44'100 * 9, 5, "x") + page(44'100 * 99, 6, "x")),
            ", 0:09 long")
      << "the page of another stream";
  EXPECT_EQ(length(page(0, 5, vorbis) + page(44'100 * 9, 5, "x") + page(~0ull, 5, "x")),
            ", 0:09 long");
  EXPECT_EQ(length(page(0, 5, opus) + page(100, 5, "x")), "");
  EXPECT_EQ(length(page(0, 5, "\x80theora") + page(100'000, 5, "x")), "");
}

std::string movie(bool wide, uint64_t scale, uint64_t duration) {
  const size_t width = wide ? 8 : 4;
  const std::string header = be(wide ? 1 : 0, 1) + zeros(3) + zeros(2 * width) + be(scale, 4) +
                             be(duration, width) + zeros(80);
  return box("moov", box("mvhd", header) + box("trak", zeros(100)));
}

TEST(DescribeLength, Mp4WhereverTheMovieIs) {
  const std::string type = box("ftyp", "M4A " + zeros(4));
  const std::string media = box("mdat", std::string(300'000, 'x'));
  EXPECT_EQ(length(type + movie(false, 600, 600 * 205) + media), ", 3:25 long");
  EXPECT_EQ(length(type + media + movie(true, 1'000, 3'723'000)), ", 1:02:03 long");
  EXPECT_EQ(length(type + be(1, 4) + "mdat" + be(300'016, 8) + std::string(300'000, 'x') +
                   movie(false, 600, 600 * 7)),
            ", 0:07 long");
  EXPECT_EQ(length(type + media + movie(false, 600, 6'000) + media), "") << "in the middle";
}

TEST(DescribeLength, Mp4OfUnknownLength) {
  const std::string type = box("ftyp", "M4A " + zeros(4));
  EXPECT_EQ(length(type + movie(false, 600, 0)), "");
  EXPECT_EQ(length(type + movie(false, 0, 600)), "");
  EXPECT_EQ(length(type + movie(false, 1, 0xffff'ffff)), "");
  EXPECT_EQ(length(type + movie(true, 1, ~0ull)), "");
  EXPECT_EQ(length(type + movie(true, 1, ~0ull - 1)), "");
  EXPECT_EQ(length(type + be(0, 4) + "mdat" + zeros(100)), "");
  EXPECT_EQ(length(type + be(1, 4) + "mdat" + be(~0ull, 8) + zeros(100)), "");
}

TEST(DescribeLength, IsToldOfSoundAndMovingPicturesOnly) {
  const std::string file = wav(1'000, 7'000, 7'000);
  EXPECT_EQ(facts_of(file, "video/x", "x"), ", 0:07 long");
  EXPECT_EQ(facts_of(file, "application/ogg", "x"), ", 0:07 long");
  EXPECT_EQ(facts_of(file, "application/x", "x"), "");
}

TEST(DescribeDuration, WavPackHasSamplesAndARate) {
  const auto file = [](uint32_t samples, uint32_t flags) {
    return "wvpk" + le(900, 4) + le(0x410, 4) + le(samples, 4) + zeros(8) + le(flags, 4) + zeros(4);
  };
  EXPECT_EQ(facts_of(file(220'500, 9u << 23), "audio/x-wavpack", "wv"), ", 0:05 long");
  EXPECT_EQ(facts_of(file(0xffff'ffff, 9u << 23), "audio/x-wavpack", "wv"), "");
  EXPECT_EQ(facts_of(file(220'500, 15u << 23), "audio/x-wavpack", "wv"), "");
}

}  // namespace
}  // namespace sluice

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

#include "facts/kinds.h"
#include "sluice/describe.h"

namespace sluice {
namespace {

/// An integer as `bytes` bytes, the lowest first.
std::string le(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return out;
}

std::string be(uint64_t value, size_t bytes) {
  const std::string out = le(value, bytes);
  return {out.rbegin(), out.rend()};
}

std::string zeros(size_t count) {
  return std::string(count, '\0');
}

std::optional<Dimensions> seen(std::string_view file) {
  return find_dimensions(as_bytes(file));
}

std::string box(std::string_view type, const std::string& content) {
  return be(content.size() + 8, 4) + std::string(type) + content;
}

std::string png() {
  return "\x89PNG\r\n\x1a\n" + be(13, 4) + "IHDR" + be(640, 4) + be(480, 4);
}

std::string jpeg_frame(uint8_t marker) {
  return std::string("\xff") + static_cast<char>(marker) + be(11, 2) + "\x08" + be(480, 2) +
         be(640, 2) + "\x01\x01\x11" + zeros(1);
}

std::string jpeg() {
  const std::string exif = "\xff\xe1" + be(502, 2) + zeros(500);
  const std::string table = "\xff\xff\xff\xc4" + be(5, 2) + zeros(3);  // with fill bytes
  return "\xff\xd8" + exif + table + "\xff\x01" + jpeg_frame(0xc2);
}

std::string webp(const std::string& tag, const std::string& content) {
  return "RIFF" + le(100, 4) + "WEBP" + tag + le(content.size(), 4) + content;
}

std::string tiff(bool big) {
  const auto number = [&](uint64_t value, size_t bytes) {
    return big ? be(value, bytes) : le(value, bytes);
  };
  const std::string width =
      number(256, 2) + number(3, 2) + number(1, 4) + number(640, 2) + zeros(2);
  const std::string height = number(257, 2) + number(4, 2) + number(1, 4) + number(480, 4);
  const std::string other = number(254, 2) + number(4, 2) + number(1, 4) + number(0, 4);
  return (big ? "MM" : "II") + number(42, 2) + number(20, 4) + zeros(12) + number(3, 2) + other +
         width + height;
}

std::string icon(std::initializer_list<std::pair<int, int>> sizes) {
  std::string out = le(0, 2) + le(1, 2) + le(sizes.size(), 2);
  for (const auto& [width, height] : sizes) {
    out += le(static_cast<uint64_t>(width), 1) + le(static_cast<uint64_t>(height), 1) + zeros(14);
  }
  return out;
}

/// A picture whose size is neither the first nor the last that the file has; `turns` to the left.
std::string heif(std::string_view brand, uint8_t turns = 0) {
  const auto extent = [](uint64_t width, uint64_t height) {
    return box("ispe", zeros(4) + be(width, 4) + be(height, 4));
  };
  const std::string properties =
      box("ipco", box("hvcC", zeros(20)) + extent(512, 512) + extent(4'032, 3'024) +
                      extent(320, 240) + box("irot", std::string(1, static_cast<char>(turns))));
  const std::string ties =
      box("ipma", zeros(4) + be(2, 4) + be(9, 2) + "\1\4" + be(7, 2) + "\3\x81\3\x85");
  const std::string primary = box("pitm", zeros(4) + be(7, 2));
  return box("ftyp", std::string(brand) + zeros(4)) +
         box("meta", zeros(4) + box("hdlr", zeros(24)) + primary + box("iprp", properties + ties));
}

TEST(DescribeImage, Png) {
  EXPECT_EQ(seen(png()), (Dimensions{640, 480}));
  EXPECT_EQ(seen("\x89PNG\r\n\x1a\n" + be(4, 4) + "CgBI" + zeros(8) + be(13, 4) + "IHDR" +
                 be(60, 4) + be(50, 4)),
            (Dimensions{60, 50}));
}

TEST(DescribeImage, NoiseBehindASignatureOfPngHasNoSize) {
  EXPECT_EQ(seen(png() + "\x08\x02" + zeros(3)), (Dimensions{640, 480}));
  EXPECT_EQ(seen(png() + "\x08\x02\x7f" + zeros(2)), std::nullopt);
  EXPECT_EQ(seen(png() + "\x08\x02" + zeros(2) + "\x02"), std::nullopt);
}

TEST(DescribeImage, Jpeg) {
  EXPECT_EQ(seen(jpeg()), (Dimensions{640, 480}));
  EXPECT_EQ(seen("\xff\xd8" + jpeg_frame(0xc0)), (Dimensions{640, 480}));
  EXPECT_EQ(seen("\xff\xd8\xff\xda" + be(8, 2) + zeros(6) + jpeg_frame(0xc0)), std::nullopt);
  EXPECT_EQ(seen("\xff\xd8\xff\xe0" + be(1, 2) + jpeg_frame(0xc0)), std::nullopt);
}

TEST(DescribeImage, Gif) {
  EXPECT_EQ(seen("GIF89a" + le(640, 2) + le(480, 2)), (Dimensions{640, 480}));
  EXPECT_EQ(seen("GIF87a" + le(1, 2) + le(65'535, 2)), (Dimensions{1, 65'535}));
}

TEST(DescribeImage, Webp) {
  EXPECT_EQ(seen(webp("VP8 ", zeros(3) + "\x9d\x01\x2a" + le(640 | 0x4000, 2) + le(480, 2))),
            (Dimensions{640, 480}));
  EXPECT_EQ(seen(webp("VP8L", "\x2f" + le(639 | 479 << 14 | 1u << 28, 4))), (Dimensions{640, 480}));
  EXPECT_EQ(seen(webp("VP8X", zeros(4) + le(639, 3) + le(99'999, 3))), (Dimensions{640, 100'000}));
}

TEST(DescribeImage, Bmp) {
  const std::string start = "BM" + zeros(12);
  EXPECT_EQ(seen(start + le(40, 4) + le(640, 4) + le(480, 4)), (Dimensions{640, 480}));
  EXPECT_EQ(seen(start + le(124, 4) + le(640, 4) + le(0x1'0000'0000 - 480, 4)),
            (Dimensions{640, 480}));
  EXPECT_EQ(seen(start + le(12, 4) + le(640, 2) + le(480, 2)), (Dimensions{640, 480}));
  EXPECT_EQ(seen(start + le(7, 4) + le(640, 4) + le(480, 4)), std::nullopt);
}

TEST(DescribeImage, Tiff) {
  EXPECT_EQ(seen(tiff(false)), (Dimensions{640, 480}));
  EXPECT_EQ(seen(tiff(true)), (Dimensions{640, 480}));
  EXPECT_EQ(seen("II" + le(42, 2) + le(0xffff'fff0, 4) + zeros(40)), std::nullopt);
}

TEST(DescribeImage, IconsLargestEntry) {
  EXPECT_EQ(seen(icon({{16, 16}, {48, 32}, {24, 24}})), (Dimensions{48, 32}));
  EXPECT_EQ(seen(icon({{16, 16}, {0, 0}})), (Dimensions{256, 256}));
}

TEST(DescribeImage, Psd) {
  EXPECT_EQ(seen("8BPS" + be(1, 2) + zeros(6) + be(3, 2) + be(480, 4) + be(640, 4)),
            (Dimensions{640, 480}));
}

TEST(DescribeImage, HeifAndAvif) {
  EXPECT_EQ(seen(heif("heic")), (Dimensions{4'032, 3'024}));
  EXPECT_EQ(seen(heif("avif")), (Dimensions{4'032, 3'024}));
  EXPECT_EQ(seen(heif("heic", 1)), (Dimensions{3'024, 4'032}));
  EXPECT_EQ(seen(heif("heic", 2)), (Dimensions{4'032, 3'024}));
  EXPECT_EQ(seen(box("ftyp", "isom") + box("moov", zeros(10))), std::nullopt);
  const std::string wide = be(1, 4) + "free" + be(20, 8) + zeros(4);  // a box with a 64-bit size
  EXPECT_EQ(seen(box("ftyp", "mif1") + wide + heif("heic").substr(16)), (Dimensions{4'032, 3'024}));
}

TEST(DescribeImage, JpegXl) {
  // small=0, height selector 1 (13 bits) 479, ratio 0, width selector 1 639, from the lowest bit.
  const uint64_t bits = uint64_t{0} | 1u << 1 | 479u << 3 | uint64_t{0} << 16 | uint64_t{1} << 19 |
                        uint64_t{639} << 21;
  const std::string naked = "\xff\x0a" + le(bits, 8);
  EXPECT_EQ(seen(naked), (Dimensions{640, 480}));
  // small=1, height (7 + 1) × 8, ratio 3 (4:3)
  EXPECT_EQ(seen("\xff\x0a" + le(1 | 7 << 1 | 3 << 6, 3)), (Dimensions{85, 64}));
  EXPECT_EQ(seen(box("JXL ", "\r\n\x87\n") + box("ftyp", "jxl ") + box("jxlc", naked)),
            (Dimensions{640, 480}));
  EXPECT_EQ(seen(box("JXL ", "\r\n\x87\n") + box("jxlp", zeros(4) + naked)),
            (Dimensions{640, 480}));
}

TEST(DescribeImage, Svg) {
  EXPECT_EQ(seen("<svg width=\"640\" height='480px' viewBox=\"0 0 1 1\">"), (Dimensions{640, 480}));
  EXPECT_EQ(seen("\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- <svg width='1'> -->\n"
                 "<!DOCTYPE svg [<!ENTITY a \">\">]>\n<svg xmlns = \"http://w3\"\n viewBox='-5 "
                 "-5.5, 24.6 10'/>"),
            (Dimensions{25, 10}));
  EXPECT_EQ(seen("<svg width=\"100%\" height=\"100%\" viewBox=\"0 0 24 12\">"),
            (Dimensions{24, 12}));
  EXPECT_EQ(seen("<svg width=\"10mm\" height=\"5.4mm\">"), (Dimensions{10, 5, "mm"}));
  for (const char* none :
       {"<svg>", "<svg width=\"10mm\" height=\"5pt\">", "<svg width='10'>",
        "<svg width='10' height='5", "<html width='1' height='1'>", "<svg viewBox='0 0 10'>",
        "<svg viewBox='0 0 1e3 5'>", "<svg width='99999999999' height='1'>",
        "<!-- <svg width='1' height='1'>"}) {
    EXPECT_EQ(seen(none), std::nullopt) << none;
  }
}

TEST(DescribeImage, WhatIsCutIsNotSeen) {
  for (const std::string& file :
       {png(), jpeg(), webp("VP8X", zeros(4) + le(639, 3) + le(479, 3)), tiff(false), tiff(true),
        heif("avif"), webp("VP8L", "\x2f" + le(639 | 479 << 14, 4))}) {
    const std::optional<Dimensions> whole = seen(file);
    ASSERT_TRUE(whole);
    for (size_t size = 0; size < file.size(); ++size) {
      const std::optional<Dimensions> part = seen(std::string_view(file).substr(0, size));
      // A HEIF cut between two extents shows the extents before the cut.
      if (part && !file.starts_with(be(16, 4) + "ftyp")) {
        ASSERT_EQ(part, whole) << size;
      }
    }
    EXPECT_EQ(seen(std::string_view(file).substr(0, 12)), std::nullopt);
  }
}

TEST(DescribeImage, ZeroIsNoDimension) {
  EXPECT_EQ(seen("GIF89a" + le(0, 2) + le(480, 2)), std::nullopt);
  EXPECT_EQ(seen("<svg width='0' height='0'>"), std::nullopt);
}

TEST(DescribeImage, MutatedHeadsEndAndStayInRange) {
  std::mt19937 random(3);
  const std::string files[] = {png(),
                               jpeg(),
                               tiff(true),
                               heif("heic"),
                               icon({{16, 16}, {0, 0}}),
                               "<svg viewBox='0 0 24 12'>",
                               webp("VP8X", zeros(4) + le(639, 3) + le(479, 3))};
  for (int round = 0; round < 20'000; ++round) {
    std::string file = files[random() % std::size(files)];
    for (size_t i = random() % 6; i > 0; --i)
      file[random() % file.size()] = static_cast<char>(random());
    file.resize(random() % (file.size() + 1));
    if (const auto found = seen(file)) {
      ASSERT_GT(found->width, 0u);
      ASSERT_GT(found->height, 0u);
    }
  }
}

TEST(DescribeImage, LargeTiffJpeg2000DjvuAndNetpbm) {
  using std::string_literals::operator""s;
  const std::string entry =
      le(256, 2) + le(4, 2) + le(1, 8) + le(50, 8) + le(257, 2) + le(3, 2) + le(1, 8) + le(40, 8);
  EXPECT_EQ(seen("II+\0\x8\0\0\0"s + le(16, 8) + le(2, 8) + entry), (Dimensions{50, 40}));
  EXPECT_EQ(seen("II+\0\x8\0\0\0"s + le(~uint64_t{0}, 8)), std::nullopt);
  EXPECT_EQ(seen("\xff\x4f\xff\x51"s + be(41, 2) + be(0, 2) + be(96, 4) + be(80, 4) + be(0, 4) +
                 be(8, 4)),
            (Dimensions{96, 72}));
  const std::string header = be(14, 4) + "ihdr" + be(72, 4) + be(96, 4);
  EXPECT_EQ(seen(be(12, 4) + "jP  \r\n\x87\n" + be(8 + 22, 4) + "jp2h" + be(22, 4) +
                 header.substr(4) + zeros(6)),
            (Dimensions{96, 72}));
  EXPECT_EQ(seen("AT&TFORM" + be(40, 4) + "DJVUINFO" + be(10, 4) + be(120, 2) + be(160, 2)),
            (Dimensions{120, 160}));
  EXPECT_EQ(seen("P6\n# by a program, 9 lines\n40 30\n255\n"), (Dimensions{40, 30}));
  EXPECT_EQ(seen("P7\nWIDTH 40\nHEIGHT 30\nDEPTH 3\n"), (Dimensions{40, 30}));
  EXPECT_EQ(seen("P6\n#"), std::nullopt);
}

}  // namespace
}  // namespace sluice

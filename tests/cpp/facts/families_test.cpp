// What is said first of files of many trades, and that nothing of a person is among it.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "describe/describe_fixture.h"
#include "facts/inflate.h"
#include "facts/kinds.h"
#include "sluice/codec.h"
#include "sluice/session.h"

namespace sluice {
namespace {

using namespace std::string_literals;

/// The description of a file by its bytes alone.
std::string line_of(const std::string& file) {
  FileLook look("", "");
  look.push(file);
  return description_of(look.finish());
}

std::string family(const std::string& file, std::string_view extension) {
  return facts_of(file, "application/x", extension);
}

/// `at` bytes that `file` begins with, padded, and then more.
std::string behind(std::string file, size_t at, const std::string& more) {
  file.resize(at, '\0');
  return file + more;
}

uint64_t bits_of(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::string le_double(double value) {
  return le(bits_of(value), 8);
}

// --- disks and models at fixed places ------------------------------------------------------------

TEST(DescribeFamilies, ATitleThatNeverEndsIsNone) {
  EXPECT_NE(line_of("<rss><channel><title> News </title>\n").find("\"News\""), std::string::npos);
  EXPECT_EQ(line_of("<rss><channel><title> News of the day\n").find("title"), std::string::npos);
  EXPECT_EQ(line_of("<rss><channel><title>=\n").find("title"), std::string::npos);
}

TEST(DescribeFamilies, FactsAtFixedPlaces) {
  EXPECT_EQ(family(behind("QFI\xfb", 24, be(5ull << 30, 8)), "qcow2"), ", 5.0 GB disk");
  EXPECT_EQ(family(behind("KDMV", 12, le(1 << 22, 8)), "vmdk"), ", 2.0 GB disk");
  EXPECT_EQ(family("hsqs" + le(7, 4), "squashfs"), ", 7 inodes");
  EXPECT_EQ(family(behind("", 32'808, "BACKUP          " + std::string(30, ' ')), "iso"),
            ", volume (from the file): \"BACKUP\"");
  EXPECT_EQ(family(behind("\xed\xab\xee\xdb", 10, "hello-1.2-1" + zeros(60)), "rpm"),
            ", package (from the file): \"hello-1.2-1\"");
  EXPECT_EQ(family(behind("$FL2@(#)", 80, le(25, 4)), "sav"), ", 25 rows");
  EXPECT_EQ(family("GRIB" + zeros(3) + "\2", "grib"), ", edition 2");
  EXPECT_EQ(family(behind("PMTiles\3", 100, "\0\x0e"s), "pmtiles"), ", zoom 0 to 14");
  EXPECT_EQ(family(behind("", 80, le(12, 4)), "stl"), ", 12 triangles");
  EXPECT_EQ(family(behind("Kaydara", 23, le(7'400, 4)), "fbx"), ", version 7.4");
  EXPECT_EQ(facts_of("MThd" + be(6, 4) + be(1, 2) + be(3, 2), "audio/midi", "mid"), ", 3 tracks");
  EXPECT_EQ(facts_of("AC1027" + zeros(20), "image/vnd.dwg", "dwg"), ", version 2013");
}

TEST(DescribeFamilies, WhatIsCutOrAbsurdIsLeftOut) {
  for (const char* extension :
       {"qcow2", "vmdk", "squashfs", "iso", "rpm", "sav", "stl",  "fbx", "sqlite", "parquet",
        "npy",   "dta",  "fits",     "nc",  "dcm", "shp", "tiff", "dwg", "pcapng", "png"}) {
    EXPECT_EQ(family("", extension), "") << extension;
  }
  EXPECT_EQ(family(behind("QFI\xfb", 24, be(~0ull, 8)), "qcow2"), "");
}

// --- tables --------------------------------------------------------------------------------------

/// A database whose schema has these tables.
std::string database(const std::vector<std::string>& tables) {
  std::string page = "SQLite format 3\0"s + zeros(84);
  std::string cells;
  std::string places;
  for (const std::string& name : tables) {
    const std::string record = "\4"s + static_cast<char>(23) +
                               static_cast<char>(13 + 2 * name.size()) + "\0"s + "table" + name;
    places += be(1'000 + cells.size(), 2);
    cells += static_cast<char>(record.size()) + "\1"s + record;
  }
  page += "\x0d"s + zeros(2) + be(tables.size(), 2) + zeros(3) + places;
  return behind(page, 1'000, cells) + zeros(3'000);
}

TEST(DescribeFamilies, TablesOfADatabaseAreNamedButNotItsOwn) {
  EXPECT_EQ(family(database({"users", "sqlite_sequence", "orders"}), "sqlite"),
            ", 2 tables (from the file): \"users\", \"orders\"");
  EXPECT_EQ(line_of(database({"users"})),
            "SQLite database, 3.9 KB, 1 table (from the file): \"users\"");
}

TEST(DescribeFamilies, TablesOfALargerSchemaStandInItsLeaves) {
  const auto file = [](uint32_t last) {
    std::string root = "SQLite format 3\0"s + be(1'024, 2) + zeros(82);
    root += "\5"s + zeros(2) + be(1, 2) + zeros(3) + be(last, 4) + be(900, 2);
    root = behind(root, 900, be(2, 4) + "\1");
    const auto leaf = [](const std::string& name) {
      const std::string record = "\4"s + static_cast<char>(23) +
                                 static_cast<char>(13 + 2 * name.size()) + "\0"s + "table" + name;
      return behind(behind("\x0d"s + zeros(2) + be(1, 2) + zeros(3) + be(500, 2), 500,
                           static_cast<char>(record.size()) + "\1"s + record),
                    1'024, "");
    };
    return behind(root, 1'024, "") + leaf("towns") + leaf("gpkg_extensions");
  };
  EXPECT_EQ(family(file(3), "gpkg"), ", 1 table (from the file): \"towns\"");
  EXPECT_EQ(family(file(9), "gpkg"), "");  // a page that is not there
  EXPECT_EQ(family(file(1), "gpkg"), "");  // a loop
}

TEST(DescribeFamilies, ParquetHasRowsAndColumns) {
  const std::string footer = "\x15\2"s +                             // 1: version
                             "\x19\x3c" + "\x48\6schema\x15\4\0"s +  // 2: list of three: the root
                             "\x15\2\x38\2id\0"s + "\x15\x0c\x38\4name\0"s +
                             "\x16\x0a\0"s;  // two leaves, 3: five rows
  const std::string file = "PAR1" + footer + le(footer.size(), 4) + "PAR1";
  EXPECT_EQ(family(file, "parquet"), ", 5 rows, 2 columns (from the file): \"id\", \"name\"");
  EXPECT_EQ(family("PAR1" + le(9'999, 4) + "PAR1", "parquet"), "");
  const std::string negative = "\x36\1"s + zeros(1);
  EXPECT_EQ(family("PAR1" + negative + le(negative.size(), 4) + "PAR1", "parquet"), ", 0 columns");
}

TEST(DescribeFamilies, ArraysHaveTheirSides) {
  const auto array = [](const std::string& type, const std::string& shape) {
    return family("\x93NUMPY\1\0v\0{'descr': '"s + type + "', 'fortran_order': False, 'shape': (" +
                      shape + "), }",
                  "npy");
  };
  EXPECT_EQ(array("<f8", "3, 4, 5"), ", 3 × 4 × 5 of float64");
  EXPECT_EQ(array("<i4", "7,"), ", 7 of int32");
  EXPECT_EQ(array("|b1", ""), ", one value");
  // A file that ends before the type does.
  EXPECT_EQ(family("\x93NUMPY'shape': (3,)'descr': '", "npy"), ", 3");
}

TEST(DescribeFamilies, StataHasRowsAndColumns) {
  EXPECT_EQ(
      family("<stata_dta><header><release>118</release><K>" + le(3, 2) + "</K><N>" + le(25, 8),
             "dta"),
      ", 25 rows, 3 columns");
  EXPECT_EQ(family("<stata_dta><header><release>118</release><byteorder>MSF</byteorder><K>" +
                       be(3, 2) + "</K><N>" + be(25, 8),
                   "dta"),
            ", 25 rows, 3 columns");
}

// --- measurements --------------------------------------------------------------------------------

std::string card(std::string text) {
  text.resize(80, ' ');
  return text;
}

TEST(DescribeFamilies, FitsHasPicturesOrTables) {
  const std::string simple = card("SIMPLE  =                    T");
  EXPECT_EQ(
      family(simple + card("NAXIS   =                    2") +
                 card("NAXIS1  =                   30") + card("NAXIS2  =                   20"),
             "fits"),
      ", 30 × 20");
  const std::string table = simple + card("NAXIS   =                    0") + card("END") +
                            card("XTENSION= 'BINTABLE'") + card("NAXIS   =                    2") +
                            card("NAXIS2  =                   12") +
                            card("TFIELDS =                    2");
  EXPECT_EQ(line_of(table), "FITS data, 560 B, 12 rows, 2 columns");
}

TEST(DescribeFamilies, NetCdfHasItsVariables) {
  const std::string file = "CDF\1" + be(0, 4) + be(10, 4) + be(1, 4) + be(1, 4) + "x\0\0\0"s +
                           be(5, 4) + zeros(8) + be(11, 4) + be(1, 4) + be(4, 4) + "temp" +
                           be(1, 4) + be(0, 4) + zeros(8) + be(5, 4) + be(20, 4) + be(99, 4) +
                           zeros(8);
  EXPECT_EQ(family(file, "nc"), ", 1 dimension, 1 variable (from the file): \"temp\"");
}

TEST(DescribeFamilies, VolumesHaveTheirSides) {
  EXPECT_EQ(family(behind("", 40, le(3, 2) + le(10, 2) + le(12, 2) + le(14, 2)), "nii"),
            ", 10 × 12 × 14");
  EXPECT_EQ(family(behind("", 40, be(3, 2) + be(10, 2) + be(12, 2) + be(14, 2)), "nii"),
            ", 10 × 12 × 14");
}

std::string element(uint32_t tag, const std::string& kind, std::string value) {
  if (value.size() % 2 == 1) value += ' ';
  return le(tag >> 16, 2) + le(tag & 0xffff, 2) +
         (kind.empty() ? le(value.size(), 4) : kind + le(value.size(), 2)) + value;
}

/// A picture of a patient, with everything of a person that usually stands there.
std::string dicom(bool implicit, bool preamble) {
  const auto kind = [implicit](const char* name) { return implicit ? ""s : std::string(name); };
  std::string file = preamble ? zeros(128) + "DICM" : "";
  file += element(0x0002'0010, "UI", implicit ? "1.2.840.10008.1.2\0"s : "1.2.840.10008.1.2.1\0"s);
  file += element(0x0008'0020, kind("DA"), "19700101") + element(0x0008'0060, kind("CS"), "CT");
  file += element(0x0010'0010, kind("PN"), "Mustermann^Jane") +
          element(0x0010'0020, kind("LO"), "4711-0815") +
          element(0x0010'0030, kind("DA"), "19700101");
  file += element(0x0018'0015, kind("CS"), "CHEST") + element(0x0028'0008, kind("IS"), "6");
  file += element(0x0028'0010, kind("US"), le(40, 2)) + element(0x0028'0011, kind("US"), le(50, 2));
  return file + element(0x7fe0'0010, implicit ? "" : "OW", zeros(64));
}

TEST(DescribeFamilies, PicturesOfPatientsSayNothingOfThePatient) {
  for (const bool implicit : {false, true}) {
    for (const bool preamble : {false, true}) {
      EXPECT_EQ(family(dicom(implicit, preamble), "dcm"), ", CT, 50 × 40, 6 frames, chest");
    }
  }
}

// --- maps, pages, captures -----------------------------------------------------------------------

std::string directory(const std::vector<std::string>& entries, uint32_t next) {
  std::string out = le(entries.size(), 2);
  for (const std::string& entry : entries) out += entry;
  return out + le(next, 4);
}

std::string tag(uint32_t number, uint32_t value) {
  return le(number, 2) + le(3, 2) + le(1, 4) + le(value, 4);
}

TEST(DescribeFamilies, PicturesWithAPlaceNameTheirReferenceSystem) {
  const std::string keys =
      le(1, 2) + le(1, 2) + le(0, 2) + le(1, 2) + le(2'048, 2) + le(0, 2) + le(1, 2) + le(4'326, 2);
  const std::string file =
      "II*\0"s + le(8, 4) + directory({tag(277, 3), tag(34'735, 38)}, 0) + keys;
  EXPECT_EQ(family(file, "tiff"), ", EPSG:4326, 3 bands");
}

TEST(DescribeFamilies, PagesOfAPictureAreCounted) {
  const std::string file = "II*\0"s + le(8, 4) + directory({tag(256, 9)}, 26) +
                           directory({tag(256, 9)}, 44) + directory({tag(256, 9)}, 0);
  EXPECT_EQ(family(file, "tiff"), ", 3 pages");
  // Directories and keys that say the same again and again take no longer than others.
  std::string many = "II*\0"s + le(8, 4) + le(20'000, 2);
  for (int i = 0; i < 20'000; ++i) many += tag(34'735, 8);
  EXPECT_EQ(family(many + le(8, 4), "tiff"), "");
  const std::string loop = "II*\0"s + le(8, 4) + directory({tag(256, 9)}, 8);
  EXPECT_EQ(family(loop, "tiff"), "");
}

TEST(DescribeFamilies, ShapesAndPoints) {
  EXPECT_EQ(family(behind("", 32, le(15, 4)), "shp"), ", polygons");
  std::string cloud = behind("LASF", 24, "\1\2"s);
  cloud = behind(behind(cloud, 107, le(1'000, 4)), 179, le_double(30.4) + le_double(10)) +
          le_double(25) + le_double(5);
  EXPECT_EQ(family(cloud, "las"), ", LAS 1.2, 1,000 points, 20 × 20 units");
}

TEST(DescribeFamilies, PacketsAreCountedWhereAllAreSeen) {
  const auto packet = [](uint32_t second) {
    return le(second, 4) + zeros(4) + le(3, 4) + le(3, 4) + "abc";
  };
  const std::string start = "\xd4\xc3\xb2\xa1"s + zeros(16) + le(1, 4);
  EXPECT_EQ(family(start + packet(10) + packet(75), "pcap"), ", Ethernet, 2 packets, 1:05 long");
  EXPECT_EQ(family(start + packet(10) + "cut", "pcap"), ", Ethernet");
  const auto block = [](uint32_t type) {
    return le(type, 4) + le(16, 4) + "\x4d\x3c\x2b\x1a" + le(16, 4);
  };
  EXPECT_EQ(family(block(0x0a0d'0d0a) + block(6) + block(6) + block(5), "pcapng"), ", 2 packets");
}

std::string element_of(uint8_t tag, const std::string& content) {
  return static_cast<char>(tag) + "\x82"s + be(content.size(), 2) + content;
}

/// A certificate for a name, until a day.
std::string certificate(const std::string& name, const std::string& until, bool versioned) {
  const std::string subject =
      element_of(0x31, element_of(0x30, element_of(6, "\x55\x04\x03") + element_of(12, name)));
  const std::string body =
      (versioned ? element_of(0xa0, "\2\1\2") : "") + element_of(2, "\5") + element_of(0x30, "") +
      element_of(0x30, "") +
      element_of(0x30, element_of(0x17, "260101000000Z") +
                           element_of(until.size() > 13 ? 0x18 : 0x17, until)) +
      element_of(0x30, subject);
  return element_of(0x30, element_of(0x30, body) + element_of(0x30, ""));
}

TEST(DescribeFamilies, CertificatesHaveADayAndAHostButNoPerson) {
  const std::string host = certificate("mail.example.org", "360101000000Z", true);
  const std::string facts = ", valid until 2036-01-01, for (from the file): \"mail.example.org\"";
  EXPECT_EQ(family(host, "der"), facts);
  EXPECT_EQ(family(certificate("*.example.org", "20500101000000Z", false), "der"),
            ", valid until 2050-01-01, for (from the file): \"∗.example.org\"");
  EXPECT_EQ(family(certificate("Jane Mustermann", "360101000000Z", true), "der"),
            ", valid until 2036-01-01");
  EXPECT_EQ(family(certificate("jane@secret.example", "991231000000Z", true), "der"),
            ", valid until 1999-12-31");
  std::string pem = "-----BEGIN CERTIFICATE-----\n";
  encode(as_bytes(host), Alphabet::standard, true, false, pem);
  pem += "\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(family(pem, "der"), facts);
  EXPECT_EQ(line_of(pem), "certificate, " + human_size(pem.size()) + facts);
  EXPECT_EQ(family(pem + pem, "der"), ", 2 certificates" + facts);
  for (size_t size = 0; size < host.size(); ++size) {
    EXPECT_EQ(family(host.substr(0, size), "der").find("mail"), std::string::npos) << size;
  }
}

TEST(DescribeFamilies, ModelsVolumesAndMapsHaveTheirFirstFact) {
  const std::string json = R"({"asset":{"meshes":"x"},"meshes":[{"a":[1,2],"b":"],"},{}]})";
  EXPECT_EQ(family("glTF\2\0\0\0"s + zeros(4) + le(json.size(), 4) + "JSON" + json, "glb"),
            ", 2 meshes");
  EXPECT_EQ(
      family("ply\nformat binary_little_endian 1.0\nelement vertex 4\nelement face 2\n", "ply"),
      ", 4 vertices, 2 faces");
  EXPECT_EQ(family(behind(le(32, 4) + le(16, 4) + le(8, 4), 208, "MAP \x44\x44"), "mrc"),
            ", 32 × 16 × 8");
  EXPECT_EQ(family(be(1, 4) + be(4, 4) + be(5, 4) + be(6, 4), "mgh"), ", 4 × 5 × 6");
  EXPECT_EQ(family(behind(behind("", 43, "STICK      FAT12   "), 510, "\x55\xaa"), "img"),
            ", volume (from the file): \"STICK\"");
  EXPECT_EQ(family(behind(behind("", 1'080, "\x53\xef"), 1'144, "ROOTFS" + zeros(10)), "img"),
            ", volume (from the file): \"ROOTFS\"");
  EXPECT_EQ(family(behind("\xc\x02"s + zeros(2), 4, le(540, 4)), "nii"), "");
  EXPECT_EQ(
      family(behind("\x1c\2\0\0n+2\0"s, 16, le(3, 8) + le(4, 8) + le(5, 8) + le(6, 8)), "nii"),
      ", 4 × 5 × 6");
  EXPECT_EQ(family(behind("", 368, le(64 << 20, 8)), "vdi"), ", 64.0 MB disk");
  EXPECT_EQ(family("\3\x7e\x0b\x1e" + le(4, 4), "dbf"), ", 4 rows");
  // A table whose fields stand before it, and the ninth of them 8 bytes behind its begin.
  const std::string fields = le(22, 2) + le(16, 2) + zeros(16) + le(8, 2) + zeros(2);
  EXPECT_EQ(family("fgb\3fgb\0"s + le(64, 4) + le(28, 4) + fields + le(24, 4) + zeros(4) + le(9, 8),
                   "fgb"),
            ", 9 features");
  EXPECT_EQ(family("fgb\3fgb\0"s + le(64, 4) + "\xff\xff\xff\xff", "fgb"), "");
  EXPECT_EQ(family(R"(Obj avro.schema {"name":"Pet","fields":[{"name":"kind"},{"name" : "age"}]})",
                   "avro"),
            ", fields (from the file): \"kind\", \"age\"");
  const std::string page = "FORM" + be(4, 4) + "DJVU";
  EXPECT_EQ(facts_of("AT&TFORM" + be(28, 4) + "DJVM" + page + page, "image/vnd.djvu", "djvu"),
            ", 2 pages");
  EXPECT_EQ(facts_of("AT&TFORM" + be(28, 4) + "DJVM" + page + page.substr(0, 8), "image/vnd.djvu",
                     "djvu"),
            "");
}

TEST(DescribeFamilies, FramesOfAnAnimationAreCounted) {
  const std::string start =
      "\x89PNG\r\n\x1a\n"s + be(13, 4) + "IHDR" + be(64, 4) + be(48, 4) + zeros(9);
  EXPECT_EQ(line_of(start + be(8, 4) + "acTL" + be(20, 4) + zeros(8) + be(0, 4) + "IDAT"),
            "PNG image, 64 × 48, 61 B, 20 frames, without its end");
  const std::string picture = "\x2c"s + zeros(8) + "\x80" + zeros(6) + "\2\3abc" + zeros(1);
  const std::string gif = "GIF89a" + le(64, 2) + le(48, 2) + zeros(3);
  const std::string control = "\x21\xf9\4"s + zeros(5);
  EXPECT_EQ(line_of(gif + control + picture + control + picture + ";"),
            "GIF image, 64 × 48, " + human_size(gif.size() + 2 * (8 + picture.size()) + 1) +
                ", 2 frames");
  EXPECT_EQ(line_of(gif + picture + ";").find("frame"), std::string::npos);
  EXPECT_EQ(line_of(gif + picture + picture).find("frame"), std::string::npos);  // no end
  const std::string frame = "ANMF" + le(2, 4) + "ab";
  const std::string chunks =
      "WEBPVP8X" + le(10, 4) + zeros(4) + le(63, 3) + le(47, 3) + frame + frame;
  EXPECT_EQ(line_of("RIFF" + le(chunks.size(), 4) + chunks),
            "WebP image, 64 × 48, " + human_size(chunks.size() + 8) + ", 2 frames");
}

// --- films ---------------------------------------------------------------------------------------

std::string track(const std::string& kind, const std::string& codec, uint32_t width,
                  uint32_t height) {
  const std::string table = box("stsd", zeros(4) + be(1, 4) + be(16, 4) + codec) +
                            box("stts", zeros(4) + be(1, 4) + be(20, 4) + be(1'000, 4));
  return box("trak", box("tkhd", zeros(76) + be(width << 16, 4) + be(height << 16, 4)) +
                         box("mdia", box("mdhd", zeros(12) + be(10'000, 4) + zeros(8)) +
                                         box("hdlr", zeros(8) + kind + zeros(12)) +
                                         box("minf", box("stbl", table))));
}

TEST(DescribeFilm, Mp4HasPicturesLengthAndCodecs) {
  const std::string header = box("mvhd", zeros(12) + be(1'000, 4) + be(2'000, 4) + zeros(80));
  const std::string movie =
      box("moov", header + track("soun", "mp4a", 0, 0) + track("vide", "avc1", 1'920, 1'080));
  const std::string facts = ", 1,920 × 1,080, 0:02 long, AAC, H.264, 10 fps";
  EXPECT_EQ(facts_of(box("ftyp", "isom") + movie, "video/mp4", "mp4"), facts);
  EXPECT_EQ(facts_of(box("ftyp", "isom") + box("mdat", zeros(400'000)) + movie, "video/mp4", "mp4"),
            facts);
}

std::string ebml(const std::string& id, const std::string& content) {
  return id + "\x10"s + be(content.size(), 3) + content;
}

TEST(DescribeFilm, MatroskaHasPicturesLengthAndCodecs) {
  const std::string video = ebml("\xe0", ebml("\xb0", be(64, 1)) + ebml("\xba", be(48, 1)));
  const std::string file =
      ebml("\x1a\x45\xdf\xa3", ebml("\x42\x82", "matroska")) + "\x18\x53\x80\x67\x01" +
      std::string(7, '\xff') + ebml("\x15\x49\xa9\x66", ebml("\x44\x89", be(bits_of(2'000.0), 8))) +
      ebml("\x16\x54\xae\x6b", ebml("\xae", ebml("\x86", "V_MPEG4/ISO/AVC") +
                                                ebml("\x23\xe3\x83", be(41'708'333, 4)) + video));
  EXPECT_EQ(facts_of(file, "video/x-matroska", "mkv"), ", 64 × 48, 0:02 long, H.264, 23.98 fps");
}

TEST(DescribeFilm, OlderContainersHaveTheirs) {
  std::string avi = behind("RIFF\0\0\0\0AVI LIST"s, 32, le(100'000, 4));
  avi = behind(behind(avi, 48, le(20, 4)), 64, le(64, 4) + le(48, 4));
  EXPECT_EQ(facts_of(avi, "video/x-msvideo", "avi"), ", 64 × 48, 0:02 long, 10 fps");
  const auto number = [](double value) { return be(bits_of(value), 8); };
  const std::string flv = "FLV\1\5\0\0\0\x09"s + "onMetaData" + "\0\x08"s + "duration" + "\0"s +
                          number(2) + "\0\x05"s + "width" + "\0"s + number(64) + "\0\6"s +
                          "height" + "\0"s + number(48);
  EXPECT_EQ(facts_of(flv, "video/x-flv", "flv"), ", 64 × 48, 0:02 long");
}

// --- what stands in packed parts
// -------------------------------------------------------------------

TEST(Inflate, UnpacksEveryKindOfBlockUpToALimit) {
  const std::string stored = "\x01\x05\x00\xfa\xffhello"s;
  EXPECT_EQ(inflate(as_bytes(stored), 100), "hello");
  EXPECT_EQ(inflate(as_bytes(stored), 3), "hel");
  const std::string fixed =
      "\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x00"s;  // zlib's, of "hello hello hello"
  EXPECT_EQ(inflate(as_bytes(fixed), 100), "hello hello hello");
  for (size_t cut = 0; cut < fixed.size(); ++cut) {
    EXPECT_LE(inflate(as_bytes(std::string_view(fixed).substr(0, cut)), 100).size(), 17u);
  }
}

std::string zlib(const std::string& content) {
  return "\x78\x01\x01"s + le(content.size(), 2) + le(~content.size() & 0xffff, 2) + content +
         zeros(4);
}

TEST(DescribePdf, ObjectStreamsAreRead) {
  const std::string pages = "<</Type/Pages/Count 12/Kids[]>>";
  const std::string info = "<</Producer(x)/Title(Minutes)>>";
  const std::string numbers = "1 0 2 " + std::to_string(pages.size() + 1) + " ";
  const std::string packed = zlib(numbers + pages + " " + info);
  const std::string file = "%PDF-1.5\n3 0 obj\n<</Type/ObjStm/N 2/First " +
                           std::to_string(numbers.size()) + "/Filter/FlateDecode>>\nstream\n" +
                           packed + "\nendstream\nendobj\n";
  EXPECT_EQ(facts_of(file, "application/pdf", "pdf"),
            ", 12 pages, title (from the file): \"Minutes\"");
}

TEST(DescribePdf, TitlesByReferenceAndFormsAreTold) {
  EXPECT_EQ(
      facts_of(
          "%PDF-1.4\n1 0 obj\n<</Producer(x)/Title 2 0 R>>\nendobj\n2 0 obj\n(Minutes)\nendobj\n",
          "application/pdf", "pdf"),
      ", title (from the file): \"Minutes\"");
  EXPECT_EQ(facts_of("%PDF-1.4\n1 0 obj\n<</Fields[2 0 R]/SigFlags 3>>\nendobj\n"
                     "2 0 obj\n<</Type/Sig/ByteRange[0 1 2 3]>>\nendobj\n",
                     "application/pdf", "pdf"),
            ", signed, with a form");
}

TEST(DescribePdf, EntitiesInMetadataAreResolved) {
  EXPECT_EQ(facts_of("%PDF-1.4\n<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Tom &amp; "
                     "J&#xe9;r&#244;me</rdf:li></rdf:Alt></dc:title>",
                     "application/pdf", "pdf"),
            ", title (from the file): \"Tom & Jérôme\"");
}

TEST(DescribeZip, OfficeFilesSayTheirTitlesAndSheets) {
  const std::string book =
      "<workbook><sheets><sheet name=\"Sales\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>";
  const std::string relations =
      "<Relationships><Relationship Id=\"rId1\" Target=\"worksheets/sheet1.xml\"/></Relationships>";
  EXPECT_EQ(
      family(zip({{"xl/workbook.xml", 0, book},
                  {"xl/_rels/workbook.xml.rels", 0, relations},
                  {"xl/worksheets/sheet1.xml", 0, "<worksheet><dimension ref=\"A1:D120\"/>"}}),
             "xlsx"),
      ", 1 sheet (from the file): \"Sales\" 120 × 4");
  EXPECT_EQ(family(zip({{"word/document.xml", 0, "x"},
                        {"docProps/app.xml", 0, "<Pages>3</Pages><Words>812</Words>"},
                        {"docProps/core.xml", 0, "<dc:title>Minutes</dc:title>"},
                        {"word/vbaProject.bin", 0, "x"}}),
                   "docx"),
            ", 3 pages, 812 words, title (from the file): \"Minutes\", with macros");
}

TEST(DescribeZip, SectionsOfABookAreThoseOfItsSpine) {
  const std::string container = "<container><rootfile full-path=\"book.opf\"/></container>";
  const std::string book =
      "<package><dc:title>Walden</dc:title><spine><itemref/><itemref/></spine></package>";
  EXPECT_EQ(family(zip({{"META-INF/container.xml", 0, container},
                        {"book.opf", 0, book},
                        {"a.xhtml", 0, "x"},
                        {"b.xhtml", 0, "x"},
                        {"nav.xhtml", 0, "x"}}),
                   "epub"),
            ", 2 sections, title (from the file): \"Walden\"");
}

TEST(DescribeGzip, WhatStandsInItIsTold) {
  const std::string content = ">one\nACGTACGTACGT\n>two\nACGTACGTACGT\n";
  const std::string file = "\x1f\x8b\x08"s + zeros(7) + "\1" + le(content.size(), 2) +
                           le(~content.size() & 0xffff, 2) + content;
  EXPECT_EQ(facts_of(file, "application/gzip", "gz"), ", inside: FASTA sequences");
}

// --- texts ---------------------------------------------------------------------------------------

TEST(DescribeFormats, TextsSayTheirKindAndParts) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nEND:VEVENT\r\nEND:"
       "VCALENDAR\r\n",
       "calendar, 84 B, 2 events"},
      {"WEBVTT\n\n00:01.000 --> 00:02.500\nHi\n\n00:29.000 --> 00:29.500\nHo\n",
       "WebVTT subtitles, 63 B, 2 cues, 0:29 long"},
      {"1\n00:00:01,000 --> 00:01:02,000\nHi\n", "SubRip subtitles, 35 B, 1 cue, 1:02 long"},
      {">a\nACGTACGTACGT\n>b\nACGTACGTACGT\n", "FASTA sequences, 32 B, 2 sequences"},
      {"solid x\nfacet normal 0 0 1\nendfacet\nendsolid x\n", "STL model, 47 B, 1 triangle"},
      {"ply\nformat ascii 1.0\nelement vertex 8\nelement face 12\nend_header\n",
       "PLY model, 65 B, 8 vertices, 12 faces"},
      {"From: Carol <c@x.example>\nTo: d@x.example\nSubject: =?utf-8?B?w5xudW0=?= "
       "=?utf-8?Q?_a=C3=A9?=\n"
       "Date: Mon, 1 Jan 2026 00:00:00 +0000\n\nHello\n",
       "email message, 137 B, subject (from the file): \"Ünum aé\", sender (from the file): "
       "\"Carol\""},
      {"<?xml version=\"1.0\"?>\n<rss "
       "version=\"2.0\"><channel><title>News</title><item></item><item></item>"
       "</channel></rss>",
       "RSS feed, 111 B, 2 items, title (from the file): \"News\""},
      {R"({"type":"FeatureCollection","features":[{"type":"Feature"},{"type":"Feature"}]})",
       "GeoJSON, 79 B, 2 features: object {type: string, features: array of 2 {type: string}}"},
      {"{\"nbformat\":4,\"cells\":[{\"a\":1}]}",
       "Jupyter notebook, 32 B, 1 cell: object {nbformat: integer, cells: array of 1 {a: "
       "integer}}"},
  };
  for (const auto& [text, line] : texts) EXPECT_EQ(line_of(text), line);
}

TEST(DescribeFormats, TextsOfMoreTradesSayTheirKindAndFirstFact) {
  const std::string lines = "x\ny\nz\n";
  const std::vector<std::pair<std::string, std::string_view>> texts = {
      {"<gpx><wpt lat=\"1\"/><wpt lat=\"2\"/></gpx>", "GPX map, 39 B, 2 places"},
      {"<gpx><wpt/><trk><trkpt/></trk></gpx>", "GPX track, 36 B, 1 point"},
      {"<ogr:FeatureCollection xmlns:gml=\"http://www.opengis.net/gml\"><ogr:featureMember>"
       "</ogr:featureMember></ogr:FeatureCollection>",
       "GML map, 125 B, 1 feature"},
      {"<?xml version=\"1.0\"?><molecule><atomArray><atom id=\"a\"/></atomArray></molecule>",
       "CML molecule, 79 B, 1 atom"},
      {"<nmaprun><host><status/></host><runstats><hosts up=\"1\"/></runstats></nmaprun>",
       "Nmap report, 77 B, 1 host"},
      {"[Script Info]\n\n[Events]\nDialogue: 0,a\nDialogue: 0,b\n",
       "SubStation subtitles, 52 B, 2 cues"},
      {"LOCUS       seq0\nORIGIN\n//\nLOCUS       seq1\n//\n",
       "GenBank records, 47 B, 2 sequences"},
      {"ID   seq0; DNA\nXX\nAC   x\n//\n", "EMBL records, 28 B, 1 sequence"},
      {"ethanol\n OpenBabel\n\n  9  8  0  0  0  0  0  0  0  0999 V2000\nM  END\n$$$$\n",
       "MDL molecules, 72 B, 1 molecule"},
      {"@<TRIPOS>MOLECULE\na\n@<TRIPOS>ATOM\n", "Mol2 molecules, 34 B, 1 molecule"},
      {"@HD\tVN:1.6\n@SQ\tSN:c\nr1\t0\nr2\t0\n", "SAM alignments, 30 B, 2 reads"},
      {"ncols        30\nnrows        20\nxllcorner 0\n0 0\n", "ASCII grid, 48 B, 30 × 20"},
      {"OFF\n# by a program\n\n8 12 0\n0 0 0\n", "OFF model, 33 B, 8 vertices, 12 faces"},
      {"; generated by a slicer\nG28\nG1 X1\n", "G-code, 34 B, 3 lines"},
      {"SVN-fs-dump-format-version: 2\n\nRevision-number: 0\n\nRevision-number: 1\n",
       "Subversion dump, 70 B, 2 revisions"},
      {"COMPND    UNNAMED\nHETATM    1  C\nHETATM    2  C\n", "PDB structure, 48 B, 2 atoms"},
      {"solid\nfacet normal 0 0 1\nendfacet\nendsolid\n", "STL model, 43 B, 1 triangle"},
      {"0\nSECTION\n2\nHEADER\n0\nEOF\n", "DXF drawing, 25 B"},
      {"MSH|^~\\&|A|B|C|D|2026||ORU^R01|1|P|2.5\rPID|1||4711\r", "HL7 message, 51 B, ORU^R01"},
      {R"({"resourceType" : "Patient","id":"4711"})", "FHIR resource, 40 B, Patient: object {"},
      {R"({"type":"Topology","arcs":[]})", "TopoJSON, 29 B: object {"},
      {R"({"bomFormat":"CycloneDX","components":[]})",
       "CycloneDX bill of materials, 41 B: object {"},
      {R"({"keys":[{"kty":"EC","x":"a"}]})", "JSON Web Key Set, 31 B, 1 key: object {"},
      {R"({"asset":{"version":"2.0"},"accessors":[1]})", "glTF model, 43 B: object {"},
      {"-----BEGIN NEW CERTIFICATE REQUEST-----\nMIIB\n", "certificate request, 45 B"},
      {"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n", "age encrypted file, 40 B"},
      {"<html><head><title>A &amp; B</title></head>\n<body></body></html>\n",
       "HTML, 65 B, 2 lines, title (from the file): \"A & B\""},
      {"{\\rtf1\\ansi{\\info{\\title Yearly report}{\\nofpages3}}\n" + lines + "}",
       "RTF document, 60 B, 3 pages, title (from the file): \"Yearly report\""},
      {"%!PS-Adobe-3.0\n%%Title: (Plotted)\n%%Pages: (atend)\n" + lines + "%%Trailer\n%%Pages: 3\n",
       "PostScript document, 78 B, 3 pages, title (from the file): \"Plotted\""},
      {"Snapshot-Content-Location: x\nFrom: a\nSubject: Kept page\nDate: b\nMIME-Version: "
       "1.0\nContent-Type: multipart/related\n\nx\n",
       "web page archive, 117 B, title (from the file): \"Kept page\""},
  };
  for (const auto& [text, begin] : texts) {
    const std::string line = line_of(text);
    EXPECT_EQ(line.substr(0, begin.size()), begin) << line;
  }
}

TEST(DescribeFormats, PartsAreTheSameForEveryChunking) {
  std::string text = "BEGIN:VCALENDAR\r\n";
  for (int i = 0; i < 700; ++i) text += "BEGIN:VEVENT\r\nEND:VEVENT\r\n";
  const std::string whole = line_of(text);
  EXPECT_NE(whole.find(", 700 events"), std::string::npos) << whole;
  for (const size_t step : {1u, 7u, 13u, 4'096u, 5'000u}) {
    FileLook look("", "");
    for (size_t at = 0; at < text.size(); at += step)
      look.push(std::string_view(text).substr(at, step));
    EXPECT_NE(look.finish().json.find(", 700 events"), std::string::npos) << step;
  }
}

TEST(DescribeFormats, PrivateKeysAreToldAndNotShown) {
  const std::string key =
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n";
  EXPECT_EQ(line_of(key), "private key, 87 B");
  const std::string ssh = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END";
  EXPECT_EQ(line_of(ssh), "SSH private key, 69 B");
}

TEST(DescribeFormats, PrivateKeysOfEveryProgramAreToldAndNotShown) {
  const std::vector<std::string> keys = {
      "# created: 2026-11-30T20:52:09Z\n# public key: age1xyz\nAGE-SECRET-KEY-1SECRET\n",
      "[Interface]\nPrivateKey = SECRET\n",
      "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: SECRET\n",
      "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nSECRET\n",
      "untrusted comment: minisign encrypted secret key\nSECRET\n",
      "untrusted comment: signify secret key\nSECRET\n",
      "Public Key Info:\n\tAlgorithm: EC\n\n-----BEGIN EC PRIVATE KEY-----\nSECRET\n",
      R"({"kty":"EC","x":"ab","y":"cd","crv":"P-256","d":"SECRET"})",
      R"({"keys":[{"kty":"oct", "k" : "SECRET"}]})",
  };
  for (const std::string& key : keys) {
    const std::string line = line_of(key);
    EXPECT_TRUE(line.starts_with("private key, ")) << line;
    EXPECT_EQ(line.find("SECRET"), std::string::npos) << line;
  }
  EXPECT_TRUE(line_of(R"({"kty":"EC","x":"ab","kid":"7","crv":"P-256"})").starts_with("JSON, "));
}

TEST(DescribeFormats, CommentsAboveDataAreNoHeadings) {
  const std::string vertices = "v 0.5 1 -2\nv 1 0 0\nv 0 1 0\n";
  const std::vector<std::pair<std::string, std::string_view>> texts = {
      {"# vtk DataFile Version 2.0\ncube\nASCII\nPOINTS 8 double\n0 0 0\n0 0 1\n", "VTK data, "},
      {"# Created by a program\n" + vertices + "f 1 2 3\n", "OBJ model, 58 B, 1 face"},
      {"mtllib a.mtl\no Cube\n" + vertices + "f 1 2 3\n", "OBJ model, "},
      {"o \n" + vertices + "vn 0 0 1\nf 1/1/1 2/2/2 3/3/3\n", "OBJ model, "},
      {"# time value\n0.5 1\n1.0 2\n1.5 4\n2.0 8\n", "text, "},
      {"# Notes\nThree things happened in 2026.\nOne was good.\n", "Markdown, "},
      {"v for victory\nv for vendetta\nv is a letter\n", "text, "},
  };
  for (const auto& [text, begin] : texts) EXPECT_EQ(line_of(text).substr(0, begin.size()), begin);
}

TEST(DescribeFormats, WideTextsAreDecoded) {
  const std::string little = "\xff\xfeG\0r\0\xfc\0\xdf\0e\0\n\0x\0"s;
  EXPECT_EQ(line_of(little), "UTF-16 text, 16 B, first line (from the file): \"Grüße\"");
  const std::string big = "\0\0\xfe\xff\0\0\0H\0\0\0i"s;
  EXPECT_EQ(line_of(big), "UTF-32 text, 12 B, first line (from the file): \"Hi\"");
  const std::string bare = "H\0e\0l\0l\0o\0 \0w\0o\0r\0l\0d\0"s;
  EXPECT_EQ(line_of(bare), "UTF-16 text, 22 B, first line (from the file): \"Hello world\"");
}

// --- nothing of a person -------------------------------------------------------------------------

/// What is never said of a file unless somebody asks for it.
constexpr std::string_view kPersonal[] = {"Mustermann", "4711-0815", "19700101",
                                          "1970-01-01", "jane@",     "secret.example",
                                          "52.5163",    "13.3777",   "Unter den Linden"};

TEST(DescribeFamilies, NothingOfAPersonIsSaid) {
  const std::string person = "Mustermann 4711-0815 1970-01-01 jane@secret.example 52.5163 13.3777";
  const std::vector<std::string> files = {
      dicom(false, true),
      dicom(true, true),
      dicom(false, false),
      "MSH|^~\\&|A|B|C|D|19700101||ADT^A01|1|P|2.5\rPID|1||4711-0815^^^X||Mustermann^Jane||"
      "19700101\r",
      "<?xml version=\"1.0\"?><ClinicalDocument xmlns=\"urn:hl7-org:v3\"><title>Letter about "
      "Mustermann"
      "</title><birthTime value=\"19700101\"/></ClinicalDocument>",
      "{\"resourceType\":\"Patient\",\"id\":\"4711-0815\",\"birthDate\":\"1970-01-01\",\"name\":"
      "\"Mustermann\"}",
      "{\"resourceType\":\"Bundle\",\"type\":\"Bundle\",\"entry\":[{\"name\":\"Mustermann\"}]}",
      "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Jane "
      "Mustermann\r\nEMAIL:jane@secret.example\r\nBDAY:19700101\r\n"
      "GEO:52.5163;13.3777\r\nEND:VCARD\r\n",
      "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nORGANIZER:mailto:jane@secret.example\r\nLOCATION:Unter "
      "den Linden\r\n"
      "END:VEVENT\r\nEND:VCALENDAR\r\n",
      "From: jane@secret.example\nTo: Mustermann <m@secret.example>\nSubject: Hello\nDate: Thu, 01 "
      "Jan 1970\n\n" +
          person,
      "From: \"jane@secret.example\" <jane@secret.example>\nTo: x\nSubject: Hello\nDate: "
      "19700101\n\nx",
      "From jane@secret.example Thu Jan  1 00:00:00 1970\nFrom: jane@secret.example\nTo: "
      "x\nSubject: y\n"
      "Date: 19700101\n\n" +
          person,
      "<?xml version=\"1.0\"?><gpx><trk><name>Unter den Linden</name><trkpt lat=\"52.5163\" "
      "lon=\"13.3777\"/>"
      "</trk></gpx>",
      "<kml><Document><Placemark><name>Unter den Linden</name><Point><coordinates>13.3777,52.5163"
      "</coordinates></Point></Placemark></Document></kml>",
      "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":{\"type\":"
      "\"Point\","
      "\"coordinates\":[13.3777,52.5163]}}]}",
      "<samlp:Response "
      "xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\"><NameID>jane@secret.example"
      "</NameID></samlp:Response>",
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA jane@secret.example\n",
      "\xff\xd8\xff\xe1"s + be(200, 2) + "Exif\0\0"s + person + zeros(100),
      box("ftyp", "isom") +
          box("moov", box("mvhd", zeros(100)) + box("udta", box("\xa9xyz", person))),
      behind("LASF", 24, "\1\2"s + person) + zeros(400),
      behind("", 148, person) + zeros(400),
  };
  for (const std::string& file : files) {
    const std::string line = line_of(file);
    for (const std::string_view detail : kPersonal) {
      EXPECT_EQ(line.find(detail), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace sluice

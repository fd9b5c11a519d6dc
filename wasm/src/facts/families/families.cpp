#include "facts/families/families.h"

#include "sluice/describe.h"
#include "sniff/types.h"

namespace sluice {

namespace families {

namespace {

/// No file has more rows, inodes or bytes.
constexpr uint64_t kMost = uint64_t{1} << 50;

}  // namespace

void append_sane_count(std::string& line, uint64_t count, std::string_view noun) {
  if (count <= kMost) append_count(line, count, noun);
}

std::string_view read_text(Bytes bytes, uint64_t at, uint64_t size) {
  if (at >= bytes.size()) return {};
  return as_text(bytes).substr(static_cast<size_t>(at), static_cast<size_t>(size));
}

namespace {

enum class Form : uint8_t {
  count,    ///< `, 12 triangles`: a number and its noun
  number,   ///< the words, then the number
  release,  ///< the words, then 7400 as `7.4`
  disk,     ///< `, 10.0 MB disk`: bytes
  sectors,  ///< of 512 bytes
  name,     ///< a text of that width, up to a NUL and without spaces behind it
};

/// A fact at a fixed place. Its kind and words are in `kWords`.
struct Field {
  uint16_t at;
  int8_t width;  ///< in bytes; negative: the highest comes first
  Form form;
};

constexpr Field kFields[] = {
    {32'808, 32, Form::name},  // ECMA-119 §8.4.7
    {24, -8, Form::disk},     {12, 8, Form::sectors}, {4, 4, Form::count},
    {10, 66, Form::name},     {80, 4, Form::count},   {7, 1, Form::number},
    {7, 1, Form::number},     {100, 1, Form::number}, {101, 1, Form::number},
    {80, 4, Form::count},     {23, 4, Form::release}, {10, -2, Form::count},
    {368, 8, Form::disk},     {4, 4, Form::count},    {8, 4, Form::count},
};
constexpr std::string_view kWords[][2] = {
    {"iso", ", volume"},    {"qcow2", ""},       {"vmdk", ""},           {"squashfs", "inode"},
    {"rpm", ", package"},   {"sav", "row"},      {"grib", ", edition "}, {"bufr", ", edition "},
    {"pmtiles", ", zoom "}, {"pmtiles", " to "}, {"stl", "triangle"},    {"fbx", ", version "},
    {"mid", "track"},       {"vdi", ""},         {"dbf", "row"},         {"mo", "message"},
};

void append_field(std::string& line, const Field& field, std::string_view words, Bytes head) {
  if (field.form == Form::name) {
    std::string_view name = read_text(head, field.at, static_cast<uint64_t>(field.width));
    name = name.substr(0, name.find('\0'));
    Quotes(line, words).add(name.substr(0, name.find_last_not_of(' ') + 1));
    return;
  }
  const bool big = field.width < 0;
  const auto width = static_cast<size_t>(big ? -field.width : field.width);
  const uint64_t number = read_integer(head, field.at, width, big);
  const bool is_release = field.form == Form::number || field.form == Form::release;
  if (!is_release && (number == 0 || number > kMost)) return;
  if (field.form == Form::count) return append_count(line, number, words);
  if (!is_release) {
    line += ", ";
    line += human_size(field.form == Form::disk ? number : number * 512);
    line += " disk";
    return;
  }
  line += words;
  line += std::to_string(field.form == Form::number ? number : number / 1'000);
  if (field.form == Form::release) (line += '.') += std::to_string(number % 1'000 / 100);
}

/// Kinds whose facts are a walk away, and who walks.
constexpr std::string_view kWalked[][1] = {
    {"sqlite"}, {"gpkg"}, {"mbtiles"}, {"parquet"}, {"npy"},  {"dta"}, {"fits"},
    {"nc"},     {"nii"},  {"dcm"},     {"shp"},     {"las"},  {"laz"}, {"tiff"},
    {"dwg"},    {"pcap"}, {"pcapng"},  {"der"},     {"glb"},  {"ply"}, {"mrc"},
    {"mgh"},    {"img"},  {"fgb"},     {"avro"},    {"djvu"},
};
constexpr Append kWalks[] = {
    append_tables,    append_tables,    append_tables,      append_parquet,  append_array,
    append_stata,     append_fits,      append_netcdf,      append_nifti,    append_dicom,
    append_shapes,    append_points,    append_points,      append_tiff,     append_dwg,
    append_packets,   append_blocks,    append_certificate, append_meshes,   append_ply,
    append_map_sides, append_mgh_sides, append_volume,      append_features, append_avro,
    append_leaves,
};

}  // namespace

}  // namespace families

void append_family_facts(std::string& line, const Glimpse& file, std::string_view extension) {
  using sniffing::packed;
  using sniffing::Texts;
  const families::Field* field = families::kFields;
  for (Texts texts(packed<families::kWords>); !texts.done(); ++field) {
    const bool met = texts.next() == extension;
    const std::string_view words = texts.next();
    if (met) families::append_field(line, *field, words, file.head);
  }
  const families::Append* append = families::kWalks;
  for (Texts texts(packed<families::kWalked>); !texts.done(); ++append) {
    if (texts.next() == extension) return (*append)(line, file);
  }
}

}  // namespace sluice

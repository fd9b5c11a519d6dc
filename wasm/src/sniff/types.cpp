// The type tables: MIME type, extension, and what a person calls it. The kinds that their bytes
// give away are in signatures.def.
#include "sniff/types.h"

namespace sluice::sniffing {
namespace {

/// MIME type, extension, label: every kind that can be sniffed, in the order of `Kind`.
constexpr std::string_view kSniffable[][3] = {
#define KIND(name, ...) {__VA_ARGS__},
#include "sniff/signatures.def"
};

// clang-format off
/// MIME types that are known by name only.
constexpr std::string_view kNamed[][3] = {
    {"application/octet-stream", "bin", "binary data"},
    {"text/plain", "txt", "text"},
    {"text/csv", "csv", "CSV"},
    {"text/tab-separated-values", "tsv", "TSV"},
    {"text/markdown", "md", "Markdown"},
    {"application/json", "json", "JSON"},
    {"application/x-ndjson", "ndjson", "NDJSON"},
    {"application/json-seq", "json-seq", "JSON sequence"},
    {"application/ld+json", "jsonld", "JSON-LD"},
    {"application/geo+json", "geojson", "GeoJSON"},
    {"application/x-ipynb+json", "ipynb", "Jupyter notebook"},
    {"application/manifest+json", "webmanifest", "web manifest"},
    {"text/xml", "xml", "XML"},
    {"application/xhtml+xml", "xhtml", "XHTML"},
    {"application/rss+xml", "rss", "RSS feed"},
    {"application/atom+xml", "atom", "Atom feed"},
    {"application/vnd.google-earth.kml+xml", "kml", "KML map"},
    {"application/gpx+xml", "gpx", "GPX track"},
    {"application/mathml+xml", "mathml", "MathML"},
    {"application/vnd.tableau.workbook", "twb", "Tableau workbook"},
    {"application/xml-dtd", "dtd", "XML DTD"},
    {"application/xslt+xml", "xslt", "XSLT"},
    {"text/yaml", "yaml", "YAML"},
    {"application/yaml", "yaml", "YAML"},
    {"application/toml", "toml", "TOML"},
    {"text/css", "css", "CSS"},
    {"text/javascript", "js", "JavaScript"},
    {"application/typescript", "ts", "TypeScript"},
    {"text/calendar", "ics", "calendar"},
    {"text/vcard", "vcf", "vCard"},
    {"text/vtt", "vtt", "WebVTT subtitles"},
    {"application/x-subrip", "srt", "SubRip subtitles"},
    {"text/rust", "rs", "Rust source"},
    {"text/x-python", "py", "Python source"},
    {"text/x-java-source", "java", "Java source"},
    {"text/x-c", "c", "C source"},
    {"text/x-c++", "cpp", "C++ source"},
    {"text/x-go", "go", "Go source"},
    {"text/x-diff", "diff", "diff"},
    {"text/x-log", "log", "log"},
    {"text/x-tex", "tex", "TeX source"},
    {"text/troff", "man", "troff document"},
    {"application/x-sh", "sh", "shell script"},
    {"application/sql", "sql", "SQL"},
    {"application/graphql", "graphql", "GraphQL"},
    {"application/x-www-form-urlencoded", "txt", "form data"},
    {"multipart/form-data", "txt", "form data"},
    {"message/rfc822", "eml", "email message"},
    {"application/mbox", "mbox", "mailbox"},
    {"application/pem-certificate-chain", "pem", "certificate"},
    {"application/x-x509-ca-cert", "crt", "certificate"},
    {"application/pkcs7-mime", "p7m", "PKCS #7 message"},
    {"application/pgp-encrypted", "pgp", "PGP message"},
    {"application/bson", "bson", "BSON"},
    {"application/x-protobuf", "pb", "Protocol Buffers data"},
    {"application/x-iso9660-image", "iso", "disc image"},
    {"application/x-apple-diskimage", "dmg", "disk image"},
    {"application/vnd.ms-fontobject", "eot", "EOT font"},
    {"application/x-shockwave-flash", "swf", "Flash movie"},
    {"application/x-msi", "msi", "Windows installer"},
    {"application/vnd.ms-project", "mpp", "Project plan"},
    {"application/vnd.ms-visio.drawing", "vsdx", "Visio drawing"},
    {"application/vnd.ms-xpsdocument", "xps", "XPS document"},
    {"application/vnd.ms-word.document.macroenabled.12", "docm", "Word document"},
    {"application/vnd.ms-excel.sheet.macroenabled.12", "xlsm", "Excel workbook"},
    {"application/vnd.ms-powerpoint.presentation.macroenabled.12", "pptm", "PowerPoint presentation"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.template", "dotx", "Word template"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.template", "xltx", "Excel template"},
    {"application/vnd.openxmlformats-officedocument.presentationml.template", "potx", "PowerPoint template"},
    {"application/vnd.openxmlformats-officedocument.presentationml.slideshow", "ppsx", "PowerPoint slide show"},
    {"application/vnd.oasis.opendocument.formula", "odf", "OpenDocument formula"},
    {"application/vnd.apple.pages", "pages", "Pages document"},
    {"application/vnd.apple.numbers", "numbers", "Numbers spreadsheet"},
    {"application/vnd.apple.keynote", "key", "Keynote presentation"},
    {"application/illustrator", "ai", "Illustrator drawing"},
    {"application/mp4", "mp4", "MP4 file"},
    {"image/apng", "apng", "PNG animation"},
    {"image/x-adobe-dng", "dng", "DNG image"},
    {"image/heic-sequence", "heics", "HEIC image sequence"},
    {"image/heif-sequence", "heifs", "HEIF image sequence"},
    {"image/vnd.dxf", "dxf", "AutoCAD drawing"},
    {"image/emf", "emf", "Windows metafile"},
    {"image/wmf", "wmf", "Windows metafile"},
    {"audio/opus", "opus", "Opus audio"},
    {"audio/l16", "pcm", "PCM audio"},
    {"audio/pcm", "pcm", "PCM audio"},
    {"model/stl", "stl", "STL model"},
    {"model/obj", "obj", "OBJ model"},
    {"model/gltf+json", "gltf", "glTF model"},
};
// clang-format on

TypeRow next_row(Texts& texts) {
  TypeRow row;
  row.mime_type = texts.next();
  row.extension = texts.next();
  row.label = texts.next();
  return row;
}

std::optional<TypeRow> find_in(Texts texts, std::string_view mime_type) {
  while (!texts.done()) {
    const TypeRow row = next_row(texts);
    if (row.mime_type == mime_type) return row;
  }
  return std::nullopt;
}

}  // namespace

TypeRow row_of(Kind kind) {
  Texts texts(packed<kSniffable>);
  for (size_t before = 3 * static_cast<size_t>(kind); before > 0; --before) texts.next();
  return next_row(texts);
}

std::optional<TypeRow> find_type(std::string_view mime_type) {
  const auto row = find_in(Texts(packed<kSniffable>), mime_type);
  return row ? row : find_in(Texts(packed<kNamed>), mime_type);
}

std::vector<std::string_view> all_types() {
  std::vector<std::string_view> types;
  for (const Texts& table : {Texts(packed<kSniffable>), Texts(packed<kNamed>)}) {
    for (Texts texts = table; !texts.done();) types.push_back(next_row(texts).mime_type);
  }
  return types;
}

FileType to_file_type(const TypeRow& row) {
  return {std::string(row.mime_type), std::string(row.extension), std::string(row.label)};
}

}  // namespace sluice::sniffing

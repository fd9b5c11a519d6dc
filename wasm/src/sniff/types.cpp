// The type tables: MIME type, extension, and what a person calls it.
#include "sniff/types.h"

namespace sluice::sniffing {
namespace {

// clang-format off
/// MIME type, extension, label: every kind that can be sniffed, in the order of `Kind`.
constexpr std::string_view kSniffable[][3] = {
    {"application/pdf", "pdf", "PDF"},
    {"application/postscript", "ps", "PostScript document"},
    {"application/postscript", "eps", "EPS image"},
    {"application/rtf", "rtf", "RTF document"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", "Word document"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx", "Excel workbook"},
    {"application/vnd.ms-excel.sheet.binary.macroenabled.12", "xlsb", "Excel workbook"},
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx", "PowerPoint presentation"},
    {"application/vnd.oasis.opendocument.text", "odt", "OpenDocument text"},
    {"application/vnd.oasis.opendocument.spreadsheet", "ods", "OpenDocument spreadsheet"},
    {"application/vnd.oasis.opendocument.presentation", "odp", "OpenDocument presentation"},
    {"application/vnd.oasis.opendocument.graphics", "odg", "OpenDocument drawing"},
    {"application/epub+zip", "epub", "EPUB book"},
    {"application/vnd.tableau.packaged", "twbx", "Tableau workbook"},
    {"application/msword", "doc", "Word document"},
    {"application/vnd.ms-excel", "xls", "Excel workbook"},
    {"application/vnd.ms-powerpoint", "ppt", "PowerPoint presentation"},
    {"application/vnd.ms-outlook", "msg", "Outlook message"},
    {"application/vnd.visio", "vsd", "Visio drawing"},
    {"application/x-ole-storage", "ole", "OLE compound file"},
    {"text/html", "html", "HTML"},
    {"application/xml", "xml", "XML"},
    {"application/x-mobipocket-ebook", "mobi", "Mobipocket book"},

    {"image/png", "png", "PNG image"},
    {"image/jpeg", "jpg", "JPEG image"},
    {"image/gif", "gif", "GIF image"},
    {"image/webp", "webp", "WebP image"},
    {"image/avif", "avif", "AVIF image"},
    {"image/heic", "heic", "HEIC image"},
    {"image/heif", "heif", "HEIF image"},
    {"image/tiff", "tiff", "TIFF image"},
    {"image/bmp", "bmp", "BMP image"},
    {"image/vnd.microsoft.icon", "ico", "Windows icon"},
    {"image/x-win-bitmap", "cur", "Windows cursor"},
    {"image/x-icns", "icns", "Apple icon"},
    {"image/vnd.adobe.photoshop", "psd", "Photoshop image"},
    {"image/vnd.adobe.photoshop", "psb", "Photoshop image"},
    {"image/jxl", "jxl", "JPEG XL image"},
    {"image/svg+xml", "svg", "SVG image"},
    {"image/jp2", "jp2", "JPEG 2000 image"},
    {"image/jpx", "jpx", "JPEG 2000 image"},
    {"image/jpm", "jpm", "JPEG 2000 image"},
    {"image/j2c", "j2c", "JPEG 2000 codestream"},
    {"image/vnd.djvu", "djvu", "DjVu document"},
    {"image/x-exr", "exr", "OpenEXR image"},
    {"image/fits", "fits", "FITS image"},
    {"application/dicom", "dcm", "DICOM image"},

    {"audio/mpeg", "mp3", "MP3 audio"},
    {"audio/wav", "wav", "WAV audio"},
    {"audio/flac", "flac", "FLAC audio"},
    {"audio/ogg", "ogg", "Ogg audio"},
    {"audio/ogg", "opus", "Opus audio"},
    {"audio/aac", "aac", "AAC audio"},
    {"audio/midi", "mid", "MIDI music"},
    {"audio/aiff", "aiff", "AIFF audio"},
    {"audio/amr", "amr", "AMR audio"},
    {"audio/amr-wb", "awb", "AMR-WB audio"},
    {"audio/x-caf", "caf", "CAF audio"},
    {"audio/basic", "au", "AU audio"},
    {"audio/mp4", "m4a", "M4A audio"},
    {"audio/x-ms-wma", "wma", "WMA audio"},

    {"video/mp4", "mp4", "MP4 video"},
    {"video/x-m4v", "m4v", "M4V video"},
    {"video/quicktime", "mov", "QuickTime video"},
    {"video/3gpp", "3gp", "3GP video"},
    {"video/3gpp2", "3g2", "3G2 video"},
    {"video/webm", "webm", "WebM video"},
    {"video/x-matroska", "mkv", "Matroska video"},
    {"video/x-msvideo", "avi", "AVI video"},
    {"video/ogg", "ogv", "Ogg video"},
    {"application/ogg", "ogx", "Ogg file"},
    {"video/x-flv", "flv", "Flash video"},
    {"video/x-ms-asf", "asf", "ASF media"},
    {"video/x-ms-wmv", "wmv", "WMV video"},
    {"video/mj2", "mj2", "Motion JPEG 2000 video"},
    {"video/mpeg", "mpg", "MPEG video"},
    {"video/mp2t", "ts", "MPEG transport stream"},

    {"application/zip", "zip", "ZIP archive"},
    {"application/java-archive", "jar", "Java archive"},
    {"application/vnd.android.package-archive", "apk", "Android package"},
    {"application/vnd.google-earth.kmz", "kmz", "KMZ map"},
    {"application/gzip", "gz", "gzip file"},
    {"application/zstd", "zst", "Zstandard archive"},
    {"application/x-xz", "xz", "XZ archive"},
    {"application/x-bzip2", "bz2", "bzip2 archive"},
    {"application/x-7z-compressed", "7z", "7-Zip archive"},
    {"application/vnd.rar", "rar", "RAR archive"},
    {"application/x-tar", "tar", "tar archive"},
    {"application/x-lz4", "lz4", "LZ4 archive"},
    {"application/lzip", "lz", "lzip archive"},
    {"application/vnd.ms-cab-compressed", "cab", "Cabinet archive"},
    {"application/x-archive", "a", "ar archive"},
    {"application/vnd.debian.binary-package", "deb", "Debian package"},
    {"application/x-rpm", "rpm", "RPM package"},

    {"application/vnd.sqlite3", "sqlite", "SQLite database"},
    {"application/x-duckdb", "duckdb", "DuckDB database"},
    {"application/vnd.apache.parquet", "parquet", "Parquet table"},
    {"application/vnd.apache.arrow.file", "arrow", "Arrow table"},
    {"application/vnd.apache.arrow.stream", "arrows", "Arrow stream"},
    {"application/x-feather", "feather", "Feather table"},
    {"application/avro", "avro", "Avro data"},
    {"application/vnd.apache.orc", "orc", "ORC table"},
    {"application/x-hdf5", "h5", "HDF5 data"},
    {"application/x-netcdf", "nc", "NetCDF data"},
    {"application/x-npy", "npy", "NumPy array"},
    {"application/x-matlab-data", "mat", "MATLAB data"},
    {"application/x-bplist", "plist", "binary property list"},
    {"application/vnd.tcpdump.pcap", "pcap", "packet capture"},
    {"application/x-pcapng", "pcapng", "packet capture"},
    {"model/gltf-binary", "glb", "glTF model"},

    {"font/woff", "woff", "WOFF font"},
    {"font/woff2", "woff2", "WOFF2 font"},
    {"font/ttf", "ttf", "TrueType font"},
    {"font/otf", "otf", "OpenType font"},
    {"font/collection", "ttc", "font collection"},

    {"application/wasm", "wasm", "WebAssembly module"},
    {"application/x-elf", "elf", "ELF binary"},
    {"application/vnd.microsoft.portable-executable", "exe", "Windows program"},
    {"application/x-mach-binary", "macho", "Mach-O binary"},
    {"application/java-vm", "class", "Java class"},
};

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
    {"application/x-pkcs12", "p12", "PKCS #12 key store"},
    {"application/pgp-encrypted", "pgp", "PGP message"},
    {"application/cbor", "cbor", "CBOR"},
    {"application/msgpack", "msgpack", "MessagePack"},
    {"application/x-protobuf", "pb", "Protocol Buffers data"},
    {"application/x-python-pickle", "pickle", "Python pickle"},
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
    {"application/geopackage+sqlite3", "gpkg", "GeoPackage"},
    {"application/illustrator", "ai", "Illustrator drawing"},
    {"application/mp4", "mp4", "MP4 file"},
    {"image/apng", "apng", "PNG animation"},
    {"image/x-adobe-dng", "dng", "DNG image"},
    {"image/heic-sequence", "heics", "HEIC image sequence"},
    {"image/heif-sequence", "heifs", "HEIF image sequence"},
    {"image/vnd.dwg", "dwg", "AutoCAD drawing"},
    {"image/vnd.dxf", "dxf", "AutoCAD drawing"},
    {"image/emf", "emf", "Windows metafile"},
    {"image/wmf", "wmf", "Windows metafile"},
    {"audio/opus", "opus", "Opus audio"},
    {"audio/webm", "weba", "WebM audio"},
    {"audio/x-matroska", "mka", "Matroska audio"},
    {"audio/l16", "pcm", "PCM audio"},
    {"audio/pcm", "pcm", "PCM audio"},
    {"model/stl", "stl", "STL model"},
    {"model/obj", "obj", "OBJ model"},
    {"model/gltf+json", "gltf", "glTF model"},
};
// clang-format on

static_assert(std::size(kSniffable) == static_cast<size_t>(Kind::count));
static_assert(kSniffable[static_cast<size_t>(Kind::png)][1] == "png");
static_assert(kSniffable[static_cast<size_t>(Kind::mp3)][1] == "mp3");
static_assert(kSniffable[static_cast<size_t>(Kind::mp4)][1] == "mp4");
static_assert(kSniffable[static_cast<size_t>(Kind::zip)][1] == "zip");
static_assert(kSniffable[static_cast<size_t>(Kind::sqlite)][1] == "sqlite");
static_assert(kSniffable[static_cast<size_t>(Kind::java_class)][1] == "class");

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

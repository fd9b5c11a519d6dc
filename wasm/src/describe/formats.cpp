#include "describe/formats.h"

#include <algorithm>

#include "describe/facts.h"
#include "describe/markup.h"
#include "sluice/codec.h"
#include "sniff/structure.h"
#include "sniff/types.h"
#include "text/ascii.h"

namespace sluice {

// --- parts -------------------------------------------------------------------------------------

namespace {

uint64_t count_in(std::string_view text, std::string_view token) {
  uint64_t count = 0;
  for (size_t at = 0; (at = text.find(token, at)) != text.npos; at += token.size()) ++count;
  return count;
}

}  // namespace

void TokenCount::push(std::string_view text) {
  if (token_.empty() || text.empty()) return;
  const size_t overlap = token_.size() - 1;
  seam_ += text.substr(0, overlap);
  count_ += count_in(seam_, token_) + count_in(text, token_);
  if (text.size() >= overlap) {
    seam_ = text.substr(text.size() - overlap);
  } else if (seam_.size() > overlap) {
    seam_.erase(0, seam_.size() - overlap);
  }
}

// --- which kind --------------------------------------------------------------------------------

namespace {

/// How a format is told, what of it tells it, a word that its head or its outline has as well, and
/// the members of `TextFormat`. Told by: `<` the name of the root without its prefix, `<t` the same
/// of a format whose titles people write, `{` a member of the outline, nothing: what a text begins
/// with.
constexpr std::string_view kFormats[][6] = {
    {"<", "kml", "", "KML map", "<Placemark", "place"},
    {"<", "gpx", "<trk", "GPX track", "<trkpt", "point"},
    {"<", "gpx", "<wpt", "GPX map", "<wpt ", "place"},
    {"<", "gpx", "", "GPX track", "<trkpt", "point"},
    {"<t", "rss", "", "RSS feed", "<item>", "item"},
    {"<t", "feed", "Atom", "Atom feed", "<entry>", "entry"},
    {"<t", "FictionBook", "", "FictionBook", "", ""},
    {"<t", "TEI", "", "TEI document", "", ""},
    {"<t", "article", "docbook", "DocBook document", "", ""},
    {"<t", "book", "docbook", "DocBook document", "", ""},
    {"<", "testsuites", "", "JUnit report", "<testcase", "test"},
    {"<", "testsuite", "", "JUnit report", "<testcase", "test"},
    {"<", "xbrl", "", "XBRL report", "", ""},
    {"<", "Response", "SAML", "SAML response", "", ""},
    {"<", "AuthnRequest", "SAML", "SAML request", "", ""},
    {"<", "EntityDescriptor", "SAML", "SAML metadata", "", ""},
    {"<", "ClinicalDocument", "hl7", "CDA document", "", ""},
    {"<", "Bundle", "fhir", "FHIR Bundle", "<entry>", "entry"},
    {"<", "FeatureCollection", "opengis.net/gml", "GML map", "eatureMember>", "feature"},
    {"<", "molecule", "<atomArray", "CML molecule", "<atom ", "atom"},
    {"<", "nmaprun", "", "Nmap report", "</host>", "host"},
    {"<", "Workbook", "gnumeric.org", "Gnumeric workbook", "", ""},
    {"<", "mzML", "", "mzML spectra", "<spectrum ", "spectrum"},
    {"<", "indexedmzML", "", "mzML spectra", "<spectrum ", "spectrum"},
    {"<", "urlset", "", "sitemap", "<url>", "page"},
    {"<", "plist", "", "property list", "", ""},
    {"<", "COLLADA", "", "COLLADA model", "", ""},
    {"<", "X3D", "", "X3D model", "", ""},
    {"<", "osm", "", "OpenStreetMap data", "<node ", "node"},
    {"<", "schema", "XMLSchema", "XML schema", "", ""},
    {"<t", "score-partwise", "", "MusicXML score", "<part ", "part"},
    {"{", "features: array", "\"FeatureCollection\"", "GeoJSON", "features: array", "feature"},
    {"{", "arcs: ", "\"Topology\"", "TopoJSON", "", ""},
    {"{", "cells: array", "nbformat: integer", "Jupyter notebook", "cells: array", "cell"},
    {"{", "log: object", "\"entries\"", "HAR", "\"request\"", "request"},
    {"{", "entry: array", "\"Bundle\"", "FHIR Bundle", "entry: array", "entry"},
    {"{", "resourceType: string", "", "FHIR resource", "", ""},
    {"{", "runs: array", "sarif", "SARIF report", "\"ruleId\"", "result"},
    {"{", "openapi: string", "info: object", "OpenAPI description", "", ""},
    {"{", "swagger: string", "info: object", "OpenAPI description", "", ""},
    {"{", "lockfileVersion: integer", "", "npm lockfile", "", ""},
    {"{", "item: array", "postman", "Postman collection", "", ""},
    {"{", "bomFormat: string", "", "CycloneDX bill of materials", "components: array", "component"},
    {"{", "packages: array", "spdxVersion: string", "SPDX bill of materials", "packages: array",
     "package"},
    {"{", "elements: array", "\"excalidraw\"", "Excalidraw drawing", "elements: array", "element"},
    {"{", "meshes: array", "asset: object", "glTF model", "meshes: array", "mesh"},
    {"{", "asset: object", "\"accessors\"", "glTF model", "meshes: array", "mesh"},
    {"{", "keys: array", "kty: string", "JSON Web Key Set", "keys: array", "key"},
    {"{", "traceEvents: array", "", "trace", "traceEvents: array", "event"},
    {"", "BEGIN:VCALENDAR", "", "calendar", "BEGIN:VEVENT", "event"},
    {"", "BEGIN:VCARD", "", "vCard", "BEGIN:VCARD", "card"},
    {"", "[Script Info]", "", "SubStation subtitles", "\nDialogue: ", "cue"},
    {"", "LOCUS  ", "", "GenBank records", "\nLOCUS ", "sequence"},
    {"", "ID   ", "\nXX", "EMBL records", "\nID ", "sequence"},
    {"", "@<TRIPOS>MOLECULE", "", "Mol2 molecules", "@<TRIPOS>MOLECULE", "molecule"},
    {"", "@HD\tVN:", "", "SAM alignments", "\n@", "read"},
    {"", "@SQ\tSN:", "", "SAM alignments", "\n@", "read"},
    {"", "ncols ", "nrows ", "ASCII grid", "", ""},
    {"", "$MeshFormat", "", "Gmsh mesh", "", ""},
    {"", "OFF\n", "", "OFF model", "", ""},
    {"", "; generated by ", "", "G-code", "", "line"},
    {"", ";FLAVOR:", "", "G-code", "", "line"},
    {"", "SVN-fs-dump-format", "", "Subversion dump", "\nRevision-number: ", "revision"},
    {"", "WEBVTT", "", "WebVTT subtitles", "-->", "cue"},
    {"", "##fileformat=VCF", "", "VCF variants", "\n#", "variant"},
    {"", "HEADER    ", "", "PDB structure", "\nATOM  ", "atom"},
    {"", "COMPND    ", "\nHETATM", "PDB structure", "\nHETATM", "atom"},
    {"", "TITLE     ", "\nATOM  ", "PDB structure", "\nATOM  ", "atom"},
    {"", "REMARK ", "\nATOM  ", "PDB structure", "\nATOM  ", "atom"},
    {"", "CRYST1 ", "\nATOM  ", "PDB structure", "\nATOM  ", "atom"},
    {"", "ISO-10303-21;", "'IFC", "IFC model", "\n#", "entity"},
    {"", "ISO-10303-21;", "", "STEP model", "\n#", "entity"},
    {"", "solid", "facet normal", "STL model", "endfacet", "triangle"},
    {"", "ply\n", "", "PLY model", "", ""},
    {"", "ply\r", "", "PLY model", "", ""},
    {"", "MSH|^~\\&", "", "HL7 message", "", ""},
    {"", "-----BEGIN PGP PUBLIC", "", "PGP public key", "", ""},
    {"", "-----BEGIN PGP PRIVATE", "", "PGP private key", "", ""},
    {"", "-----BEGIN PGP MESSAGE", "", "PGP message", "", ""},
    {"", "-----BEGIN PGP SIGNAT", "", "PGP signature", "", ""},
    {"", "-----BEGIN CERTIFICATE REQ", "", "certificate request", "", ""},
    {"", "-----BEGIN NEW CERTIFICATE REQ", "", "certificate request", "", ""},
    {"", "PKCS #10 Certificate Request", "", "certificate request", "", ""},
    {"", "-----BEGIN AGE ENCRYPTED", "", "age encrypted file", "", ""},
    {"", "untrusted comment: minisign public", "", "minisign public key", "", ""},
    {"", "untrusted comment: signify public", "", "signify public key", "", ""},
    {"", "-----BEGIN CERTIFICATE", "", "certificate", "-----BEGIN CERT", "certificate"},
    {"", "-----BEGIN OPENSSH PRIVATE", "", "SSH private key", "", ""},
    {"", "-----BEGIN ", "PRIVATE KEY-----", "private key", "", ""},
    {"", "-----BEGIN PUBLIC KEY", "", "public key", "", ""},
    {"", "-----BEGIN PKCS7", "", "PKCS #7 certificates", "", ""},
    {"", "ssh-rsa AAAA", "", "SSH public key", "", ""},
    {"", "ssh-ed25519 AAAA", "", "SSH public key", "", ""},
    {"", "ecdsa-sha2-", " AAAA", "SSH public key", "", ""},
    {"", "# vtk DataFile", "", "VTK data", "", ""},
    {"", "WARC/1.", "", "web archive", "\nWARC/1.", "record"},
};

/// Lines from the beginning of a text on, one at a time.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_all(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == text.npos;
}

/// Whether lines of Wavefront OBJ stand there: a keyword each, among them a vertex.
bool is_obj(std::string_view head) {
  constexpr std::string_view kWords[] = {"v", "vt", "vn", "vp", "f",      "l",
                                         "p", "o",  "g",  "s",  "usemtl", "mtllib"};
  constexpr int kLooked = 40;
  bool vertex = false;
  for (int i = 0; i < kLooked && head.find('\n') != head.npos; ++i) {
    const std::string_view line = take_line(head);
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    const std::string_view word = line.substr(0, space);
    // A group may have no name.
    if (space == line.npos && word != "g" && word != "o") return false;
    if (std::find(std::begin(kWords), std::end(kWords), word) == std::end(kWords)) return false;
    const std::string_view rest = line.substr(std::min(space, line.size() - 1) + 1);
    vertex = vertex || (word == "v" && is_all(rest, "0123456789.+-eE "));
  }
  return vertex;
}

/// Kinds whose first lines have a form: sequences, subtitles, mail, drawings.
TextFormat find_by_lines(std::string_view head) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kResidues = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*-";
  constexpr size_t kLongLine = 30;
  const std::string_view all = head;
  const std::string_view first = take_line(head);
  const std::string_view second = take_line(head);
  const std::string_view third = take_line(head);
  // A protein in short lines could be a quoted word.
  const bool sequence =
      is_all(second, "ACGTUNacgtun") || (second.size() >= kLongLine && is_all(second, kResidues));
  if (first.starts_with('>') && sequence) {
    return {"FASTA sequences", "\n>", "sequence"};
  }
  const std::string_view fourth = take_line(head);
  if (fourth.ends_with(" V2000") || fourth.ends_with(" V3000")) {
    return {"MDL molecules", "\nM  END", "molecule"};
  }
  if (first.starts_with('@') && third.starts_with('+') && second.size() == fourth.size() &&
      is_all(second, kResidues)) {
    return {"FASTQ reads", "\n", "read"};
  }
  if (is_all(first, kDigits) && second.find(" --> ") == 12 && second[2] == ':') {
    return {"SubRip subtitles", " --> ", "cue"};
  }
  if (is_obj(all)) return {"OBJ model", "\nf ", "face"};
  const std::string_view code = first.substr(std::min(first.find_first_not_of(' '), first.size()));
  if ((code == "0" && second == "SECTION") || (code == "999" && head.find("SECTION") != head.npos))
    return {"DXF drawing", "", ""};
  if (first.size() == 80 && first[72] == 'S' && first.ends_with('1')) return {"IGES model", "", ""};
  const bool separated = first.starts_with("From ");
  std::string_view rest = separated ? all.substr(first.size()) : all;
  if (separated) take_line(rest);
  // Header fields (RFC 5322 §2.2) up to an empty line: at least three that mail has.
  constexpr std::string_view kFields[] = {"from",        "to",       "subject",     "date",
                                          "message-id",  "cc",       "received",    "mime-version",
                                          "return-path", "reply-to", "delivered-to"};
  int fields = 0;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    if (line[0] == ' ' || line[0] == '\t') continue;
    const size_t colon = line.find(':');
    if (colon == line.npos || line.substr(0, colon).find(' ') != line.npos) return {};
    const std::string name = lowered(line.substr(0, colon));
    fields += std::find(std::begin(kFields), std::end(kFields), name) != std::end(kFields);
  }
  if (fields < 3) return {};
  if (separated) return {"mailbox", "\nFrom ", "message"};
  if (all.find("multipart/related") != all.npos &&
      all.find("Snapshot-Content-Location") != all.npos)
    return {"web page archive", "", ""};
  return {"email message", "isposition: attachment", "attachment"};
}

/// The name of the root of an XML document, without its prefix; empty for anything else.
std::string_view read_root(std::string_view text) {
  while (text.starts_with("<!") || text.starts_with("<?")) {
    if (text.starts_with("<!D")) {
      text = behind_doctype(text);
    } else {
      const std::string_view end = text.starts_with("<?") ? "?>" : "-->";
      text = text.substr(std::min(text.find(end), text.size() - end.size()) + end.size());
    }
    text = text.substr(std::min(text.find_first_not_of(kWhite), text.size()));
  }
  if (!text.starts_with('<')) return {};
  const std::string_view name = text.substr(1, text.find_first_of(" \t\r\n/>") - 1);
  return name.substr(name.find(':') + 1);
}

}  // namespace

TextFormat find_text_format(std::string_view head, std::string_view outline) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::string_view root = outline.empty() ? read_root(head) : std::string_view();
  // Of JSON whose outline is not known yet only what its parts are counted by.
  const bool json = head.starts_with('{') || head.starts_with('[');
  for (sniffing::Texts texts(sniffing::packed<kFormats>); !texts.done();) {
    const std::string_view by = texts.next();
    const std::string_view name = texts.next();
    const std::string_view word = texts.next();
    TextFormat format;
    format.label = texts.next();
    format.token = texts.next();
    format.noun = texts.next();
    format.has_title = by == "<t";
    const bool fits =
        by == "{" ? (outline.empty()
                         ? json && format.token.starts_with('"')
                         : outline.starts_with("object {") && outline.find(name) != outline.npos)
                  : outline.empty() && (by.empty() ? head.starts_with(name) : root == name);
    if (fits && (head.find(word) != head.npos || outline.find(word) != outline.npos)) return format;
  }
  return json || !root.empty() || !outline.empty() ? TextFormat{} : find_by_lines(head);
}

// A line of its own, so that programs that look for keys stay as they are.
bool is_private_key(std::string_view head) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kLines[] = {"AGE-SECRET-KEY-1",
                                         "PrivateKey = ",
                                         "PrivateKey: ",
                                         "PuTTY-User-Key-File-",
                                         "untrusted comment: minisign encrypted secret key",
                                         "untrusted comment: signify secret key"};
  constexpr size_t kLongestName = 32;
  // A JSON Web Key (RFC 7517) that has `d` or `k` is private.
  if (head.find("\"kty\"") != head.npos) {
    for (const std::string_view member : {"\"d\"", "\"k\""}) {
      const size_t at = head.find(member);
      if (at != head.npos && head.substr(at + member.size(), 2).find(':') < 2) return true;
    }
  }
  for (size_t at = 0; at < head.size();) {
    const std::string_view line = head.substr(at);
    const bool pem = line.starts_with(kBegin) &&
                     line.substr(0, kBegin.size() + kLongestName).find("PRIVATE KEY") != line.npos;
    if (pem || std::any_of(std::begin(kLines), std::end(kLines),
                           [line](std::string_view begin) { return line.starts_with(begin); })) {
      return true;
    }
    const size_t end = head.find('\n', at);
    if (end == head.npos) break;
    at = end + 1;
  }
  return false;
}

// --- facts -------------------------------------------------------------------------------------

namespace {

/// A header field of a message, its folded lines joined.
std::string read_field(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    std::string_view line = take_line(head);
    if (line.empty()) return {};
    if (!lowered(line.substr(0, name.size())).starts_with(name)) continue;
    std::string value(line.substr(name.size()));
    while (head.starts_with(' ') || head.starts_with('\t')) value += take_line(head);
    return value;
  }
  return {};
}

std::string decode_base64(std::string_view word) {
  std::string bytes(decoded_capacity(word.size()), '\0');
  auto* const out = reinterpret_cast<uint8_t*>(bytes.data());
  const Decoded whole = decode(as_bytes(word), Alphabet::standard, out);
  word.remove_prefix(whole.read);
  const auto rest = decode_tail(as_bytes(word.substr(0, word.find('='))), Alphabet::standard,
                                out + whole.written);
  bytes.resize(whole.written + rest.value_or(0));
  return bytes;
}

/// `a=C3=BC_b`
std::string decode_quoted(std::string_view word) {
  std::string bytes;
  for (size_t at = 0; at < word.size(); ++at) {
    uint8_t byte = 0;
    const std::string digits = lowered(word.substr(at + 1, 2));
    if (word[at] == '=' && decode(as_bytes(digits), Alphabet::hex, &byte).written == 1) {
      bytes += static_cast<char>(byte);
      at += 2;
    } else {
      bytes += word[at] == '_' ? ' ' : word[at];
    }
  }
  return bytes;
}

/// Text of a header field with its encoded words (RFC 2047) decoded where they are UTF-8; empty
/// where they are anything else.
std::string decode_words(std::string_view value) {
  std::string text;
  for (size_t at = 0; at < value.size();) {
    if (value.substr(at, 2) != "=?") {
      text += value[at++];
      continue;
    }
    const size_t name = value.find('?', at + 2);
    const size_t end = name == value.npos ? name : value.find("?=", name + 3);
    if (end == value.npos) return {};
    const std::string charset = lowered(value.substr(at + 2, name - at - 2));
    if (charset != "utf-8" && charset != "us-ascii") return {};
    const std::string_view word = value.substr(name + 3, end - name - 3);
    text += to_lower(value[name + 1]) == 'q' ? decode_quoted(word) : decode_base64(word);
    at = end + 2;
    // White space between two encoded words is none.
    const size_t next = value.find_first_not_of(' ', at);
    if (next != value.npos && value.substr(next, 2) == "=?") at = next;
  }
  return text;
}

void append_message_facts(std::string& line, std::string_view head) {
  Quotes(line, ", subject").add(decode_words(read_field(head, "subject:")));
  std::string sender = read_field(head, "from:");
  const size_t address = sender.find('<');
  sender = address == sender.npos ? "" : decode_words(sender.substr(0, address));
  std::erase(sender, '"');
  if (sender.find('@') == sender.npos) Quotes(line, ", sender").add(sender);
}

/// `00:01:02,500` behind the last arrow as seconds.
void append_cue_length(std::string& line, std::string_view tail) {
  const size_t at = tail.rfind("--> ");
  if (at == tail.npos) return;
  uint64_t seconds = 0;
  std::string_view time = tail.substr(at + 4, 12);
  for (int i = 0; i < 3; ++i) {
    seconds = seconds * 60 + read_number(time);
    const size_t colon = time.find(':');
    if (colon > 3) break;
    time.remove_prefix(colon + 1);
  }
  append_duration(line, seconds);
}

/// `cells: array of 12 {…}`: how many the outline has counted.
uint64_t read_array_size(std::string_view outline, std::string_view member) {
  const size_t at = outline.find(member);
  if (at == outline.npos) return 0;
  std::string_view digits = outline.substr(at + member.size());
  if (!digits.starts_with(" of ")) return 0;
  uint64_t count = 0;
  for (const char digit : digits.substr(4, 24)) {
    if (digit == ',') continue;
    if (!is_digit(digit)) break;
    count = count * 10 + static_cast<uint64_t>(digit - '0');
  }
  return count;
}

/// The word behind `mark`, where its characters are those of a name.
std::string_view read_word(std::string_view head, std::string_view mark) {
  constexpr size_t kLongest = 40;
  const size_t at = head.find(mark);
  if (at == head.npos) return {};
  head.remove_prefix(at + mark.size());
  size_t end = 0;
  while (end < head.size() && (is_alphanumeric(head[end]) || is_among(head[end], "_^"))) ++end;
  return head.substr(0, end > kLongest ? 0 : end);
}

void append_word(std::string& line, std::string_view word) {
  if (!word.empty()) (line += ", ") += word;
}

/// `ncols 30`, in capitals too.
uint64_t read_side(std::string_view head, std::string_view name) {
  const size_t at = head.find(name);
  if (at == head.npos) return 0;
  head.remove_prefix(at + name.size());
  return read_number(head.substr(std::min(head.find_first_not_of(" \t"), head.size())));
}

/// The counts below the name of an OFF model, behind comments: `8 12 18`.
void append_solid(std::string& line, std::string_view head) {
  take_line(head);
  while (head.starts_with('#') || head.starts_with('\n')) take_line(head);
  const uint64_t vertices = read_number(head);
  head.remove_prefix(std::min(head.find(' '), head.size()));
  const uint64_t faces =
      read_number(head.substr(std::min(head.find_first_not_of(' '), head.size())));
  if (vertices == 0) return;
  line += ", " + grouped(vertices) + " vertices";
  append_count(line, faces, "face");
}

/// What each of some kinds says in a place of its own. Nothing of a person: the kind of a record,
/// not whose it is.
void append_own_facts(std::string& line, std::string_view label, std::string_view head) {
  if (label == "HL7 message") {
    // The ninth field of the first segment, of which the first is the separator itself.
    std::string_view segment = head.substr(0, head.find_first_of("\r\n"));
    for (int i = 0; i < 8; ++i)
      segment.remove_prefix(std::min(segment.find('|'), segment.size() - 1) + 1);
    append_word(line, read_word(segment, ""));
  }
  if (label == "FHIR resource") {
    constexpr std::string_view kMember = "\"resourceType\"";
    const size_t at = head.find(kMember);
    if (at != head.npos) append_word(line, read_word(head.substr(at + kMember.size()), "\""));
  }
  if (label == "ASCII grid") {
    append_side(line, read_side(head, "ncols"), true);
    append_side(line, read_side(head, "nrows"), false);
  }
  if (label == "OFF model") append_solid(line, head);
}

/// `element face 12`, in the header of a PLY model.
void append_elements(std::string& line, std::string_view head) {
  static constexpr std::string_view kElements[][2] = {{"element vertex ", " vertices"},
                                                      {"element face ", " faces"}};
  for (const auto& [element, noun] : kElements) {
    const size_t at = head.find(element);
    if (at == head.npos) continue;
    line += ", ";
    line += grouped(read_number(head.substr(at + element.size())));
    line += noun;
  }
}

}  // namespace

void append_format_facts(std::string& line, const TextFormat& format, const Subject& subject) {
  const std::string_view head = as_text(subject.head);
  const std::string_view label = format.label;
  uint64_t parts = subject.token == format.token ? subject.parts : 0;
  if (format.token.ends_with("array")) parts = read_array_size(subject.outline, format.token);
  // Both count the lines of their headers.
  const bool counts_headers = label == "VCF variants" || label == "SAM alignments";
  if (counts_headers) parts = subject.lines - std::min(parts, subject.lines);
  if (label == "GML map") parts /= 2;  // an end tag each
  if (label == "G-code") parts = subject.lines;
  if (label == "FASTQ reads") parts = subject.lines / 4;
  if (!format.noun.empty() && parts > 0) append_count(line, parts, format.noun);
  if (label.ends_with("subtitles")) append_cue_length(line, as_text(subject.tail));
  if (label == "PLY model") append_elements(line, head);
  if (label == "email message") append_message_facts(line, head);
  if (label == "web page archive")
    Quotes(line, ", title").add(decode_words(read_field(head, "subject:")));
  append_own_facts(line, label, head);
  if (label == "JUnit report") {
    const std::string_view root =
        find_tag(head, "testsuite").empty() ? head : find_tag(head, "testsuite");
    append_count(line, read_number(read_attribute(root, "failures")), "failure");
  }
  if (!format.has_title) return;
  for (const std::string_view name : {"book-title", "work-title", "title"}) {
    const std::string title = read_element(head, name);
    if (title.empty()) continue;
    Quotes(line, ", title").add(title);
    break;
  }
}

// --- pages ---------------------------------------------------------------------------------------

namespace {

/// The last of the comments `%%Pages: 3` (PLRM DSC 3.0 §5.2): the first may say `(atend)`.
uint64_t read_pages(std::string_view text) {
  constexpr std::string_view kPages = "\n%%Pages: ";
  const size_t at = text.rfind(kPages);
  return at == text.npos ? 0 : read_number(text.substr(at + kPages.size()));
}

/// What stands between a mark and an end, in one line and without a backslash.
std::string_view read_between(std::string_view text, std::string_view mark, char end) {
  const size_t at = text.find(mark);
  if (at == text.npos) return {};
  text.remove_prefix(at + mark.size());
  const size_t stop = text.find(end);
  if (stop == text.npos) return {};
  text = text.substr(0, stop);
  return text.find_first_of("\\\n") == text.npos ? text : std::string_view();
}

}  // namespace

bool append_page_facts(std::string& line, const Subject& subject) {
  const std::string_view extension = subject.type.extension;
  const std::string_view head = as_text(subject.head);
  const size_t before = line.size();
  std::string title;
  if (extension == "html") {
    title = read_element(head, "title");
    const bool table = subject.token == kTableRow;
    if ((table || !title.empty()) && subject.lines > 0) append_count(line, subject.lines, "line");
    if (table) append_count(line, subject.parts, "table row");
    if (subject.tables > 1) line += " in " + grouped(subject.tables) + " tables";
  } else if (extension == "rtf") {
    title = read_between(head, "{\\title ", '}');
    const size_t pages = head.find("\\nofpages");
    if (pages != head.npos) {
      if (const uint64_t count = read_number(head.substr(pages + 9)); count > 0)
        append_count(line, count, "page");
    }
  } else if (extension == "ps") {
    uint64_t pages = read_pages(as_text(subject.tail));
    if (pages == 0) pages = read_pages(head);
    if (pages > 0) append_count(line, pages, "page");
    title = read_between(head, "\n%%Title: ", '\n');
    if (title.starts_with('(') && title.ends_with(')')) title = title.substr(1, title.size() - 2);
  }
  Quotes(line, ", title").add(title);
  return line.size() > before;
}

}  // namespace sluice

// The places that a survey takes: configured fields, typed blocks, and what stands beside them.
#include "describe/code_point.h"
#include "layers/json_text.h"
#include "layers/links.h"
#include "layers/naming.h"
#include "layers/references.h"
#include "layers/survey.h"

namespace sluice::layers {

namespace {

/// UTF-8 without control characters other than white space.
bool is_printable(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const CodePoint point = read_code_point(bytes, at);
    at += point.length;
    if (point.value == kReplacement) return false;
    if (is_control(point.value) && point.value != '\t' && point.value != '\n' &&
        point.value != '\r') {
      return false;
    }
  }
  return true;
}

constexpr std::string_view kWhite = " \t\r\n";

/// Whether anything but white space stands beside the markers of a text.
bool has_letters(std::string_view text) {
  for (size_t at = text.find_first_not_of(kWhite); at != std::string_view::npos;
       at = text.find_first_not_of(kWhite, at + kMarkerBytes)) {
    if (marker_at(text, at) < 0) return true;
  }
  return false;
}

/// Whether the value of a string has what looks like a marker and was written in escapes.
bool forges(const Document& document, size_t node, std::string_view value) {
  size_t markers = 0;
  for (size_t at = 0; at < value.size(); ++at) markers += marker_at(value, at) < 0 ? 0 : 1;
  return markers != document.marks(node).size();
}

std::string marker_string(uint32_t segment) {
  std::string out = "\"";
  append_marker(out, segment);
  out += '"';
  return out;
}

/// Makes the form write `source`, the text of a string nested in JSON in a string; PHP and others
/// write
/// `/` as `\/` there.
bool fit_nested(Payload& payload, std::string_view source) {
  if (writes_again(payload, source)) return true;
  payload.form.slash = "\\/";
  std::string& prefix = payload.form.prefix;
  for (size_t at = prefix.find('/'); at != std::string::npos; at = prefix.find('/', at + 2)) {
    prefix.insert(at, 1, '\\');
  }
  return writes_again(payload, source);
}

/// Whether a place is the content of a resource or of a block of bytes, which have a name and a
/// type beside it.
bool is_content(const Document& document, const Place& place) {
  const Tape& tape = document.tape();
  const size_t object = place.parent;
  if (document.is_block(object, "image") || document.is_block(object, "audio")) {
    return tape.find(object, "data") == place.node;
  }
  return tape.find(object, "uri") &&
         (tape.find(object, "blob") == place.node || tape.find(object, "text") == place.node);
}

}  // namespace

void Survey::take_fields(Work& work, size_t base) {
  const auto fields = config_.tool_fields.find(call_.tool);
  if (fields == config_.tool_fields.end()) return;
  for (const ToolField& field : fields->second) {
    for (const Place& place : find_places(work.document, base, field.field_path)) {
      take_field(work, place, field);
    }
  }
}

void Survey::take_field(Work& work, const Place& place, const ToolField& field) {
  if (!work.taken.insert(place.node)) return;
  std::optional<uint32_t> segment = work.document.whole(place.node);
  if (!segment) segment = divert(work, place.node, field);
  if (!segment) return;
  About& about = ledger_.about(*segment);
  const Document& document = work.document;
  const bool content = is_content(document, place);
  about.label = field.content_type;
  about.summary_template = field.summary_template;
  about.filename =
      content ? payload_filename(document, place.parent) : sibling_filename(document, place.parent);
  note_siblings(document, place.parent, about, field.summary_template);
  std::string type = about.declared;
  if (content) type = string_member(document, place.parent, "mimeType");
  if (field.mime_type.empty()) {
    ledger_.declare(*segment, type);
  } else {
    ledger_.declare(*segment, field.mime_type, true);
  }
  ledger_.ask_decode(*segment);
}

bool Survey::is_restored_inside(const Work& work) const {
  return work.nested && call_.dialect == Dialect::mcp;
}

std::optional<uint32_t> Survey::divert(Work& work, size_t node, const ToolField& field) {
  const Document& document = work.document;
  const Node& string = document.tape()[node];
  if (string.type != Type::string) return divert_array(work, node);
  const std::string value = document.tape().string(node);
  if (const std::optional<uint32_t> only = document.only(node)) {
    if (call_.dialect == Dialect::observation) {
      work.splices.push_back({string.begin, string.end, marker_string(*only)});
    }
    return only;
  }
  if (value.empty() || forges(document, node, value)) return std::nullopt;

  std::optional<Payload> payload = read_encoded(value);
  if (payload && is_text_type(field.mime_type) && !is_printable(payload->bytes)) payload.reset();

  // What restores a nested string is written into the outer one as it is, so escapes matter there.
  const std::string_view source = document.inside(node);
  const bool exact =
      !is_restored_inside(work) || (payload ? fit_nested(*payload, source) : source == value);
  if (payload && !exact) payload->form = {};
  const std::optional<uint32_t> segment =
      payload ? ledger_.add_bytes(*payload, value) : ledger_.add_text(value);
  if (!segment || (!exact && !ledger_.keep_original(*segment, source))) return std::nullopt;
  if (payload) ledger_.about(*segment).declared = payload->declared;
  work.splices.push_back({string.begin, string.end, marker_string(*segment)});
  return segment;
}

std::optional<uint32_t> Survey::divert_array(Work& work, size_t array) {
  const Document& document = work.document;
  std::optional<Payload> payload = read_byte_array(document, array);
  if (!payload) return std::nullopt;
  const std::string_view source = document.tape().source(array);
  const bool exact = !is_restored_inside(work) || writes_again(*payload, source);
  payload->bare = !work.nested;
  const std::optional<uint32_t> segment = ledger_.add_bytes(*payload, source);
  if (!segment || (!exact && !ledger_.keep_original(*segment, source))) return std::nullopt;
  // In JSON in a string the reference gets quotes that the array had not.
  if (work.nested) ledger_.about(*segment).wrap = "\"";
  const Node& place = document.tape()[array];
  work.splices.push_back({place.begin, place.end, marker_string(*segment)});
  return segment;
}

void Survey::take_blocks(Work& work, const Shape& shape) {
  if (!shape.listed(work.document)) return;
  for (const size_t entry : work.document.children(*shape.list)) {
    if (shape.kind == Shape::Kind::contents) {
      take_resource(work, entry);
    } else {
      take_block(work, entry);
    }
  }
}

// Files of tools that follow the output contract (sluice/contract.h), whose reader takes white
// space anywhere: a string that the gate took in parts, or as a text, has to be one file.
void Survey::take_files(Work& work, size_t base) {
  const Document& document = work.document;
  for (const Place& place : find_places(document, base, "artifacts.*.b64")) {
    const std::optional<uint32_t> only = document.only(place.node);
    const bool whole = only && ledger_.segment(*only).kind == SegmentKind::run;
    if (whole || document.marks(place.node).empty()) continue;
    if (!document.tape().find(place.parent, "name")) continue;
    take_bytes(work, place.parent, place.node, "file");
  }
}

void Survey::take_block(Work& work, size_t block) {
  const Document& document = work.document;
  for (const std::string_view type : {"image", "audio"}) {
    const std::optional<size_t> data = document.tape().find(block, "data");
    if (data && document.is_block(block, type)) take_bytes(work, block, *data, type);
  }
  const std::optional<size_t> resource = document.tape().find(block, "resource");
  if (resource && document.is_block(block, "resource")) take_resource(work, *resource);
}

void Survey::take_resource(Work& work, size_t resource) {
  const Document& document = work.document;
  if (const std::optional<size_t> blob = document.tape().find(resource, "blob")) {
    take_bytes(work, resource, *blob, "resource");
  }
  const std::optional<size_t> text = document.tape().find(resource, "text");
  const std::optional<uint32_t> segment = text ? document.whole(*text) : std::nullopt;
  if (!segment || !work.taken.insert(*text)) return;
  ledger_.about(*segment).filename = payload_filename(document, resource);
  ledger_.declare(*segment, string_member(document, resource, "mimeType"));
}

/// Whether runs in a string, and what stands around them, may be one encoding that the gate took in
/// parts: none but the last is ended by padding.
bool Survey::is_one_run(std::string_view value) const {
  for (size_t at = value.find(kMarkerOpen); at != std::string_view::npos;
       at = value.find(kMarkerOpen, at + kMarkerBytes)) {
    const Segment& run = ledger_.segment(static_cast<uint32_t>(marker_at(value, at)));
    const Encoding encoding = run.form.encoding;
    if (encoding != Encoding::base64 && encoding != Encoding::base64url) return false;
    const size_t next = value.find_first_not_of(kWhite, at + kMarkerBytes);
    const bool ended = run.form.padded && run.bytes % 3 != 0;
    if (run.kind != SegmentKind::run || (ended && next != std::string_view::npos)) return false;
  }
  return true;
}

// The protocol says that the string is base64, so it is that however it is written, and as a whole.
// What cannot be is told as the text that it is, but for what refers to an artifact already.
std::optional<uint32_t> Survey::divert_bytes(Work& work, size_t data) {
  const Document& document = work.document;
  if (const std::optional<uint32_t> only = document.only(data)) return only;
  const Node& string = document.tape()[data];
  if (string.type != Type::string) return std::nullopt;
  const std::string value = document.tape().string(data);
  if (value.empty() || value.starts_with(kScheme) || forges(document, data, value)) {
    return std::nullopt;
  }
  std::optional<uint32_t> segment;
  if (!document.marks(data).empty()) {
    const bool apart = !is_one_run(value) && !has_letters(value);
    if (apart || !may_be_base64(value)) return std::nullopt;
    segment = ledger_.add_text(value);
  } else if (const std::optional<Payload> payload = read_base64(value)) {
    segment = ledger_.add_bytes(*payload, value);
  } else if (const std::optional<Payload> loose = read_loose_base64(value)) {
    segment = ledger_.add_bytes(*loose, value);
    if (segment && !ledger_.keep_original(*segment, value)) segment.reset();
  } else {
    segment = ledger_.add_text(value);
  }
  if (!segment) return segment;
  work.splices.push_back({string.begin, string.end, marker_string(*segment)});
  return segment;
}

void Survey::take_bytes(Work& work, size_t holder, size_t data, std::string_view type) {
  const Document& document = work.document;
  if (!work.taken.insert(data)) return;
  const std::optional<uint32_t> segment = divert_bytes(work, data);
  if (!segment) return;
  About& about = ledger_.about(*segment);
  if (call_.tool.empty()) about.base = type;
  about.filename = payload_filename(document, holder);
  ledger_.declare(*segment, string_member(document, holder, "mimeType"));
  std::string known;
  if (!document.only(data)) known = document.tape().string(data);
  if (ledger_.ask_decode(*segment, known)) ledger_.hide(*segment);
}

void Survey::survey_text(Work& work, size_t text) {
  if (work.taken.has(text)) return;
  const bool configured = config_.tool_fields.count(call_.tool) != 0;
  if (!configured && work.document.marks(text).empty()) return;
  Document inner;
  if (!read_json_text(work.document, text, ledger_.size(), inner)) return;

  Work nested{inner, true};
  take_fields(nested, 0);
  name_the_rest(inner);
  if (nested.splices.empty()) return;
  std::string with = "\"";
  append_escaped(with, apply_splices(inner.text(), std::move(nested.splices)), true);
  with += '"';
  const Node& string = work.document.tape()[text];
  work.splices.push_back({string.begin, string.end, std::move(with)});
  work.taken.insert(text);
}

void Survey::note_links(const Document& document, const Shape& shape) {
  const ResourcePolicy& policy = config_.resources;
  if (call_.dialect != Dialect::observation || !policy.enabled) return;
  size_t reads = 0;
  uint32_t number = 0;
  for (const size_t block : links_of(document, shape)) {
    const uint32_t link = number++;
    const std::optional<uint64_t> size = number_member(document, block, "size");
    std::string uri = string_member(document, block, "uri");
    if (!size || *size >= policy.auto_read_if_size_under_bytes || uri.empty()) continue;
    if (++reads > kMaxReads) return;
    ledger_.tasks().push_back({Task::Kind::read, link, string_member(document, block, "mimeType"),
                               payload_filename(document, block), std::move(uri), *size});
  }
}

// Names for what no layer has named: a file name beside a value is its name.
void Survey::name_the_rest(const Document& document) {
  std::vector<uint32_t> open = {0};
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (document.marks(node).empty()) continue;
    const bool object = document.tape()[node].type == Type::object;
    for (const uint32_t child : document.children(node)) {
      open.push_back(child);
      const std::optional<uint32_t> segment = document.whole(child);
      if (!object || !segment) continue;
      About& about = ledger_.about(*segment);
      if (about.filename.empty()) about.filename = sibling_filename(document, node);
      if (about.siblings.empty()) {
        note_siblings(document, node, about, config_.default_summary_template);
      }
    }
  }
}

void Survey::note_siblings(const Document& document, size_t parent, About& about,
                           std::string_view words) {
  if (words.empty()) words = config_.default_summary_template;
  const Tape& tape = document.tape();
  for (std::string& name : placeholders(words)) {
    const std::optional<size_t> value = tape.find(parent, name);
    if (!value || !document.marks(*value).empty()) continue;
    const Type type = tape[*value].type;
    if (type == Type::array || type == Type::object || type == Type::null) continue;
    std::string text =
        type == Type::string ? tape.string(*value) : std::string(tape.source(*value));
    about.siblings.push_back({std::move(name), std::move(text), false});
  }
}

}  // namespace sluice::layers

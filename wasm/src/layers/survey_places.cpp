// The places that a survey takes: configured fields, typed blocks, and what stands beside them.
#include "describe/code_point.h"
#include "layers/json_text.h"
#include "layers/links.h"
#include "layers/naming.h"
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
  return writes_again(payload, source);
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
  about.label = field.content_type;
  about.summary_template = field.summary_template;
  about.filename = sibling_filename(work.document, place.parent);
  note_siblings(work.document, place.parent, about, field.summary_template);
  ledger_.declare(*segment, field.mime_type);
  ledger_.ask_decode(*segment);
}

std::optional<uint32_t> Survey::divert(Work& work, size_t node, const ToolField& field) {
  const Document& document = work.document;
  const std::string value = document.tape().string(node);
  if (value.empty() || !document.marks(node).empty()) return std::nullopt;

  std::optional<Payload> payload = read_encoded(value);
  if (payload && is_text_type(field.mime_type) && !is_printable(payload->bytes)) payload.reset();

  // What restores a nested string is written into the outer one as it is, so escapes matter there.
  const bool exact = work.nested && call_.dialect == Dialect::mcp;
  if (exact && payload && !fit_nested(*payload, document.inside(node))) payload.reset();
  if (exact && !payload && document.inside(node) != value) return std::nullopt;

  const std::optional<uint32_t> segment =
      payload ? ledger_.add_bytes(*payload, value) : ledger_.add_text(value);
  if (!segment) return std::nullopt;
  const Node& string = document.tape()[node];
  work.splices.push_back({string.begin, string.end, marker_string(*segment)});
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

void Survey::take_bytes(Work& work, size_t holder, size_t data, std::string_view type) {
  const Document& document = work.document;
  if (!work.taken.insert(data)) return;
  std::optional<uint32_t> segment;
  if (const std::span<const Mark> marks = document.marks(data); !marks.empty()) {
    segment = marks.front().segment;
  } else {
    const std::string value = document.tape().string(data);
    const std::optional<Payload> payload = read_base64(value);
    if (payload) segment = ledger_.add_bytes(*payload, value);
    const Node& string = document.tape()[data];
    if (segment) work.splices.push_back({string.begin, string.end, marker_string(*segment)});
  }
  if (!segment) return;
  About& about = ledger_.about(*segment);
  if (call_.tool.empty()) about.base = type;
  about.filename = payload_filename(document, holder);
  ledger_.declare(*segment, string_member(document, holder, "mimeType"));
  ledger_.ask_decode(*segment);
}

void Survey::survey_text(Work& work, const Shape& shape) {
  const std::optional<size_t> text = only_text(work.document, shape);
  if (!text || work.taken.has(*text)) return;
  const bool configured = config_.tool_fields.count(call_.tool) != 0;
  if (!configured && work.document.marks(*text).empty()) return;
  Document inner;
  if (!read_json_text(work.document, *text, ledger_.size(), inner)) return;

  Work nested{inner, true};
  take_fields(nested, 0);
  name_the_rest(inner);
  if (nested.splices.empty()) return;
  std::string with = "\"";
  append_escaped(with, apply_splices(inner.text(), std::move(nested.splices)), true);
  with += '"';
  const Node& string = work.document.tape()[*text];
  work.splices.push_back({string.begin, string.end, std::move(with)});
  work.taken.insert(*text);
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

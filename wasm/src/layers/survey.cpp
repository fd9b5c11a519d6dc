#include "layers/survey.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "layers/blocks.h"
#include "layers/result/document.h"
#include "layers/result/names.h"
#include "layers/result/references.h"
#include "sluice/config.h"
#include "sluice/sniff.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::layers {

// --- places that a field path names ----------------------------------------------------------

namespace {

/// Maximum number of places that one field path may name.
constexpr size_t kMaxPlaces = 4'096;

/// Splits a path into steps. Brackets are another spelling of dots; a leading `$` names the base.
std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> steps(1);
  for (const char c : path) {
    if (c == ']') continue;
    if (c == '.' || c == '[') {
      if (!steps.back().empty()) steps.emplace_back();
    } else {
      steps.back() += c;
    }
  }
  if (steps.back().empty()) steps.pop_back();
  if (!steps.empty() && steps.front() == "$") steps.erase(steps.begin());
  return steps;
}

/// The element that a step names. Empty unless the step is a decimal index in range.
std::optional<size_t> element(const Document& document, size_t array, std::string_view step) {
  std::optional<uint64_t> index = decimal(step, 9);
  if (!index) return std::nullopt;
  const Tape& tape = document.tape();
  size_t at = array + 1;
  for (; *index > 0 && at < tape[array].next; --*index) at = tape[at].next;
  if (at >= tape[array].next) return std::nullopt;
  return at;
}

class Search {
 public:
  Search(const Document& document, std::vector<std::string> steps)
      : document_(document), steps_(std::move(steps)) {}

  void from(size_t node, size_t parent, size_t step) {
    if (places_.size() >= kMaxPlaces) return;
    const Type type = document_.tape()[node].type;
    if (step == steps_.size()) {
      take(node, parent);
    } else if (steps_[step] == "*") {
      for (const size_t child : document_.children(node)) from(child, node, step + 1);
    } else if (type == Type::object) {
      const std::optional<size_t> value = document_.tape().find(node, steps_[step]);
      if (value) from(*value, node, step + 1);
    } else if (type == Type::array) {
      const std::optional<size_t> value = element(document_, node, steps_[step]);
      if (value) from(*value, node, step + 1);
    }
  }

  std::vector<Place> places() { return std::move(places_); }

 private:
  void take(size_t node, size_t parent) {
    // Node writes a Buffer as `{"type":"Buffer","data":[…]}`.
    if (document_.is_block(node, "Buffer"))
      node = document_.tape().find(node, "data").value_or(node);
    const Type type = document_.tape()[node].type;
    if (type == Type::string || type == Type::array) places_.push_back({node, parent});
  }

  const Document& document_;
  std::vector<std::string> steps_;
  std::vector<Place> places_;
};

/// The values that `path` names below `base`: dots, list indexes (`items.0.data`, `items[0].data`),
/// and `*` for every element or member. Also looks inside a `result` or `structuredContent`
/// wrapper.
std::vector<Place> find_places(const Document& document, size_t base, std::string_view path) {
  std::vector<std::string> steps = split(path);
  if (steps.empty()) return {};
  const Tape& tape = document.tape();
  Search search(document, std::move(steps));
  search.from(base, base, 0);
  if (const auto result = tape.find(base, "result")) search.from(*result, base, 0);
  if (const auto structured = tape.find(base, "structuredContent")) {
    search.from(*structured, base, 0);
    if (const auto result = tape.find(*structured, "result")) search.from(*result, *structured, 0);
  }
  return search.places();
}

}  // namespace

// --- the survey ------------------------------------------------------------------------------

namespace {

/// The quote to put around a reference so that JSON inside a string stays valid: `"` with the
/// backslashes of its depth. Empty if no JSON value precedes the place. `before` is the text up to
/// the place.
std::string quote_for(std::string_view before) {
  const size_t last = before.find_last_not_of(kWhite);
  if (last == std::string_view::npos) return {};
  if (before[last] != ':' && before[last] != ',' && before[last] != '[') return {};
  const size_t quote = before.rfind('"');
  if (quote == std::string_view::npos) return before[last] == '[' ? "\"" : "";
  size_t backslashes = 0;
  while (backslashes < quote && before[quote - 1 - backslashes] == '\\') ++backslashes;
  if (backslashes > 15) return {};
  return std::string(backslashes, '\\') + '"';
}

/// The text of a string up to a place in it.
std::string text_before(const Document& document, size_t offset) {
  const size_t begin = document.tape()[document.string_around(offset)].begin + 1;
  std::string text;
  append_unescaped(text, document.text().substr(begin, offset - begin));
  return text;
}

}  // namespace

Status Survey::run(const std::string& reduced, Document& document) {
  Status status = document.read(reduced, table_.size());
  if (!status.ok()) return status;
  std::string quoted;
  if (quote_bare_bytes(document, quoted)) status = document.read(std::move(quoted), table_.size());
  if (!status.ok()) return status;

  const Shape shape = call_.transformed ? Shape{} : shape_of(document, table_.segments());
  Work work{document};
  if (shape.kind != Shape::Kind::error && !call_.transformed) {
    take_fields(work, shape.body);
    take_files(work, shape.body);
    for (const size_t text : texts_of(document, shape)) survey_text(work, text);
    take_blocks(work, shape);
    note_links(document, shape);
    name_fields();
  }
  name_the_rest(document);
  table_.annotate();
  if (work.splices.empty()) return {};
  return document.read(apply_splices(document.text(), std::move(work.splices)), table_.size());
}

namespace {

/// Whether what stands behind a reference to JSON would be read as a part of it: the mark of a cut.
bool runs_on(std::string_view behind) {
  return behind.starts_with('[') || behind.starts_with("...") || behind.starts_with("…");
}

}  // namespace

// A byte array in JSON inside a string becomes a reference, which needs quotes to be valid JSON.
bool Survey::quote_bare_bytes(const Document& document, std::string& quoted) {
  std::vector<Splice> splices;
  for (const Mark& mark : document.marks(0, document.text().size())) {
    const Segment& segment = table_.segment(mark.segment);
    const bool list = segment.kind == SegmentKind::run && is_list(segment.form.encoding);
    const std::string_view behind = document.text().substr(mark.offset + kMarkerBytes);
    const bool cut = segment.cut || (segment.kind == SegmentKind::json && runs_on(behind));
    if (!list && !cut) continue;
    const size_t string = document.string_around(mark.offset);
    if (document.whole(string) || (list && (segment.bare || segment.form.suffix.empty()))) continue;
    std::string& wrap = table_.about(mark.segment).wrap;
    wrap = list ? quote_for(text_before(document, mark.offset)) : " ";
    if (wrap.empty()) continue;
    std::string with;
    append_escaped(with, wrap);
    splices.push_back({mark.offset, mark.offset, with});
    const auto end = static_cast<uint32_t>(mark.offset + kMarkerBytes);
    splices.push_back({end, end, std::move(with)});
  }
  if (splices.empty()) return false;
  quoted = apply_splices(document.text(), std::move(splices));
  return true;
}

// --- the places it takes ---------------------------------------------------------------------

namespace {

/// Whether a text has anything besides markers and white space.
bool has_letters(std::string_view text) {
  for (size_t at = text.find_first_not_of(kWhite); at != std::string_view::npos;
       at = text.find_first_not_of(kWhite, at + kMarkerBytes)) {
    if (marker_at(text, at) < 0) return true;
  }
  return false;
}

/// Whether a string holds an escaped sequence that looks like a marker.
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

/// The value of a JSON number from 0 to 255 in its plain spelling. Empty for anything else.
std::optional<char> byte_of(std::string_view source) {
  if (source.size() > 1 && source[0] == '0') return {};
  const std::optional<uint64_t> value = decimal(source, 3);
  return value && *value < 256 ? std::optional(static_cast<char>(*value)) : std::nullopt;
}

/// The bytes that an array node lists, at least one. The form writes the same source again if it is
/// uniform, else the same values.
std::optional<Payload> read_byte_array(const Document& document, size_t array) {
  const Tape& tape = document.tape();
  const std::vector<uint32_t> items = document.children(array);
  if (tape[array].type != Type::array || items.empty()) return std::nullopt;
  Payload payload;
  payload.bare = true;
  for (const size_t item : items) {
    const std::optional<char> byte = byte_of(tape.source(item));
    if (!byte) return std::nullopt;
    payload.bytes += *byte;
  }
  const auto between = [&](size_t begin, size_t end) {
    return std::string(document.text().substr(begin, end - begin));
  };
  Form& form = payload.form;
  form.encoding = Encoding::byte_array;
  form.prefix = between(tape[array].begin, tape[items.front()].begin);
  form.suffix = between(tape[items.back()].end, tape[array].end);
  form.separator =
      items.size() > 1 ? between(tape[items[0]].end, tape[items[1]].begin) : std::string(",");
  if (!writes_again(payload, tape.source(array))) {
    form.prefix = "[";
    form.suffix = "]";
    form.separator = ",";
  }
  return payload;
}

/// Whether a place is the content of a resource, or of an image or audio block. Those have a name
/// and a type beside it.
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
  About& about = table_.about(*segment);
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
    table_.declare(*segment, type);
  } else {
    table_.declare(*segment, field.mime_type, true);
  }
  table_.ask_decode(*segment);
}

// Tells what the gate took out of something that left as a whole.
void Survey::name_fields() {
  const auto fields = config_.tool_fields.find(call_.tool);
  if (fields == config_.tool_fields.end()) return;
  for (uint32_t index = 0; index < table_.size(); ++index) {
    const uint32_t number = table_.segment(index).field;
    if (number == 0 || number > fields->second.size() || !table_.about(index).label.empty())
      continue;
    const ToolField& field = fields->second[number - 1];
    table_.about(index).label = field.content_type;
    table_.about(index).summary_template = field.summary_template;
    table_.declare(index, field.mime_type.empty() ? table_.about(index).declared : field.mime_type,
                   !field.mime_type.empty());
  }
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

  // Restoring writes the nested string into the outer one unchanged, so its escapes matter.
  const std::string_view source = document.inside(node);
  const bool exact =
      !is_restored_inside(work) || (payload ? fit_nested(*payload, source) : source == value);
  if (payload && !exact) payload->form = {};
  const std::optional<uint32_t> segment =
      payload ? table_.add_bytes(*payload, value) : table_.add_text(value);
  if (!segment || (!exact && !table_.keep_original(*segment, source))) return std::nullopt;
  if (payload) table_.about(*segment).declared = payload->declared;
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
  const std::optional<uint32_t> segment = table_.add_bytes(*payload, source);
  if (!segment || (!exact && !table_.keep_original(*segment, source))) return std::nullopt;
  // Inside JSON in a string the reference gets quotes that the array did not have.
  if (work.nested) table_.about(*segment).wrap = "\"";
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

// Files of the tool output contract (sluice/contract.h). Its reader allows white space anywhere in
// base64, so a string that the gate took in parts, or as text, becomes one file.
void Survey::take_files(Work& work, size_t base) {
  const Document& document = work.document;
  for (const Place& place : find_places(document, base, "artifacts.*.b64")) {
    const std::optional<uint32_t> only = document.only(place.node);
    const bool whole = only && table_.segment(*only).kind == SegmentKind::run;
    if (whole || document.marks(place.node).empty()) continue;
    if (!document.tape().find(place.parent, "name")) continue;
    take_bytes(work, place.parent, place.node, "file");
  }
}

void Survey::take_block(Work& work, size_t block) {
  const Document& document = work.document;
  if (media_as_text(document, block, config_.max_inline_size)) return;
  for (const std::string_view type : {"image", "audio"}) {
    const std::optional<size_t> data = document.tape().find(block, "data");
    if (data && document.is_block(block, type)) take_bytes(work, block, *data, type);
  }
  const std::optional<size_t> resource = document.tape().find(block, "resource");
  if (resource && document.is_block(block, "resource")) take_resource(work, *resource);
}

void Survey::take_resource(Work& work, size_t resource) {
  const Document& document = work.document;
  const std::optional<size_t> blob = document.tape().find(resource, "blob");
  if (blob && !resource_as_text(document, resource, config_.max_inline_size)) {
    take_bytes(work, resource, *blob, "resource");
  }
  const std::optional<size_t> text = document.tape().find(resource, "text");
  const std::optional<uint32_t> segment = text ? document.whole(*text) : std::nullopt;
  if (!segment || !work.taken.insert(*text)) return;
  table_.about(*segment).filename = payload_filename(document, resource);
  table_.declare(*segment, string_member(document, resource, "mimeType"));
}

/// Whether a string with runs may be one encoding that the gate took in parts: only the last run
/// may end in padding.
bool Survey::is_one_run(std::string_view value) const {
  for (size_t at = value.find(kMarkerOpen); at != std::string_view::npos;
       at = value.find(kMarkerOpen, at + kMarkerBytes)) {
    const Segment& run = table_.segment(static_cast<uint32_t>(marker_at(value, at)));
    const Encoding encoding = run.form.encoding;
    if (encoding != Encoding::base64 && encoding != Encoding::base64url) return false;
    const size_t next = value.find_first_not_of(kWhite, at + kMarkerBytes);
    const bool ended = run.form.padded && run.bytes % 3 != 0;
    if (run.kind != SegmentKind::run || (ended && next != std::string_view::npos)) return false;
  }
  return true;
}

// The protocol says that this string is base64, so the whole of it is decoded however it is
// written. What cannot be decoded is shown as text, except for its references.
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
    segment = table_.add_text(value);
  } else if (const std::optional<Payload> payload = read_base64(value)) {
    segment = table_.add_bytes(*payload, value);
  } else if (const std::optional<Payload> loose = read_loose_base64(value)) {
    segment = table_.add_bytes(*loose, value);
    if (segment && !table_.keep_original(*segment, value)) segment.reset();
  } else {
    segment = table_.add_text(value);
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
  About& about = table_.about(*segment);
  if (call_.tool.empty()) about.base = type;
  about.filename = payload_filename(document, holder);
  table_.declare(*segment, string_member(document, holder, "mimeType"));
  std::string known;
  if (!document.only(data)) known = document.tape().string(data);
  if (table_.ask_decode(*segment, known)) table_.hide(*segment);
}

void Survey::survey_text(Work& work, size_t text) {
  if (work.taken.has(text)) return;
  const bool configured = config_.tool_fields.count(call_.tool) != 0;
  if (!configured && work.document.marks(text).empty()) return;
  Document inner;
  if (!read_json_text(work.document, text, table_.size(), inner)) return;

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
    table_.tasks().push_back({Task::Kind::read, link, string_member(document, block, "mimeType"),
                              payload_filename(document, block), std::move(uri), *size});
  }
}

// Names segments that no layer has named, by a file name beside the value.
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
      About& about = table_.about(*segment);
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

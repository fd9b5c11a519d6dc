#include "sluice/layers.h"

#include <algorithm>
#include <optional>

#include "json/object.h"
#include "layers/dialects.h"
#include "layers/result/document.h"
#include "layers/result/segment_table.h"
#include "layers/survey.h"
#include "text/block.h"

namespace sluice {

using layers::Document;
using layers::Mcp;
using layers::Observation;
using layers::SegmentTable;
using layers::Survey;

struct Layers::Plan {
  const Config config;
  const Call call;
  const std::string reduced;
  SegmentTable table;
  Document document;
  std::vector<std::string> links;
  std::string refs = "[]";
  std::optional<bool> differs;  // of the last observation
  bool planned = false;
  bool stays = false;  // the document was not read: it is the answer

  Plan(const Config& given, Call answered, std::string text, std::vector<Segment> segments)
      : config(given),
        call(std::move(answered)),
        reduced(std::move(text)),
        table(config, call, std::move(segments)) {}

  Status run() {
    if (planned) return {};
    stays = may_stay();
    Status status = stays ? Status{} : Survey(config, call, table).run(reduced, document);
    planned = status.ok();
    return status;
  }

  // Where the gate took nothing out, an interceptor still takes the bytes of typed blocks and
  // configured fields, and a server's list under our name. The quotes are those of keys: a text
  // would have them escaped.
  bool may_stay() const {
    const auto lacks = [this](std::string_view key) { return !contains(reduced, key); };
    return call.dialect == Dialect::mcp && table.size() == 0 &&
           !config.tool_fields.contains(call.tool) && lacks("\"data\"") && lacks("\"blob\"") &&
           lacks("\"_meta\"") && lacks("\\u");
  }
};

Layers::Layers(const Config& config, Call call, std::string reduced, std::vector<Segment> segments)
    : plan_(std::make_unique<Plan>(config, std::move(call), std::move(reduced),
                                   std::move(segments))) {}
Layers::~Layers() = default;

Status Layers::plan() {
  return plan_->run();
}

bool Layers::changed() {
  if (!plan_->run().ok() || plan_->stays) return false;
  if (plan_->call.dialect == Dialect::mcp) {
    return Mcp(plan_->config, plan_->call, plan_->document, plan_->table).changes();
  }
  if (!plan_->differs) render();
  return *plan_->differs;
}

std::string Layers::render() {
  if (!plan_->run().ok() || plan_->stays) return plan_->reduced;
  const auto& [config, call, reduced, table, document, links, refs, differs, planned, stays] =
      *plan_;
  if (call.dialect == Dialect::observation) {
    std::string text = Observation(config, call, document, table, links).write();
    plan_->differs = text != reduced;
    return text;
  }
  Mcp mcp(config, call, document, table);
  std::string text = mcp.write();
  plan_->refs = mcp.refs();
  return text;
}

void Layers::link(uint32_t number, std::string json) {
  // No document holds more links than this.
  constexpr size_t kMaxLinks = size_t{1} << 20;
  std::vector<std::string>& links = plan_->links;
  if (number >= links.size()) links.resize(std::min<size_t>(number, kMaxLinks) + 1);
  if (number < links.size()) links[number] = std::move(json);
  plan_->differs.reset();
}

bool Layers::is_error() const {
  return !plan_->call.transformed &&
         layers::shape_of(plan_->document, plan_->table.segments()).is_error;
}

size_t Layers::reduced_bytes() const {
  return plan_->document.text().size();
}

namespace {

/// Texts that are read from their beginning to their end: no tables, data or markup.
bool is_prose(const Segment& segment) {
  if (segment.kind != SegmentKind::text || segment.mangled || !segment.inner.empty()) return false;
  const std::string_view type = segment.mime_type;
  for (const std::string_view other : {"text/csv", "text/tab-separated-values", "text/html",
                                       "text/xml", "text/calendar", "text/vcard"}) {
    if (type.starts_with(other)) return false;
  }
  return type.starts_with("text/");
}

}  // namespace

std::vector<Showable> Layers::showable(uint64_t max_text) const {
  std::vector<Showable> found;
  if (plan_->stays || plan_->call.transformed) return found;
  const Document& document = plan_->document;
  const SegmentTable& table = plan_->table;
  const layers::Shape shape = layers::shape_of(document, table.segments());
  const bool blocks =
      shape.kind == layers::Shape::Kind::result || shape.kind == layers::Shape::Kind::blocks;
  if (blocks && shape.listed(document)) {
    for (const size_t block : document.children(*shape.list)) {
      const std::optional<layers::Load> load = layers::load_of_block(document, block);
      const auto kind = load ? layers::kind_of_block(document, block, *load) : std::nullopt;
      if (!kind || table.segment(load->segment).kind != SegmentKind::run) continue;
      const std::string& type = table.segment(load->segment).mime_type;
      layers::Staying staying = layers::Staying::where_shown;
      if (*kind == Showable::Kind::image || type.starts_with("image/")) {
        staying = layers::staying(plan_->config.inline_media, type);
      }
      if (staying == layers::Staying::never) continue;
      found.push_back({load->segment, *kind, staying == layers::Staying::always});
    }
  }
  for (uint32_t index = 0; max_text > 0 && index < table.size(); ++index) {
    const Segment& segment = table.segment(index);
    // What the configuration names is taken out whatever it is.
    const bool configured = !table.about(index).label.empty();
    if (configured || !is_prose(segment) || !segment.whole || segment.bytes > max_text) continue;
    found.push_back({index, Showable::Kind::text, false});
  }
  return found;
}

void Layers::show(uint32_t index, Shown shown) {
  if (index >= plan_->table.size()) return;
  plan_->differs.reset();
  if (shown.kind != Showable::Kind::text) {
    plan_->table.about(index).shown = std::move(shown);
    return;
  }
  Document& document = plan_->document;
  for (const layers::Mark& mark : document.marks(0, document.text().size())) {
    if (mark.segment != index) continue;
    const size_t node = document.string_around(mark.offset);
    if (document.whole(node) != index) return;
    const Node& place = document.tape()[node];
    document.read(
        apply_splices(document.text(), {{place.begin, place.end, json_string(shown.data)}}),
        plan_->table.size());
    return;
  }
}

std::string Layers::refs_json() const {
  return plan_->refs;
}

// --- the segments ----------------------------------------------------------------------------

const std::vector<Task>& Layers::tasks() const {
  return plan_->table.tasks();
}
std::string& Layers::events() {
  return plan_->table.events();
}
Segment& Layers::segment(uint32_t index) {
  return plan_->table.segment(index);
}
const std::vector<Segment>& Layers::segments() const {
  return plan_->table.segments();
}
void Layers::stored(uint32_t segment, Stored stored) {
  plan_->table.stored(segment, std::move(stored));
}
void Layers::decoded(uint32_t segment, Segment record, bool exact) {
  plan_->table.decoded(segment, std::move(record), exact);
}
std::optional<uint32_t> Layers::original(uint32_t segment) const {
  return plan_->table.about(segment).original;
}

}  // namespace sluice

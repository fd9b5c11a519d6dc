#include "sluice/layers.h"

#include <algorithm>
#include <optional>

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

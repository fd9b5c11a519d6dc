#include "sluice/layers.h"

#include <algorithm>
#include <optional>

#include "layers/dialects.h"
#include "layers/result/document.h"
#include "layers/result/segment_table.h"
#include "layers/survey.h"

namespace sluice {

using layers::Document;
using layers::Mcp;
using layers::Observation;
using layers::SegmentTable;
using layers::Survey;

class Layers::Plan {
 public:
  Plan(const Config& config, Call call, std::string reduced, std::vector<Segment> segments)
      : config_(config),
        call_(std::move(call)),
        reduced_(std::move(reduced)),
        table_(config_, call_, std::move(segments)) {}

  Status run() {
    if (planned_) return {};
    std::string surveyed;
    Status status = Survey(config_, call_, table_).run(reduced_, surveyed);
    if (status.ok()) status = document_.read(std::move(surveyed), table_.size());
    planned_ = status.ok();
    return status;
  }

  void link(uint32_t number, std::string json) {
    if (number >= links_.size()) links_.resize(std::min<size_t>(number, kMaxLinks) + 1);
    if (number < links_.size()) links_[number] = std::move(json);
    differs_.reset();
  }

  bool changed() {
    if (!run().ok()) return false;
    if (call_.dialect == Dialect::mcp) return Mcp(config_, call_, document_, table_).changes();
    if (!differs_) render();
    return *differs_;
  }

  std::string render() {
    if (!run().ok()) return reduced_;
    if (call_.dialect == Dialect::observation) {
      std::string text = Observation(config_, call_, document_, table_, links_).write();
      differs_ = text != reduced_;
      return text;
    }
    Mcp mcp(config_, call_, document_, table_);
    std::string text = mcp.write();
    refs_ = mcp.refs();
    return text;
  }

  SegmentTable& table() { return table_; }
  const std::string& refs() const { return refs_; }

 private:
  // No document holds more links than this.
  static constexpr size_t kMaxLinks = size_t{1} << 20;

  const Config config_;
  const Call call_;
  const std::string reduced_;
  SegmentTable table_;
  Document document_;
  std::vector<std::string> links_;
  std::string refs_ = "[]";
  std::optional<bool> differs_;  // of the last observation
  bool planned_ = false;
};

Layers::Layers(const Config& config, Call call, std::string reduced, std::vector<Segment> segments)
    : plan_(std::make_unique<Plan>(config, std::move(call), std::move(reduced),
                                   std::move(segments))) {}
Layers::~Layers() = default;

Status Layers::plan() {
  return plan_->run();
}
const std::vector<Task>& Layers::tasks() const {
  return plan_->table().tasks();
}
std::string& Layers::events() {
  return plan_->table().events();
}
Segment& Layers::segment(uint32_t index) {
  return plan_->table().segment(index);
}
const std::vector<Segment>& Layers::segments() const {
  return plan_->table().segments();
}

void Layers::stored(uint32_t segment, Stored stored) {
  plan_->table().stored(segment, std::move(stored));
}
void Layers::decoded(uint32_t segment, Segment record, bool exact) {
  plan_->table().decoded(segment, std::move(record), exact);
}
std::optional<uint32_t> Layers::original(uint32_t segment) const {
  return plan_->table().about(segment).original;
}
void Layers::link(uint32_t number, std::string json) {
  plan_->link(number, std::move(json));
}

bool Layers::changed() const {
  return plan_->changed();
}
std::string Layers::render() {
  return plan_->render();
}
std::string Layers::refs_json() const {
  return plan_->refs();
}

}  // namespace sluice

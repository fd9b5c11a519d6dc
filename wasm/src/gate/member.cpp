#include "gate/member.h"

#include <algorithm>
#include <iterator>

namespace sluice::gate {

namespace {

struct Name {
  std::string_view name;
  Member member;
};

constexpr Name kNames[] = {
    {"jsonrpc", Member::jsonrpc},     {"result", Member::result},
    {"content", Member::blocks},      {"messages", Member::blocks},
    {"contents", Member::entries},    {"tools", Member::entries},
    {"resources", Member::entries},   {"resourceTemplates", Member::entries},
    {"prompts", Member::entries},     {"tasks", Member::entries},
    {"task", Member::entries},        {"roots", Member::entries},
    {"resource", Member::resource},   {"icons", Member::icons},
    {"_meta", Member::meta},          {"requestState", Member::fixed},
    {"inputRequests", Member::fixed}, {"inputResponses", Member::fixed},
    {"nextCursor", Member::fixed},    {"resultType", Member::fixed},
};

}  // namespace

// Most keys are those of rows: what a name cannot mean is not looked for.
Member member_named(std::string_view name, Place place) {
  if (place == Place::elsewhere) return name == "icons" ? Member::icons : Member::other;
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [name](const Name& known) { return known.name == name; });
  return found == std::end(kNames) ? Member::other : found->member;
}

Place place_of(Member member, Place place) {
  const bool result = place == Place::result;
  const bool block = place == Place::block;
  if (member == Member::result && result) return Place::result;
  if (member == Member::blocks && (result || block)) return Place::blocks;
  if (member == Member::entries && result) return Place::entries;
  if (member == Member::resource && block) return Place::entries;
  return Place::elsewhere;
}

Place place_of_object(Place place) {
  if (place == Place::blocks) return Place::block;
  return place == Place::entries ? Place::entry : place;
}

bool is_protected(Member member, Place place) {
  if (member == Member::meta) return place != Place::elsewhere;
  return member == Member::fixed && place == Place::result;
}

}  // namespace sluice::gate

/**
 * What a model says whose tools are those of `served-tools.mjs`.
 * @module
 */
import type { Script } from "../../dist/planner.js";

const CALLS = [
  { asked: /^Draw the picture/, call: () => ({ name: "tools_picture", args: {} }) },
  { asked: /^Wait for (.+)/, call: (file: string) => ({ name: "tools_slow", args: { file } }) },
  { asked: /^Make the report/, call: () => ({ name: "desk_report", args: {} }) },
  { asked: /^Ask me/, call: () => ({ name: "tools_asks", args: {} }) },
];

/** Calls the tool that the question is about, once, and says that it did. */
export const served: Script = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: "The picture is drawn." };
  const query = last?.content ?? "";
  for (const { asked, call } of CALLS) {
    const [, file = ""] = asked.exec(query) ?? [];
    if (asked.test(query)) return { text: "I call a tool. ", calls: [call(file)] };
  }
  return { text: "There is nothing to do." };
};

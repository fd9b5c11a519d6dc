/** What a planner tells of tools that have to do with users' files: long waits, and what they would have shown. */
import { expect, test } from "vitest";
import type { PlannerEvent } from "../../../web/src/planner.js";
import type { ToolSpec } from "../../../web/src/tools.js";
import { ADA, lab } from "../files/lab.js";
import { answered, once, planned } from "./planned.js";

test("what a tool would have shown goes to the host, and not to the model", async () => {
  const { node } = await lab();
  const events: PlannerEvent[] = [];
  const display = { open_canvas: true, notification: "Your page is ready" };
  const { planner } = planned(once({ name: "lab_show", args: { display } }), [node]);
  const outcome = answered(await planner.run("Show me", { scope: ADA, onEvent: (event) => void events.push(event) }));
  const told = events.find(({ kind }) => kind === "tool_display");
  expect(told).toMatchObject({
    step: 1,
    tool: "lab.show",
    display: { ...display, files: [{ name: "page.html", viewer: "html", auto_open: true }] },
  });
  expect(outcome.trajectory.steps[0]?.calls[0]?.observation).not.toContain("Your page is ready");
});

test("a call that takes long is told as one of this run", async () => {
  const { node } = await lab();
  const [known] = node.getTools();
  const wait = { after_s: 15, message: "The tool is taking longer than expected. Please wait...", is_over: false };
  const slow: ToolSpec = {
    ...(known as ToolSpec),
    name: "lab.slow",
    call: async (_, context) => {
      context?.onWait?.(wait);
      return node.call("echo", {}, { scope: ADA });
    },
  };
  const events: PlannerEvent[] = [];
  const { planner } = planned(once({ name: "lab_slow" }), [slow]);
  await planner.run("Wait", { scope: ADA, onEvent: (event) => void events.push(event) });
  expect(events).toContainEqual({ kind: "tool_waiting", step: 1, call: expect.any(String), tool: "lab.slow", wait });
});

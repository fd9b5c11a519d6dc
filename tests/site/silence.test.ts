/** Tools that say nothing for long: what a person is told meanwhile, and what is offered when it is over. */
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { ask, begin, connect, connectFiles, during, go, PATIENCE, visitor } from "./visit.js";
import { isFull } from "../support/full.js";

const MESSAGES = [
  "The tool is taking longer than expected. Please wait...",
  "Still processing your request. This may take a few more moments.",
  "Processing continues. The tool will timeout in 5 seconds if no progress.",
  "Tool failed to respond in a reasonable amount of time. Please try again or use a smaller dataset.",
];
/** Of the demo's tool: its limit is 30 s. */
const SECONDS = "200";

const server = during(serveMcp);
const seen = visitor();
const other = visitor();
const third = visitor();
const card = (page: Page): Locator => page.locator("playground-tools playground-call");
const called = (page: Page): Locator => page.locator("playground-chat playground-tool").last();

beforeAll(async () => {
  await connectFiles(seen.page);
  await connectFiles(other.page);
  await connect(third.page, server().url);
});

/** Waits for the messages one after the other, where they are told politely. */
async function hear(place: Locator): Promise<void> {
  for (const message of MESSAGES.slice(0, 3)) await place.getByRole("status").getByText(message).waitFor();
  await place.getByText(MESSAGES[3] ?? "").waitFor();
}

// All wait at once: the times are those of the specification.
test.runIf(isFull)(
  "a call, one of the chat, and one of another server tell what the person should know at 15, 20, 25 and 30 seconds",
  async () => {
    const { page } = seen;
    await begin(third.page, "wait");
    await begin(page, "stay_silent", { seconds: SECONDS });
    await ask(other.page, `Stay silent for ${SECONDS} seconds`);
    await card(page)
      .getByText(/^[1-9] s$/)
      .waitFor();
    await Promise.all([hear(card(page)), hear(called(other.page))]);
    for (const place of [card(page), called(other.page)]) {
      await place.getByText("E_TIMEOUT", { exact: true }).waitFor();
      await place.getByText("Its last progress: Processing chunk 1/200").waitFor();
      await place.getByText("The limit was 30 s.").waitFor();
    }
    const alert = card(third.page).getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain("The limit was 30 s. Its last progress: 1");
  },
  120_000,
);

test.runIf(isFull)("a call of another server is made again with twice as much time, and cancelled", async () => {
  const { page } = third;
  await card(page).getByRole("alert").getByRole("button", { name: "Retry with 60 s" }).click();
  await card(page).getByRole("button", { name: "Cancel" }).waitFor();
  expect(await card(page).getByRole("alert").count()).toBe(0);
  await card(page).getByRole("button", { name: "Cancel" }).click();
  await card(page).getByText("It was cancelled").waitFor();
});

test.runIf(isFull)("a call that took too long is made again with twice as much time, and cancelled", async () => {
  const { page } = seen;
  await card(page).getByRole("button", { name: "Retry with 60 s" }).click();
  await card(page).getByRole("status").getByText("Processing chunk 1/200").waitFor();
  await card(page).getByRole("button", { name: "Cancel" }).click();
  await card(page).getByText("It was cancelled: nothing came of it.").waitFor();
});

test.runIf(isFull)("a question is asked again with twice as much time, and its call is cancelled", async () => {
  const { page } = other;
  await page.locator("playground-chat").getByRole("button", { name: "Ask", exact: true }).waitFor();
  await called(page).getByRole("button", { name: "Ask again with 60 s" }).click();
  await expect.poll(() => page.locator("playground-turn").count(), { timeout: PATIENCE }).toBe(2);
  await called(page).getByText("Processing chunk 1/200").waitFor();
  await called(page).getByRole("button", { name: "Cancel" }).click();
  await called(page).getByText("was cancelled").waitFor();
  await go(page, "Log");
  await page.locator("playground-log").getByText("files.stay_silent: silent for 30 s").waitFor();
});

test.runIf(isFull)("nothing of it is complained of", () =>
  expect([...seen.complaints, ...other.complaints, ...third.complaints]).toEqual([]),
);

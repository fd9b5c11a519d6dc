/** <playground-files> over a real engine. */
import type { Remote } from "comlink";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { UserStorage } from "mcp-sluice/files";
import { beforeAll, expect, test, vi } from "vitest";
import { Actions } from "../../../../web/playground/app/actions.js";
import { FilesView } from "../../../../web/playground/app/views/files-view.js";
import { Store } from "../../../../web/playground/app/state.js";
import type { Engine } from "../../../../web/playground/engine/contract.js";
import { PlaygroundEngine } from "../../../../web/playground/engine/playground-engine.js";
import { VISITOR } from "../../../../web/playground/engine/stores.js";
import { violations } from "../../ui/support.js";

const SOON = { timeout: 20_000 };
const EXPIRES = Date.now() + 72 * 3_600_000;
const HOSTILE = "Sign\u202e it <b>now</b>";

const engine = new PlaygroundEngine();
const store = new Store();
// In a worker it is asked through Comlink, which has the same methods.
const actions = new Actions(engine as unknown as Remote<Engine>, store);
const view = new FilesView();
const text = (): string => view.shadowRoot?.textContent.replaceAll(/\s+/g, " ") ?? "";

beforeAll(async () => {
  const started = await engine.start({ keys: {}, config: {}, callback: "" });
  if (!started.ok) throw new Error(started.problem.message);
  const files = new UserStorage(new IndexedDbArtifactStore({ name: "sluice-files", retention: null }), VISITOR);
  await files.clear();
  const draft = { reason: "needs_editing", next_actions: ["Edit the greeting", HOSTILE], expires_at: EXPIRES } as const;
  await files.put("letter.docx", "Dear all", { origin: "deferred", category: "draft", draft });
  await files.put("plain.txt", "Nothing else is known.");
  Object.assign(view, { store, actions });
  document.body.append(view);
});

test("a draft stands among the files with why it is one, what can be done next, and when it goes", async () => {
  await vi.waitFor(() => expect(text()).toContain("A draft: it needs editing."), SOON);
  expect(text()).toContain(`It goes on ${new Date(EXPIRES).toLocaleString()}.`);
  const next = [...(view.shadowRoot?.querySelectorAll(".draft li") ?? [])].map((item) => item.textContent.trim());
  expect(next).toEqual(["Edit the greeting", "Sign\ufffd it <b>now</b>"]);
  expect(view.shadowRoot?.querySelectorAll(".draft")).toHaveLength(1);
});

test("drafts alone are shown where they are wanted", async () => {
  const origin = view.shadowRoot?.querySelector<HTMLSelectElement>("select[aria-label=Origin]");
  if (!origin) throw new Error("There is no choice.");
  origin.value = "deferred";
  origin.dispatchEvent(new Event("change"));
  await vi.waitFor(() => expect(view.shadowRoot?.querySelectorAll("sluice-artifact")).toHaveLength(1), SOON);
  expect(text()).toContain("1 of 2 files");
});

test("nothing of it is hard to use, in either theme", async () => {
  expect(await violations(view)).toEqual([]);
});

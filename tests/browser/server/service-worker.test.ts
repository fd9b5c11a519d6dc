import { deleteDB, openDB } from "idb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { jingle } from "../../../web/playground/demo/files.js";
import type { ArtifactInfo } from "../../../web/src/artifacts/store.js";
import { IndexedDbArtifactSessions } from "../../../web/src/server/artifacts/indexed-db-sessions.js";
import { artifactUrl, type ArtifactUrlOptions } from "../../../web/src/server/artifacts/service.js";
import { sessionsContract } from "../../unit/server/artifacts/sessions-contract.js";
import { type Order, SESSIONS_NAME } from "./orders.js";

describe("the service worker", () => {
  const SCOPE = { session_id: "s1" };
  const sessions = new IndexedDbArtifactSessions({ name: SESSIONS_NAME });
  let registration: ServiceWorkerRegistration;
  /** A page that the service worker controls. */
  let page: Window & typeof globalThis;
  let frame: HTMLIFrameElement;
  let key = "";

  beforeAll(async () => {
    registration = await navigator.serviceWorker.register(new URL("./worker.ts", import.meta.url), { type: "module" });
    await activated(registration);
    frame = await framed(document, `${registration.scope}page`);
    page = frame.contentWindow as Window & typeof globalThis;
  });

  beforeEach(async () => {
    key = await sessions.begin(SCOPE);
  });

  afterAll(async () => {
    frame.remove();
    await registration.unregister();
    await sessions[Symbol.asyncDispose]();
    await deleteDB(SESSIONS_NAME);
  });

  async function activated({ installing, waiting, active }: ServiceWorkerRegistration): Promise<void> {
    const worker = installing ?? waiting ?? active;
    if (worker === null) throw new Error("no worker");
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (worker.state === "activated") resolve();
        if (worker.state === "redundant") reject(new Error("the worker did not start"));
      };
      worker.addEventListener("statechange", look);
      look();
    });
  }

  async function framed(host: Document, src: string): Promise<HTMLIFrameElement> {
    const element = host.createElement("iframe");
    const loaded = new Promise((resolve) => element.addEventListener("load", resolve, { once: true }));
    element.src = src;
    host.body.append(element);
    await loaded;
    return element;
  }

  async function told<T>(order: Order): Promise<T> {
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise<T>((resolve) => {
      port1.addEventListener("message", ({ data }: MessageEvent<T>) => resolve(data), { once: true });
      port1.start();
    });
    registration.active?.postMessage(order, [port2]);
    return answer;
  }

  function put(data: string | Uint8Array, info: ArtifactInfo): Promise<string> {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    return told({ act: "put", bytes, info: { scope: SCOPE, ...info } });
  }

  function putFile(name: string, text: string, user_id: string): Promise<string> {
    return told({ act: "put file", bytes: new TextEncoder().encode(text), name, scope: { user_id } });
  }

  function at(id: string, options: ArtifactUrlOptions = {}): string {
    return artifactUrl(key, id, { base: registration.scope, ...options });
  }

  async function png(): Promise<Uint8Array> {
    const canvas = new OffscreenCanvas(3, 2);
    canvas.getContext("2d")?.fillRect(0, 0, 1, 1);
    return new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  }

  /** Which of two events an element has first. */
  function outcome(element: EventTarget, good: string): Promise<string> {
    return new Promise((resolve) => {
      for (const type of [good, "error"]) element.addEventListener(type, () => resolve(type), { once: true });
    });
  }

  describe("in a page under a service worker", () => {
    test("bytes come whole, in part and by tag", async () => {
      const id = await put("0123456789", { mime_type: "text/plain" });
      const whole = await page.fetch(at(id));
      expect(whole.status).toBe(200);
      expect(whole.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(await whole.text()).toBe("0123456789");
      const part = await page.fetch(at(id), { headers: { Range: "bytes=2-4" } });
      expect(part.status).toBe(206);
      expect(await part.text()).toBe("234");
      const tag = whole.headers.get("etag") ?? "";
      expect((await page.fetch(at(id), { headers: { "If-None-Match": tag } })).status).toBe(304);
      const meta: unknown = await (await page.fetch(at(id, { meta: true }))).json();
      expect(meta).toMatchObject({ id, size_bytes: 10, mime_type: "text/plain" });
    });

    test("megabytes come as they are", async () => {
      const bytes = new Uint8Array(20 * 1024 * 1024).map((_, index) => index % 251);
      const id = await put(bytes, { mime_type: "application/zip" });
      const blob = await (await page.fetch(at(id))).blob();
      expect(blob.size).toBe(bytes.length);
      const sent = await crypto.subtle.digest("SHA-256", bytes);
      const got = await crypto.subtle.digest("SHA-256", await blob.arrayBuffer());
      expect(new Uint8Array(got)).toEqual(new Uint8Array(sent));
    });

    test("an image is shown", async () => {
      const image = page.document.createElement("img");
      const shown = outcome(image, "load");
      image.src = at(await put(await png(), { mime_type: "image/png" }));
      expect(await shown).toBe("load");
      expect([image.naturalWidth, image.naturalHeight]).toEqual([3, 2]);
    });

    test("audio is played", async () => {
      const audio = page.document.createElement("audio");
      const shown = outcome(audio, "canplaythrough");
      audio.preload = "auto";
      audio.src = at(await put(jingle(1), { mime_type: "audio/wav" }));
      expect(await shown).toBe("canplaythrough");
      expect(audio.duration).toBeCloseTo(1, 2);
    });

    test("audio is played in a document of its own", async () => {
      const shown = await framed(page.document, at(await put(jingle(1), { mime_type: "audio/wav" })));
      const player = shown.contentDocument?.querySelector("video");
      await expect.poll(() => player?.duration).toBeCloseTo(1, 2);
      shown.remove();
    });

    test("a page has an origin of its own and runs nothing", async () => {
      const heard: unknown[] = [];
      const listen = ({ data }: MessageEvent): unknown => heard.push(data);
      page.addEventListener("message", listen);
      const html =
        "<script>parent.postMessage('run', '*')</script><img src=x onerror=\"parent.postMessage('run', '*')\">";
      const shown = await framed(page.document, at(await put(html, { mime_type: "text/html" })));
      expect(shown.contentDocument).toBeNull();
      // A message of the page's own comes behind whatever was sent before.
      page.postMessage("own", "*");
      await expect.poll(() => heard.length).toBeGreaterThan(0);
      expect(heard).toEqual(["own"]);
      page.removeEventListener("message", listen);
      shown.remove();
    });

    test("an artifact is no script, no style sheet and no worker of a page", async () => {
      const code = await put("globalThis.ran = true;", { mime_type: "text/javascript" });
      const script = page.document.createElement("script");
      const ran = outcome(script, "load");
      script.src = at(code);
      page.document.head.append(script);
      expect(await ran).toBe("error");
      expect(page).not.toHaveProperty("ran");

      const sheet = page.document.createElement("link");
      const applied = outcome(sheet, "load");
      sheet.rel = "stylesheet";
      sheet.href = at(await put("body { color: red }", { mime_type: "text/css" }));
      page.document.head.append(sheet);
      expect(await applied).toBe("error");

      const worker = new page.Worker(at(code));
      expect(await outcome(worker, "message")).toBe("error");
    });

    test("what was deleted is gone, what never was is not found", async () => {
      const id = await put("short-lived", {});
      expect((await page.fetch(at(id))).status).toBe(200);
      await told({ act: "delete", id, scope: SCOPE });
      expect((await page.fetch(at(id))).status).toBe(410);
      expect((await page.fetch(at("web_0123456789ab"))).status).toBe(404);
    });

    test("a user's files are opened by that user's sessions, and by nobody else's", async () => {
      const users = ["ada", "bob"];
      const ids = await Promise.all(users.map((user) => putFile("report.txt", `of ${user}`, user)));
      const keys = await Promise.all(users.map((user_id) => sessions.begin({ user_id, session_id: `s-${user_id}` })));
      keys.push(key);
      const statuses: Record<string, readonly (number | string)[]> = {};
      for (const [asker, own] of keys.entries()) {
        for (const [owner, id] of ids.entries()) {
          const address = { base: registration.scope };
          const answer = await page.fetch(artifactUrl(own, id, address));
          const meta = await page.fetch(artifactUrl(own, id, { ...address, meta: true }));
          const text = answer.ok ? await answer.text() : "";
          statuses[`${users[asker] ?? "nobody"} asks for ${users[owner]}'s`] = [answer.status, meta.status, text];
        }
      }
      const none = [404, 404, ""];
      expect(statuses).toEqual({
        "ada asks for ada's": [200, 200, "of ada"],
        "ada asks for bob's": none,
        "bob asks for ada's": none,
        "bob asks for bob's": [200, 200, "of bob"],
        "nobody asks for ada's": none,
        "nobody asks for bob's": none,
      });
    });

    test("nothing is opened by another session's key, and by none that has ended", async () => {
      const id = await put("mine", {});
      const other = await sessions.begin({ session_id: "s2" });
      expect((await page.fetch(artifactUrl(other, id, { base: registration.scope }))).status).toBe(404);
      expect((await page.fetch(at(id))).status).toBe(200);
      await sessions.end(key);
      expect((await page.fetch(at(id))).status).toBe(404);
    });
  });
});

describe("sessions", () => {
  const NAME = "test-sessions";
  const SCOPE = { tenant_id: null, user_id: null, session_id: "s1", trace_id: null };
  const opened: IndexedDbArtifactSessions[] = [];
  let now = 0;

  function open(): IndexedDbArtifactSessions {
    const sessions = new IndexedDbArtifactSessions({ name: NAME, clock: () => ++now });
    opened.push(sessions);
    return sessions;
  }

  afterEach(async () => {
    for (const sessions of opened.splice(0)) await sessions[Symbol.asyncDispose]();
    await deleteDB(NAME);
  });

  describe("sessions in IndexedDB", () => {
    sessionsContract(open);

    test("are the same for all who open them, and ended for all", async () => {
      const [page, worker] = [open(), open()];
      const key = await page.begin(SCOPE);
      await page.note(key, "web_0123456789ab");
      expect(await worker.find(key)).toEqual(SCOPE);
      expect(await worker.noted(key, "web_0123456789ab")).toBe(true);
      await page.end(key);
      expect(await worker.find(key)).toBeNull();
    });

    test("outlive who began them", async () => {
      const first = open();
      const key = await first.begin(SCOPE);
      await first[Symbol.asyncDispose]();
      expect(await open().find(key)).toEqual(SCOPE);
      expect(await first.find(key)).toEqual(SCOPE);
    });

    test("give way to who deletes the database, and begin anew", async () => {
      const sessions = open();
      const key = await sessions.begin(SCOPE);
      await deleteDB(NAME);
      expect(await sessions.find(key)).toBeNull();
      expect(await sessions.find(await sessions.begin(SCOPE))).toEqual(SCOPE);
    });

    test("in a database that a newer version wrote are a coded error", async () => {
      (await openDB(NAME, 99)).close();
      const sessions = open();
      await expect(sessions.begin(SCOPE)).rejects.toMatchObject({ code: "E_STORE_WRITE" });
      await expect(sessions.find("x".repeat(22))).rejects.toMatchObject({ code: "E_STORE_READ" });
    });
  });
});

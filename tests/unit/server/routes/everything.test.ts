/** The reference server that has everything, behind a server of ours: over stdio, and over HTTP. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { calledOnce, listening, program, served, visitor } from "../sources/serving.js";
import type { Visitor } from "../visitor.js";

const MANIFEST = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");
const PROGRAM = join(dirname(MANIFEST), "dist/index.js");
const TEXT = "demo://resource/dynamic/text/1";
const BLOB = "demo://resource/dynamic/blob/1";

async function overHttp(): Promise<string> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [PROGRAM, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill());
  const url = `http://127.0.0.1:${port}/mcp`;
  await expect
    .poll(
      () =>
        fetch(url).then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
  return url;
}

const WAYS = [
  ["stdio", async () => `"${process.execPath}" "${PROGRAM}" stdio`],
  ["Streamable HTTP", overHttp],
] as const;

describe.each(WAYS)("%s", (_, connection) => {
  const begun = async (): Promise<Visitor> => visitor(served({ sources: [program("all", await connection())] }));

  test("its tools are listed and called; an image is stored, and downloaded as it was", async () => {
    const ada = await begun();
    const { tools } = await ada.json<{ tools: readonly { name: string }[] }>("/tools");
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["all.echo", "all.get-tiny-image", "all.resources_read"]),
    );
    const { artifacts } = (await (await calledOnce(ada, "all.get-tiny-image")).json()) as {
      artifacts: readonly { id: string }[];
    };
    const image = await ada.ask(`/artifacts/${artifacts[0]?.id}`);
    expect(image.headers.get("content-type")).toBe("image/png");
    const bytes = Buffer.from(await image.arrayBuffer());
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  });

  test("its resources are listed, read and watched", async () => {
    const ada = await begun();
    const { templates } = await ada.json<{ templates: readonly { uri_template: string }[] }>(
      "/resources/all/templates",
    );
    expect(templates.map(({ uri_template }) => uri_template)).toContain("demo://resource/dynamic/text/{resourceId}");
    const read = (uri: string): Promise<unknown> => ada.json(`/resources/all/${encodeURIComponent(uri)}`);
    expect(await read(TEXT)).toMatchObject({
      contents: [{ kind: "text", uri: TEXT, text: expect.stringContaining("Resource 1") }],
    });
    expect(await read(BLOB)).toMatchObject({ contents: [{ kind: "artifact", uri: BLOB }] });
    expect((await ada.ask(`/resources/all/${encodeURIComponent(TEXT)}/subscription`, { method: "PUT" })).status).toBe(
      204,
    );
    await using events = await listening(ada);
    const told = events.next("resource_updated");
    // It tells every five seconds.
    await calledOnce(ada, "all.toggle-subscriber-updates");
    expect(await told).toEqual({ kind: "resource_updated", namespace: "all", uri: TEXT });
  });
});

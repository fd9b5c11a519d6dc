/** Connections that are no client's of HTTP: they send what they are told, and read when they are told. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen, SluiceServer, type ListeningServer, type ListenOptions } from "../../../../web/src/serve.js";
import type { Visitor } from "../visitor.js";

/** For tests that wait for what is given up. */
export const STRICT: Omit<ListenOptions, "port" | "host"> = { clientSeconds: 1, graceSeconds: 1 };

/** A server that listens. */
export interface Served extends AsyncDisposable {
  readonly server: SluiceServer;
  readonly listening: ListeningServer;
}

/** One that keeps whatever it is given. */
export async function served(options: object = STRICT): Promise<Served> {
  const server = new SluiceServer({
    store: new MemoryArtifactStore({ retention: null }),
    retention: { max_artifact_bytes: null },
    limits: { bodySeconds: 1 },
  });
  const listening = await listen(server, { host: "127.0.0.1", port: 0, ...options });
  return {
    server,
    listening,
    [Symbol.asyncDispose]: async () => {
      await listening[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A connection that has sent this, and reads nothing by itself. */
export async function sent(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

/** All that comes until the other side ends; and how long that takes, in seconds. */
export async function received(socket: Socket): Promise<readonly [text: string, seconds: number]> {
  const begun = performance.now();
  let text = "";
  socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
  await new Promise((resolve) => socket.once("close", resolve));
  return [text, (performance.now() - begun) / 1000];
}

/** The rest of a request, in a session. */
export const headers = (port: number, visitor: Visitor, more = ""): string =>
  `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${visitor.token}\r\n${more}\r\n`;

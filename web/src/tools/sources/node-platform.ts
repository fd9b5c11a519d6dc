/**
 * What Node can do beyond browsers for the tools of a document.
 * @module
 */
import { lookup } from "node:dns/promises";
import { createReadStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { onAbort } from "../../core/abort.js";
import { adaptError, fromStatus } from "../adapt-error.js";
import type { ResolvedToolConfig } from "../config/resolved-config.js";
import { commandSource } from "./command/source.js";
import { MAX_ANSWER } from "./http/web-socket.js";
import { mcpStdioSource } from "./mcp/stdio.js";
import type { Platform, Socket, SocketRequest } from "./document-source.js";
import type { SourceParts } from "./web-source.js";

/** Milliseconds that the other side may take to close a WebSocket. */
const CLOSING = 1000;

/** The platform of a source in Node. */
export function nodePlatform({ name }: Pick<ResolvedToolConfig, "name">, parts: SourceParts): Platform {
  const { sluice, store, onErrorOutput, sampling = false, command } = parts;
  return {
    openSocket,
    lookup: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
    local: {
      commands: commandSource,
      program: ({ argv, env, folder }) =>
        mcpStdioSource({
          name,
          sluice,
          store,
          sampling,
          argv,
          env,
          ...(folder !== null && { cwd: folder }),
          ...(command !== undefined && { command }),
          ...(onErrorOutput !== undefined && { onErrorOutput }),
        }),
      file: (path) => createReadStream(path),
    },
  };
}

/** Opens a WebSocket with headers, which Node's own does not support. Does not follow redirects. */
async function openSocket({ url, headers, protocol, signal, place }: SocketRequest): Promise<Socket> {
  const { WebSocket } = await import("ws");
  signal.throwIfAborted();
  const options = { headers: Object.fromEntries(headers), maxPayload: MAX_ANSWER, closeTimeout: CLOSING };
  const socket = new WebSocket(url, protocol === null ? [] : [protocol], options);
  socket.binaryType = "arraybuffer";
  const forget = onAbort(signal, () => socket.terminate());
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.on("error", reject);
      socket.once("unexpected-response", (_request: unknown, { statusCode = 0, headers: told }: IncomingMessage) => {
        reject(fromStatus(statusCode, { get: (header) => told[header] }, place));
        socket.terminate();
      });
    });
  } catch (error) {
    socket.terminate();
    signal.throwIfAborted();
    throw adaptError(error, place);
  } finally {
    forget();
  }
  return socket as Socket;
}

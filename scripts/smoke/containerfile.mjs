/**
 * Reads a file of build instructions: the few that `deploy/Containerfile` uses. Any other is refused, so that no step is left out where
 * no container engine is at hand.
 * @module
 */

/**
 * @typedef {{ kind: "arg", name: string, value: string } | { kind: "copy", from?: string, source: string, target: string }
 *   | { kind: "env", name: string, value: string } | { kind: "run", command: string } | { kind: "workdir", path: string }} Step
 * @typedef {object} Stage
 * @property {string} base an image, or the name of an earlier stage
 * @property {string} [name]
 * @property {Step[]} steps in order
 * @property {ImageConfig} config
 * @typedef {object} ImageConfig what is said of the processes
 * @property {string[]} [entrypoint]
 * @property {string[]} [command]
 * @property {{ seconds: number, tries: number, interval: number, command: string[] }} [health]
 * @property {string} [user] UID:GID
 * @property {string} [stopSignal]
 * @property {number[]} ports
 */

/** An instruction that is not known here, or is written in another way. The message says where. */
export class ContainerfileError extends Error {}

/**
 * The stages of a file, in order.
 * @param {string} text
 * @returns {Stage[]}
 * @throws {ContainerfileError}
 */
export function readContainerfile(text) {
  const stages = [];
  for (const { line, word, rest } of instructions(text)) {
    const refuse = (why) => {
      throw new ContainerfileError(`line ${line}: ${word} ${why}`);
    };
    const read = READERS[word] ?? (() => refuse("is not known here: write it otherwise, or teach it to scripts/smoke"));
    if (word !== "RUN" && word !== "HEALTHCHECK" && rest.includes("$")) refuse("has a variable, which only RUN may");
    if (word !== "FROM" && stages.length === 0) refuse("stands before the first FROM");
    read({ rest, refuse, stages, stage: stages.at(-1) });
  }
  if (stages.length === 0) throw new ContainerfileError("there is no FROM");
  return stages;
}

/** Each with the number of its first line. Lines that end with `\` go on. */
function instructions(text) {
  const found = [];
  let open;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    open = open === undefined ? { line: index + 1, text: line } : { ...open, text: `${open.text} ${line.trim()}` };
    if (open.text.endsWith("\\")) {
      open.text = open.text.slice(0, -1).trimEnd();
      continue;
    }
    const said = /^\s*(\w+)\s+(.*)$/.exec(open.text);
    if (said === null) throw new ContainerfileError(`line ${open.line}: this is no instruction`);
    const [, word, rest] = said;
    found.push({ line: open.line, word, rest: rest.trim() });
    open = undefined;
  }
  return found;
}

const READERS = {
  FROM({ rest, refuse, stages }) {
    const [, base, name] = /^([\w./:@-]+)(?: AS ([\w-]+))?$/.exec(rest) ?? refuse("is IMAGE, or IMAGE AS NAME");
    stages.push({ base, ...(name && { name }), steps: [], config: { ports: [] } });
  },
  ARG: ({ rest, refuse, stage }) => stage.steps.push({ kind: "arg", ...assigned(rest, refuse) }),
  ENV: ({ rest, refuse, stage }) => stage.steps.push({ kind: "env", ...assigned(rest, refuse) }),
  RUN({ rest, refuse, stage }) {
    if (/^(?:--|\[)/.test(rest)) refuse("is a line for the shell, without options");
    stage.steps.push({ kind: "run", command: rest });
  },
  WORKDIR({ rest, refuse, stage }) {
    if (!rest.startsWith("/")) refuse("is absolute");
    stage.steps.push({ kind: "workdir", path: rest });
  },
  COPY({ rest, refuse, stage }) {
    const [, from, source, target] =
      /^(?:--from=([\w-]+) )?(\S+) (\/\S*)$/.exec(rest) ?? refuse("is SOURCE /TARGET, perhaps with --from=STAGE");
    stage.steps.push({ kind: "copy", ...(from && { from }), source, target });
  },
  USER({ rest, refuse, stage }) {
    if (!/^\d+:\d+$/.test(rest)) refuse("is UID:GID, in numbers");
    stage.config.user = rest;
  },
  EXPOSE: ({ rest, refuse, stage }) => stage.config.ports.push(/^\d+$/.test(rest) ? Number(rest) : refuse("is a port")),
  STOPSIGNAL({ rest, refuse, stage }) {
    stage.config.stopSignal = /^SIG[A-Z]+$/.test(rest) ? rest : refuse("is the name of a signal");
  },
  ENTRYPOINT: ({ rest, refuse, stage }) => (stage.config.entrypoint = words(rest, refuse)),
  CMD: ({ rest, refuse, stage }) => (stage.config.command = words(rest, refuse)),
  HEALTHCHECK({ rest, refuse, stage }) {
    const [, options, command] = /^((?:--\S+ )*)CMD (.*)$/.exec(rest) ?? refuse("is OPTIONS CMD [WORDS]");
    const said = Object.fromEntries(
      options
        .trim()
        .split(" ")
        .map((option) => option.slice(2).split("=")),
    );
    const seconds = (name) => Number(/^(\d+)s$/.exec(said[name] ?? "")?.[1] ?? refuse(`wants --${name} in seconds`));
    stage.config.health = {
      seconds: seconds("start-period") + seconds("timeout"),
      interval: seconds("interval"),
      tries: Number(said.retries ?? refuse("wants --retries")),
      command: words(command, refuse),
    };
  },
};

function assigned(rest, refuse) {
  const [, name, value] = /^([A-Za-z_]\w*)="([^"\\]*)"$/.exec(rest) ?? refuse('is one NAME="VALUE"');
  return { name, value };
}

/** Without a shell, so that signals reach the process itself. */
function words(rest, refuse) {
  try {
    const read = JSON.parse(rest);
    if (Array.isArray(read) && read.length > 0 && read.every((word) => typeof word === "string")) return read;
  } catch {
    // Told below.
  }
  return refuse('is a list of words, ["LIKE", "THIS"]');
}

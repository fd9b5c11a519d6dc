/** A disk of a test's own. */
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder in memory with so many MiB, until `unmounted`; undefined where one may not mount: only root, and not everywhere. */
export function mounted(mebibytes: number): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const folder = execFileSync("mktemp", ["-d", join(tmpdir(), "sluice-disk-XXXXXX")])
    .toString()
    .trim();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder], { stdio: "ignore" });
    return folder;
  } catch {
    execFileSync("rmdir", [folder]);
    return undefined;
  }
}

export function unmounted(folder: string): void {
  execFileSync("umount", [folder]);
  execFileSync("rmdir", [folder]);
}

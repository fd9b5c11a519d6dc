/**
 * What can be done with an artifact.
 * @module
 */
import copy from "lucide-static/icons/copy.svg?raw";
import download from "lucide-static/icons/download.svg?raw";
import eye from "lucide-static/icons/eye.svg?raw";
import maximize from "lucide-static/icons/maximize-2.svg?raw";
import save from "lucide-static/icons/folder-plus.svg?raw";
import trash from "lucide-static/icons/trash-2.svg?raw";

/** One thing that a card offers. */
export type ArtifactAction = "preview" | "download" | "copy" | "save" | "open" | "delete";

/** What is offered where nobody says. */
export const DEFAULT_ACTIONS: readonly ArtifactAction[] = ["preview", "download", "copy"];

/** How many stand as buttons; the rest is in a menu. */
export const BUTTONS = 3;

/** What actions are called, and the sources of their icons. */
export const ACTIONS: Readonly<Record<ArtifactAction, { readonly label: string; readonly icon: string }>> = {
  preview: { label: "Preview", icon: eye },
  download: { label: "Download original", icon: download },
  copy: { label: "Copy ref", icon: copy },
  save: { label: "Save to My Files", icon: save },
  open: { label: "Open in canvas", icon: maximize },
  delete: { label: "Delete", icon: trash },
};

/** The overlay on the page: the command palette, the list of keys, or none. */

import { signal } from "@preact/signals";

export const overlay = signal<"" | "palette" | "help">("");
const show = (what: typeof overlay.value) => () => {
  overlay.value = what;
};
export const showPalette = show("palette");
export const showHelp = show("help");
export const hideOverlay = show("");

/** What lies over the page: the command palette, the list of keys, or nothing. */

import { signal } from "@preact/signals";

export const overlay = signal<"" | "palette" | "help">("");
export const showPalette = () => void (overlay.value = "palette");
export const showHelp = () => void (overlay.value = "help");
export const hideOverlay = () => void (overlay.value = "");

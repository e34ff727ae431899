import { signal } from "@preact/signals";

/** The card that has the keyboard's focus. */
export const chosen = signal("");

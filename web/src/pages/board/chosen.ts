import { signal } from "@preact/signals";

/** The id of the card that has the focus. */
export const chosen = signal("");

/** The time that ages are measured from: now, once a second. */

import { computed, signal } from "@preact/signals";
import { store } from "../live";

/** Whatever is looked back at: the time on the wall. */
export const ticking = signal(Date.now());
setInterval(() => {
  if (!document.hidden) ticking.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => (ticking.value = Date.now()));

/** When the board that we look back at was; 0: not known. The timeline sets it. */
export const pastAt = signal(0);

export const now = computed(() => (store.past.value !== null && pastAt.value ? pastAt.value : ticking.value));

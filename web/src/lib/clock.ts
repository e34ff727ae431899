/** The time that ages are measured from, updated once a second. */

import { computed, signal } from "@preact/signals";
import { store } from "../live";

/** The current time, even while the page shows an earlier board. */
export const ticking = signal(Date.now());
setInterval(() => {
  if (!document.hidden) ticking.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => (ticking.value = Date.now()));

/** The time of the earlier board that is shown; 0: unknown. The timeline sets it. */
export const pastAt = signal(0);

export const now = computed(() => (store.past.value !== null && pastAt.value ? pastAt.value : ticking.value));

/** The pages. Each is a module that is loaded on first use. */

import { computed, type ReadonlySignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { tables } from "../live";
import { needed } from "../live/needs";
import type { IconName } from "../ui/icons";

export type PageProps = { rest: readonly string[] };
export type PageEntry = {
  name: string; // the first part of its address
  title: string;
  icon: IconName;
  key: string; // after g
  load: () => Promise<{ default: ComponentType<PageProps> }>;
  /** A number beside its name: what is active there or needs attention. */
  count?: ReadonlySignal<number>;
  urgent?: boolean;
};

const live = computed(() => tables.sessions.rows.value.filter((session) => session.live).length);
const plans = computed(() => tables.mayors.rows.value.filter((mayor) => mayor.pending).length);
const waiting = computed(() => tables.queue.ids.value.length);

export const PAGES: readonly PageEntry[] = [
  { name: "board", title: "Board", icon: "board", key: "b", load: () => import("../pages/board") },
  { name: "convoy", title: "Convoy", icon: "convoy", key: "c", load: () => import("../pages/convoy") },
  {
    name: "sessions",
    title: "Sessions",
    icon: "sessions",
    key: "s",
    load: () => import("../pages/sessions"),
    count: live,
  },
  { name: "queue", title: "Queue", icon: "queue", key: "q", load: () => import("../pages/queue"), count: waiting },
  { name: "timeline", title: "Timeline", icon: "timeline", key: "t", load: () => import("../pages/timeline") },
  {
    name: "alerts",
    title: "Alerts",
    icon: "alerts",
    key: "a",
    load: () => import("../pages/alerts"),
    count: needed,
    urgent: true,
  },
  {
    name: "mayor",
    title: "Mayor",
    icon: "mayor",
    key: "m",
    load: () => import("../pages/mayor"),
    count: plans,
    urgent: true,
  },
  { name: "health", title: "Health", icon: "health", key: "h", load: () => import("../pages/health") },
];

/** Icons, each a single path in a 24 × 24 box. They are decorative: the text beside them carries the meaning. */

const PATHS = {
  board: "M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v12h-4z",
  convoy: "M6 6a2 2 0 1 0 .1 0M18 6a2 2 0 1 0 .1 0M12 16a2 2 0 1 0 .1 0M7 9.6l4 6M17 9.6l-4 6M8.2 8h7.6",
  sessions: "M4 5h16v14H4zM7.5 9.5l3 2.5-3 2.5M13 15h4",
  queue: "M5 7h14M5 12h14M5 17h8M17 15v5M14.5 17.5h5",
  timeline: "M12 4a8 8 0 1 0 .1 0M12 8v4.5l3 2",
  alerts: "M12 4l9 15H3zM12 10v4M12 16.5v.1",
  mayor: "M4 5h16v11H11l-4 4v-4H4z",
  health: "M3 12h4l3-7 4 14 3-7h4",
  search: "M10.5 5a5.5 5.5 0 1 0 .1 0M15 15l5 5",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  sun: "M12 8a4 4 0 1 0 .1 0M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4",
  moon: "M19 14a8 8 0 0 1-9-9 8 8 0 1 0 9 9z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  up: "M12 19V6M6 11l6-6 6 6",
  down: "M12 5v13M6 13l6 6 6-6",
  minus: "M5 12h14",
  back: "M15 6l-6 6 6 6",
  forward: "M9 6l6 6-6 6",
  again: "M19 12a7 7 0 1 1-2-5M19 4v4h-4",
  stop: "M7 7h10v10H7z",
  pause: "M9 6v12M15 6v12",
  play: "M8 5l11 7-11 7z",
  link: "M9 15l6-6M10 7l2-2a4 4 0 0 1 6 6l-2 2M14 17l-2 2a4 4 0 0 1-6-6l2-2",
  send: "M4 12l16-7-6 15-3-6z",
  check: "M5 12.5l4.5 4.5L19 7",
  clock: "M12 4a8 8 0 1 0 .1 0M12 8v4.5l3 2",
  help: "M12 4a8 8 0 1 0 .1 0M9.8 9.5a2.3 2.3 0 1 1 3.4 2.2c-.9.5-1.2 1-1.2 1.8M12 16.3v.1",
  more: "M6 12h.1M12 12h.1M18 12h.1",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.7"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** An icon for each state, so that colour is not the only difference. */
const SIGNS: Record<string, string> = {
  backlog: "M8 2.5a5.5 5.5 0 1 0 .1 0",
  todo: "M8 2.5a5.5 5.5 0 1 0 .1 0",
  doing: "M8 2.5a5.5 5.5 0 1 0 .1 0M8 5v6a3 3 0 0 0 0-6z",
  running: "M8 2.5a5.5 5.5 0 1 0 .1 0M8 5v6a3 3 0 0 0 0-6z",
  blocked: "M8 2.5a5.5 5.5 0 1 0 .1 0M5.5 8h5",
  review: "M8 2.5a5.5 5.5 0 1 0 .1 0M8 11V5.5M5.8 7.5L8 5.3l2.2 2.2",
  cancelled: "M8 2.5a5.5 5.5 0 1 0 .1 0M4.3 11.7l7.4-7.4",
};
const BY_TONE: Record<string, string> = {
  green: "M8 2.5a5.5 5.5 0 1 0 .1 0M5.4 8.2l1.9 1.9 3.4-3.8",
  red: "M8 2.5a5.5 5.5 0 1 0 .1 0M6 6l4 4M10 6l-4 4",
  amber: "M8 2.5a5.5 5.5 0 1 0 .1 0M8 5.2v3.2M8 10.6v.1",
  violet: "M8 2.5a5.5 5.5 0 1 0 .1 0M6.4 6.6a1.6 1.6 0 1 1 2.4 1.4c-.6.4-.8.6-.8 1.1M8 11v.1",
  blue: "M8 2.5a5.5 5.5 0 1 0 .1 0M8 5v6a3 3 0 0 0 0-6z",
};

export function StateSign({ state, tone = "grey" }: { state: string; tone?: string }) {
  return (
    <svg
      class={state === "backlog" ? "state-sign dashed" : "state-sign"}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={SIGNS[state] ?? BY_TONE[tone] ?? SIGNS.todo!} />
    </svg>
  );
}

/** The frame around every page: navigation, notices, task drawer, palette and help. */

import { useEffect } from "preact/hooks";
import { ticking as now, pastAt } from "../lib/clock";
import { useKeys } from "../lib/keys";
import { hideOverlay, overlay, showHelp, showPalette } from "../lib/overlay";
import { closeTask, go, pathTo, place } from "../lib/router";
import { nextTheme, theme } from "../lib/theme";
import { clock, moment, plural } from "../lib/words";
import { lookAt, store, stream, tables } from "../live";
import { Asking } from "../pages/task/actions";
import { Icon } from "../ui/icons";
import { Button, EmptyState } from "../ui/parts";
import { Toasts } from "../ui/toast";
import { OnDemand } from "./OnDemand";
import { PAGES } from "./pages";
import "./shell.css";

const PATIENCE_MS = 8000;
const loadPalette = () => import("./Palette");
const loadHelp = () => import("./Help");
const loadTask = () => import("../pages/task");

export function Shell() {
  const { page, rest, query } = place.value;
  const entry = PAGES.find((one) => one.name === page);
  useEffect(() => {
    document.title = `${entry?.title ?? "Not found"} · Corral`;
  }, [entry]);
  useKeys([
    {
      keys: "Ctrl+k",
      label: "Open the command palette",
      group: "Everywhere",
      run: showPalette,
      always: true,
      quiet: true,
    },
    { keys: "?", label: "Show keyboard shortcuts", group: "Everywhere", run: showHelp },
    {
      keys: "/",
      label: "Filter",
      group: "Everywhere",
      run: () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
      quiet: true,
    },
    { keys: "Escape", label: "Close", group: "Everywhere", run: leave, quiet: true, always: true },
    { keys: "T", label: "Switch between light and dark", group: "Everywhere", run: nextTheme },
    ...PAGES.map((one) => ({
      keys: `g ${one.key}`,
      label: `Go to ${one.title}`,
      group: "Pages",
      run: () => go(pathTo(one.name)),
      quiet: true,
    })),
  ]);
  useEffect(() => loadAhead(), []);
  if (stream.state.value === "unknown") return <LoggedOut />;
  return (
    <div class="shell">
      {/* biome-ignore lint/a11y/useValidAnchor: it is a link; the address stays what it was */}
      <a class="skip" href="#page" onClick={skip}>
        Skip to content
      </a>
      <Navigation />
      <div class="middle">
        <Notices />
        <main id="page" tabIndex={-1} data-page={page}>
          {!entry && (
            <EmptyState title="Page not found.">
              <a href="/">Go to the board</a>
            </EmptyState>
          )}
          {entry && <OnDemand key={entry.name} load={entry.load} props={{ rest }} />}
        </main>
      </div>
      {query.task && <OnDemand key="task" load={loadTask} props={{ id: query.task }} />}
      {overlay.value === "palette" && <OnDemand key="palette" load={loadPalette} props={{ onClose: hideOverlay }} />}
      {overlay.value === "help" && <OnDemand key="help" load={loadHelp} props={{ onClose: hideOverlay }} />}
      <Asking />
      <Toasts />
    </div>
  );
}

/** Load the remaining pages while the browser is idle, so that they open even if the server is down. */
function loadAhead(): void {
  const rest: (() => Promise<unknown>)[] = [loadTask, loadPalette, loadHelp, ...PAGES.map((page) => page.load)];
  const idle = (run: () => void) => ("requestIdleCallback" in window ? requestIdleCallback(run) : setTimeout(run, 200));
  const next = () => {
    const load = rest.shift();
    if (load)
      void load().then(
        () => idle(next),
        () => undefined,
      ); // it is loaded again when needed, and reports a failure then
  };
  setTimeout(() => idle(next), 2000);
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("page")?.focus();
}

/** Dialogs close on their own; this leaves whatever else is open, topmost first. */
function leave(): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLInputElement || focused instanceof HTMLTextAreaElement) focused.blur();
  else if (place.peek().query.task) closeTask();
}

function Navigation() {
  const { page } = place.value;
  const chosen = theme.value;
  return (
    <nav class="nav" aria-label="Pages">
      <a class="brand" href="/" aria-label="Corral: go to the board">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M7 9v15M16 7v17M25 9v15M5 13h22M5 19h22" />
        </svg>
        <span>Corral</span>
      </a>
      <ul>
        {PAGES.map((entry) => (
          <li key={entry.name}>
            <a href={pathTo(entry.name)} aria-current={entry.name === page ? "page" : undefined}>
              <Icon name={entry.icon} />
              <span class="title">{entry.title}</span>
              {entry.count && entry.count.value > 0 && (
                <span class={entry.urgent ? "count urgent" : "count"}>{entry.count.value}</span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <div class="foot">
        <Connection />
        <div class="across">
          <Button kind="quiet" icon="search" label="Command palette (Ctrl K)" onClick={showPalette} />
          <Button
            kind="quiet"
            icon={chosen === "system" ? "system" : chosen === "light" ? "sun" : "moon"}
            label={`Theme: ${chosen}. Switch`}
            onClick={nextTheme}
          />
          <Button kind="quiet" icon="help" label="Keyboard shortcuts (?)" onClick={showHelp} />
        </div>
      </div>
    </nav>
  );
}

function Connection() {
  const state = stream.state.value;
  const tone = state === "live" ? "tone-green" : state === "cut" ? "tone-red" : "tone-grey";
  const said =
    state === "live" ? `Live · event ${store.newest.value}` : state === "cut" ? "Not connected" : "Connecting …";
  return (
    <span class={`connection small soft ${tone}`}>
      <span class="dot" />
      <span class="cut number">{said}</span>
    </span>
  );
}

/** Notices that qualify everything on the page. */
function Notices() {
  const cut = stream.cutAt.value;
  const past = store.past.value;
  const pauses = tables.pauses.rows.value.filter((pause) => !pause.convoy);
  return (
    <div role="status">
      {cut > 0 && (
        <div class="notice tone-red" data-notice="cut">
          <strong>Connection lost.</strong> The page shows the state at {clock(cut)}. Reconnecting …
          {now.value - cut > PATIENCE_MS && (
            <span>
              To start the server, run <code>corral up -d</code>; to get its address, <code>corral link</code>.
            </span>
          )}
        </div>
      )}
      {past !== null && (
        <div class="notice tone-violet" data-notice="past">
          <strong>You are viewing the past:</strong> after event {past},{" "}
          {`${plural(store.newest.value - past, "event")} ago`}
          {pastAt.value > 0 && ` (${moment(pastAt.value)})`}. You cannot make changes here.
          <Button onClick={() => void lookAt(null)}>Back to now</Button>
        </div>
      )}
      {pauses.map((pause) => (
        <div key={pause.id} class="notice tone-amber" data-notice="paused">
          <span>
            <strong>{pause.what === "queue" ? "Landing paused" : "Sessions paused"}</strong>
            {pause.by && ` by ${pause.by}`}
            {pause.reason && `: “${pause.reason}”`}.
          </span>
        </div>
      ))}
    </div>
  );
}

function LoggedOut() {
  return (
    <main class="out">
      <EmptyState title="You are no longer logged in.">
        Run <code>corral link</code> in the repository and open the link it prints.
      </EmptyState>
    </main>
  );
}

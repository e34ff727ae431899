/** What is around every page: the list of pages, notices, drawer, palette and help. */

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
    { keys: "?", label: "List the keys", group: "Everywhere", run: showHelp },
    {
      keys: "/",
      label: "Filter",
      group: "Everywhere",
      run: () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
      quiet: true,
    },
    { keys: "Escape", label: "Close what is open", group: "Everywhere", run: leave, quiet: true, always: true },
    { keys: "T", label: "Change light and dark", group: "Everywhere", run: nextTheme },
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
        Skip to the page
      </a>
      <Navigation />
      <div class="middle">
        <Notices />
        <main id="page" tabIndex={-1} data-page={page}>
          {!entry && (
            <EmptyState title="There is no such page.">
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

/** Load what is not shown yet while nothing else is to do: it is there then even if the server is not. */
function loadAhead(): void {
  const rest: (() => Promise<unknown>)[] = [loadTask, loadPalette, loadHelp, ...PAGES.map((page) => page.load)];
  const idle = (run: () => void) => ("requestIdleCallback" in window ? requestIdleCallback(run) : setTimeout(run, 200));
  const next = () => {
    const load = rest.shift();
    if (load)
      void load().then(
        () => idle(next),
        () => undefined,
      ); // it is loaded when it is needed, and says then if it cannot be
  };
  setTimeout(() => idle(next), 2000);
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("page")?.focus();
}

/** Dialogs close by themselves; what else can be open is left, from the top down. */
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
      <a class="brand" href="/" aria-label="Corral, to the board">
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
            label={`Theme: ${chosen}. Change it`}
            onClick={nextTheme}
          />
          <Button kind="quiet" icon="help" label="Keys (?)" onClick={showHelp} />
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

/** What one must know before believing anything on the page. */
function Notices() {
  const cut = stream.cutAt.value;
  const past = store.past.value;
  const pauses = tables.pauses.rows.value.filter((pause) => !pause.convoy);
  return (
    <div role="status">
      {cut > 0 && (
        <div class="notice tone-red" data-notice="cut">
          <strong>The connection is cut.</strong> This is how things were at {clock(cut)}. Trying again …
          {now.value - cut > PATIENCE_MS && (
            <span>
              If it stays so: <code>corral up -d</code> starts the server, <code>corral link</code> tells where it is.
            </span>
          )}
        </div>
      )}
      {past !== null && (
        <div class="notice tone-violet" data-notice="past">
          <strong>This is the past:</strong> after event {past}, {plural(store.newest.value - past, "event")} ago
          {pastAt.value > 0 && ` (${moment(pastAt.value)})`}. Nothing can be changed here.
          <Button onClick={() => void lookAt(null)}>Back to now</Button>
        </div>
      )}
      {pauses.map((pause) => (
        <div key={pause.id} class="notice tone-amber" data-notice="paused">
          <strong>{pause.what === "queue" ? "Nothing lands" : "No session is started"}:</strong>
          paused{pause.by && ` by ${pause.by}`}
          {pause.reason && `, “${pause.reason}”`}.
        </div>
      ))}
    </div>
  );
}

function LoggedOut() {
  return (
    <main class="out">
      <EmptyState title="You are not logged in any more.">
        Run <code>corral link</code> in the repository, and open what it prints.
      </EmptyState>
    </main>
  );
}

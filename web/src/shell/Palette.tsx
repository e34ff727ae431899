/** Ctrl-K: go to a page, task or session, or run an action, by typing part of its name. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { bindings } from "../lib/keys";
import { go, openTask, pathTo } from "../lib/router";
import { tables } from "../live";
import { Icon, type IconName } from "../ui/icons";
import { Badge, Dialog, Key, StateBadge, toneOf } from "../ui/parts";
import { PAGES } from "./pages";

type Offer = { key: string; icon: IconName; text: string; keys?: string; state?: string; run: () => void };
const MOST = 50;

/**
 * Score how well a text matches what was typed; 0 means not at all. Every word must occur; earlier
 * matches and shorter texts score higher.
 */
export function fits(text: string, typed: string): number {
  const lower = text.toLowerCase();
  let score = 1;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = lower.indexOf(word);
    if (at < 0) return 0;
    score += at === 0 ? 3 : /\W/.test(lower[at - 1]!) ? 2 : 1;
  }
  return score + 1 / (1 + lower.length);
}

function offers(): Offer[] {
  const pages = PAGES.map((page) => ({
    key: `page ${page.name}`,
    icon: page.icon,
    text: page.title,
    keys: `g ${page.key}`,
    run: () => go(pathTo(page.name)),
  }));
  const actions = bindings
    .peek()
    .filter((binding) => !binding.quiet)
    .map((binding) => ({
      key: `action ${binding.label}`,
      icon: "play" as const,
      text: binding.label,
      keys: binding.keys,
      run: binding.run,
    }));
  const tasks = tables.tasks.rows.peek().map((task) => ({
    key: `task ${task.id}`,
    icon: "board" as const,
    text: `${task.id} ${task.title}`,
    state: task.column,
    run: () => openTask(task.id),
  }));
  const sessions = tables.sessions.rows.peek().map((session) => ({
    key: `session ${session.id}`,
    icon: "sessions" as const,
    text: `Session ${session.id} ${session.title}`,
    state: session.live ? "running" : session.verdict,
    run: () => go(pathTo("sessions", [session.id])),
  }));
  const convoys = tables.convoys.rows.peek().map((convoy) => ({
    key: `convoy ${convoy.id}`,
    icon: "convoy" as const,
    text: `Convoy ${convoy.title}`,
    run: () => go(pathTo("convoy", [convoy.id])),
  }));
  return [...pages, ...actions, ...convoys, ...tasks, ...sessions];
}

export default function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const all = useRef<Offer[]>([]);
  if (!all.current.length) all.current = offers();
  const found = all.current
    .map((offer) => ({ offer, score: fits(offer.text, typed) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => (typed ? other.score - one.score : 0))
    .slice(0, MOST)
    .map(({ offer }) => offer);
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: "nearest" }), [chosen]);
  const run = (offer: Offer | undefined) => {
    if (!offer) return;
    onClose();
    offer.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((chosen + step + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Command palette" onClose={onClose} bare>
      <div class="palette stack">
        <input
          class="input"
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={found.length ? `${list}-${chosen}` : undefined}
          aria-label="Go to or run"
          placeholder="Go to a page, task or session, or run an action"
          value={typed}
          onKeyDown={press}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
        />
        <div id={list} class="offers" role="listbox" aria-label="Results">
          {found.map((offer, number) => (
            <div
              key={offer.key}
              id={`${list}-${number}`}
              role="option"
              aria-selected={number === chosen}
              onClick={() => run(offer)}
              onMouseMove={() => setAt(number)}
            >
              <Icon name={offer.icon} />
              <span class="grow cut">{offer.text}</span>
              {offer.state &&
                (toneOf(offer.state) === "grey" ? <Badge>{offer.state}</Badge> : <StateBadge state={offer.state} />)}
              {offer.keys && <Key keys={offer.keys} />}
            </div>
          ))}
        </div>
        {found.length === 0 && <p class="empty">No matches.</p>}
      </div>
    </Dialog>
  );
}

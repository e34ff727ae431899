/** The small components that pages are made of. */

import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Cost } from "../api/rows";
import { now } from "../lib/clock";
import { showPalette } from "../lib/overlay";
import { openTask } from "../lib/router";
import { moment, money, span } from "../lib/words";
import { store } from "../live";
import { Icon, type IconName, StateSign } from "./icons";

export type Tone = "grey" | "blue" | "violet" | "green" | "amber" | "red" | "accent";
type Children = { children?: ComponentChildren };

/** A page: a bar with its title and tools, and its content below. `whole`: the content scrolls itself. */
export function Page({
  title,
  tools,
  whole,
  children,
}: Children & { title: string; tools?: ComponentChildren; whole?: boolean }) {
  return (
    <div class="page">
      <div class="toolbar">
        <h1>{title}</h1>
        {tools}
        <span class="phone">
          <Button kind="quiet" icon="more" label="More: command palette" onClick={showPalette} />
        </span>
      </div>
      {whole ? (
        <div class="content whole">{children}</div>
      ) : (
        <section class="content" tabIndex={0} aria-label={title}>
          {children}
        </section>
      )}
    </div>
  );
}

export function Card({
  title,
  tools,
  children,
  flush,
}: Children & { title?: ComponentChildren; tools?: ComponentChildren; flush?: boolean }) {
  return (
    <section class="panel">
      {title !== undefined && (
        <header>
          <h2 class="grow cut">{title}</h2>
          {tools}
        </header>
      )}
      {flush ? children : <div class="body">{children}</div>}
    </section>
  );
}

export function Badge({ tone = "grey", title, children }: Children & { tone?: Tone; title?: string }) {
  return (
    <span class={`badge tone-${tone}`} title={title}>
      <span class="cut">{children}</span>
    </span>
  );
}

const TONES: Record<string, Tone> = {
  backlog: "grey",
  todo: "accent",
  doing: "blue",
  blocked: "amber",
  review: "violet",
  done: "green",
  failed: "red",
  cancelled: "grey",
  live: "blue",
  green: "green",
  red: "red",
  submitted: "green",
  running: "blue",
};
export const toneOf = (word: string): Tone => TONES[word] ?? "grey";

/** A state, column or verdict with its icon and colour. */
export function StateBadge({ state, tone = toneOf(state) }: { state: string; tone?: Tone }) {
  return (
    <span class={`badge tone-${tone}`}>
      <StateSign state={state} tone={tone} />
      <span class="cut">{state}</span>
    </span>
  );
}

/** Says what on this page is current although the page shows an earlier moment. */
export function AsNow({ children }: Children) {
  const past = store.past.value;
  if (past === null) return null;
  return (
    <p class="as-now small" data-as-now>
      <Icon name="clock" />{" "}
      <span>
        {children} shown as they are <strong>now</strong>, not as they were at event {past}.
      </span>
    </p>
  );
}

type ButtonProps = Children & {
  onClick?: () => void;
  icon?: IconName;
  kind?: "first" | "danger" | "quiet";
  label?: string;
  disabled?: boolean;
  type?: "submit" | "button";
  pressed?: boolean;
  title?: string;
};

/** A button; without text it needs a `label`. */
export function Button({
  onClick,
  icon,
  kind,
  label,
  disabled,
  type = "button",
  pressed,
  title,
  children,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind ?? ""}`}
      aria-label={label}
      aria-pressed={pressed}
      title={title ?? label}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** How long ago something happened; updates on its own. Shows nothing for 0. */
export function Age({ at, title = "" }: { at: number; title?: string }) {
  const text = useComputed(() => (at ? span(Math.max(0, now.value - at)) : ""));
  if (!at) return null;
  return (
    <time class="number" dateTime={new Date(at).toISOString()} title={`${title}${title && " "}${moment(at)}`}>
      {text}
    </time>
  );
}

export function Money({ cost }: { cost: Cost }) {
  const text = money(cost);
  return text ? (
    <span class="number" title={`${cost.output} tokens out, ${cost.fresh} in, ${cost.cached} from cache`}>
      {text}
    </span>
  ) : null;
}

export function EmptyState({ title, children }: Children & { title: string }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      <div>{children}</div>
    </div>
  );
}

/** A key or a sequence of keys. */
export function Key({ keys }: { keys: string }) {
  return (
    <>
      {keys.split(" ").map((key) => (
        <kbd class="key">{key.replace("Ctrl+", "Ctrl ")}</kbd>
      ))}
    </>
  );
}

/** A link that opens a task's drawer over the current page. */
export function TaskLink({ id }: { id: string }) {
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openTask(id);
  };
  return (
    <a class="mono" href={`/tasks/${encodeURIComponent(id)}`} onClick={open}>
      {id}
    </a>
  );
}

export const SessionLink = ({ id }: { id: string }) => (
  <a class="mono" href={`/sessions/${encodeURIComponent(id)}`}>
    {id}
  </a>
);

/** A modal dialog: it traps the focus, closes with Escape and restores the focus. */
export function Dialog({
  title,
  onClose,
  children,
  bare,
}: Children & { title: string; onClose: () => void; bare?: boolean }) {
  const box = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const before = document.activeElement;
    box.current!.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  const outside = (event: MouseEvent) => event.target === box.current && onClose();
  const closing = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-labelledby={bare ? undefined : name}
      aria-label={bare ? title : undefined}
      onCancel={closing}
      onClose={onClose}
      onClick={outside}
    >
      {!bare && (
        <header>
          <h2 id={name}>{title}</h2>
          <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
        </header>
      )}
      {children}
    </dialog>
  );
}

export function Field({ label, children }: Children & { label: string }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** A select in a toolbar; the first, empty option is `all`. */
export function Choice({
  label,
  all,
  value,
  options,
  onChange,
}: {
  label: string;
  all: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <select class="input" aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{all}</option>
      {options.map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Filters in a toolbar other than text; on a phone they have their own line. */
export const Filters = ({ children }: Children) => <div class="filters">{children}</div>;

/** A text filter; `/` moves the focus to it. */
export function Search({
  value,
  onInput,
  label = "Filter",
}: {
  value: string;
  onInput: (text: string) => void;
  label?: string;
}) {
  return (
    <div class="search">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        data-search
        placeholder={label}
        aria-label={label}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

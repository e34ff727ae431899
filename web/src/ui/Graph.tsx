/** A dependency graph of tasks, from left to right, with the critical path. */

import { useMemo } from "preact/hooks";
import { type Edge, layout } from "../lib/layers";
import { plural } from "../lib/words";
import type { Tone } from "./parts";
import "./graph.css";

export type Node = {
  id: string;
  title: string;
  state: string;
  tone: Tone;
  note?: string;
  href?: string;
  onOpen?: () => void;
};

const WIDE = 180;
const HIGH = 46;
const ACROSS = WIDE + 38;
const DOWN = HIGH + 14;
const EDGE = 12;

type Props = { label: string; nodes: readonly Node[]; edges: readonly Edge[]; critical?: readonly string[] };

export function Graph({ label, nodes, edges, critical = [] }: Props) {
  const ids = nodes.map((node) => node.id);
  const shape = JSON.stringify([ids, edges]);
  const placed = useMemo(() => layout(ids, edges), [shape]);
  const at = (id: string) => {
    const place = placed.places.get(id)!;
    return { x: EDGE + place.layer * ACROSS, y: EDGE + place.row * DOWN };
  };
  const chain = new Set(critical.slice(1).map((id, before) => `${critical[before]} ${id}`));
  const width = Math.max(1, placed.layers) * ACROSS - (ACROSS - WIDE) + 2 * EDGE;
  const height = Math.max(1, placed.rows) * DOWN - (DOWN - HIGH) + 2 * EDGE;
  const lines = edges.filter(([from, to]) => placed.places.has(from) && placed.places.has(to) && from !== to);
  return (
    <section class="graph" aria-label={label} tabIndex={0}>
      <svg width={width} height={height} role="group" aria-label={`${label}: ${plural(nodes.length, "task")}`}>
        {lines.map(([from, to]) => (
          <path
            key={`${from} ${to}`}
            class={chain.has(`${from} ${to}`) ? "edge critical" : "edge"}
            d={curve(at(from), at(to))}
          />
        ))}
        {nodes.map((node) => (
          <Box key={node.id} node={node} {...at(node.id)} critical={critical.includes(node.id)} />
        ))}
      </svg>
    </section>
  );
}

function curve(from: { x: number; y: number }, to: { x: number; y: number }): string {
  const [x1, y1, x2, y2] = [from.x + WIDE, from.y + HIGH / 2, to.x, to.y + HIGH / 2];
  const bend = Math.max(18, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

function Box({ node, x, y, critical }: { node: Node; x: number; y: number; critical: boolean }) {
  const open = (event: MouseEvent) => {
    if (!node.onOpen || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    node.onOpen();
  };
  const note = node.note && node.note !== node.state ? `, ${node.note}` : "";
  const said = `${node.id}: ${node.title}, ${node.state}${note}${critical ? ", on the critical path" : ""}`;
  const drawn = (
    <g
      transform={`translate(${x} ${y})`}
      class={`node tone-${node.tone}${critical ? " critical" : ""}`}
      data-node={node.id}
    >
      <title>{said}</title>
      <rect width={WIDE} height={HIGH} rx="7" />
      <rect class="side" width="4" height={HIGH - 14} x="5" y="7" rx="2" />
      <svg width={WIDE} height={HIGH} aria-hidden="true">
        <text x="16" y="19" class="name">
          {clip(node.id, 14)}
        </text>
        <text x={WIDE - 9} y="19" class="state" text-anchor="end">
          {clip(node.note || node.state, 12)}
        </text>
        <svg x="16" y="22" width={WIDE - 22} height="22" aria-hidden="true">
          <text y="14">{clip(node.title, 24)}</text>
        </svg>
      </svg>
    </g>
  );
  return node.href ? (
    <a href={node.href} onClick={open}>
      {drawn}
    </a>
  ) : (
    drawn
  );
}

const clip = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

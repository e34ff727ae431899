/**
 * Lays out a dependency graph in layers from left to right: a node is to the right of everything it
 * needs. Within a layer, nodes move towards their neighbours so that few lines cross.
 */

export type Edge = readonly [from: string, to: string];
export type Placed = { readonly layer: number; readonly row: number };
export type Layout = { readonly places: ReadonlyMap<string, Placed>; readonly layers: number; readonly rows: number };

const SWEEPS = 6;

export function layout(ids: readonly string[], edges: readonly Edge[]): Layout {
  const known = new Set(ids);
  const real = edges.filter(([from, to]) => known.has(from) && known.has(to) && from !== to);
  const before = neighbours(real, ([from, to]) => [to, from]);
  const after = neighbours(real, ([from, to]) => [from, to]);
  const layers = grouped(ids, depths(ids, before, after));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    const order = forward
      ? layers.slice(1).map((_, at) => at + 1)
      : layers
          .slice(0, -1)
          .map((_, at) => at)
          .reverse();
    for (const at of order) pull(layers, at, forward ? before : after);
  }
  const places = new Map<string, Placed>();
  const rows = Math.max(0, ...layers.map((layer) => layer.length));
  for (const [at, layer] of layers.entries()) {
    for (const [row, id] of layer.entries()) places.set(id, { layer: at, row: row + (rows - layer.length) / 2 });
  }
  return { places, layers: layers.length, rows };
}

function neighbours(edges: readonly Edge[], pick: (edge: Edge) => Edge): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const edge of edges) {
    const [one, other] = pick(edge);
    found.set(one, [...(found.get(one) ?? []), other]);
  }
  return found;
}

/** Count the nodes before each one on its longest path; a node in a cycle counts as far as it was reached. */
function depths(
  ids: readonly string[],
  before: ReadonlyMap<string, string[]>,
  after: ReadonlyMap<string, string[]>,
): Map<string, number> {
  const left = new Map(ids.map((id) => [id, before.get(id)?.length ?? 0]));
  const found = new Map(ids.map((id) => [id, 0]));
  const ready = ids.filter((id) => left.get(id) === 0);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const next of after.get(id) ?? []) {
      found.set(next, Math.max(found.get(next)!, found.get(id)! + 1));
      left.set(next, left.get(next)! - 1);
      if (left.get(next) === 0) ready.push(next);
    }
  }
  return found;
}

function grouped(ids: readonly string[], depth: ReadonlyMap<string, number>): string[][] {
  const deepest = Math.max(-1, ...depth.values());
  const layers: string[][] = Array.from({ length: deepest + 1 }, () => []);
  for (const id of ids) layers[depth.get(id)!]!.push(id);
  return layers;
}

/** Sort one layer by the mean position of each node's neighbours in the adjacent layers. */
function pull(layers: string[][], at: number, neighbours: ReadonlyMap<string, string[]>): void {
  const places = new Map(layers.flatMap((layer) => layer.map((id, row) => [id, (row + 0.5) / layer.length] as const)));
  const middle = (id: string) => {
    const near = neighbours.get(id) ?? [];
    return near.length ? near.reduce((sum, other) => sum + places.get(other)!, 0) / near.length : places.get(id)!;
  };
  const wanted = new Map(layers[at]!.map((id) => [id, middle(id)]));
  layers[at] = [...layers[at]!].sort((one, other) => wanted.get(one)! - wanted.get(other)!);
}

/** Shows a component and loads its module on first use. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button, EmptyState } from "../ui/parts";

type Loader<P> = () => Promise<{ default: ComponentType<P> }>;
const loaded = new Map<unknown, ComponentType<never>>();

export function OnDemand<P extends object>({ load, props }: { load: Loader<P>; props: P }) {
  const [, again] = useState(0);
  const [failed, setFailed] = useState(false);
  const Found = loaded.get(load) as ComponentType<P> | undefined;
  useEffect(() => {
    if (Found) return;
    load().then(
      (module) => {
        loaded.set(load, module.default as ComponentType<never>);
        again((times) => times + 1);
      },
      () => setFailed(true),
    );
  }, [load]);
  if (Found) return <Found {...props} />;
  if (!failed) return null;
  return (
    <EmptyState title="This part of the dashboard failed to load.">
      The server may have been updated. <Button onClick={() => location.reload()}>Reload</Button>
    </EmptyState>
  );
}

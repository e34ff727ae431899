/** The keyboard shortcuts available on this page. */

import { bindings } from "../lib/keys";
import { Dialog, Key } from "../ui/parts";

export default function Help({ onClose }: { onClose: () => void }) {
  const known = bindings.value.filter((binding) => binding.keys);
  const groups = [...new Set(known.map((binding) => binding.group))];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <section class="fill help" tabIndex={0} aria-label="Keyboard shortcuts">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {known
                .filter((binding) => binding.group === group)
                .map((binding) => [
                  <dt>
                    <Key keys={binding.keys} />
                  </dt>,
                  <dd>{binding.label}</dd>,
                ])}
            </dl>
          </section>
        ))}
      </section>
    </Dialog>
  );
}

import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';

/** A key, or two keys in sequence (`g e`), for an action on the current page. */
export interface Shortcut {
  keys: string;
  title: string;
  run: () => void;
}

// Both keys of a sequence must be pressed within this time.
const sequenceMs = 1_000;

/** Shortcuts of all visible components. If two components use the same keys, the newer one wins. */
class Shortcuts {
  private groups: readonly (readonly Shortcut[])[] = [];
  private all: readonly Shortcut[] = [];
  private readonly observers = new Set<() => void>();
  private previous: { key: string; at: number } | undefined;

  constructor() {
    document.addEventListener('keydown', (event) => this.press(event));
  }

  get list(): readonly Shortcut[] {
    return this.all;
  }

  add(group: readonly Shortcut[]): () => void {
    this.change([...this.groups, group]);
    return () => this.change(this.groups.filter((each) => each !== group));
  }

  subscribe(observer: () => void): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  private change(groups: readonly (readonly Shortcut[])[]): void {
    this.groups = groups;
    this.all = groups.flat();
    for (const observer of this.observers) observer();
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const { key } = event;
    if (key === ' ' && isPressable(event.target)) return;
    const { previous } = this;
    this.previous = { key, at: event.timeStamp };
    const sequence =
      previous && event.timeStamp - previous.at < sequenceMs ? `${previous.key} ${key}` : undefined;
    const found =
      this.all.findLast(({ keys }) => keys === sequence) ?? this.all.findLast(({ keys }) => keys === key);
    if (!found) return;
    this.previous = undefined;
    event.preventDefault();
    found.run();
  }
}

/** Whether a field or dialog has the focus. It receives all keys. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable=true], [role=dialog]') !== null
  );
}

/** Whether a button, link, or summary has the focus. It receives the space bar. */
function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('button, a, summary') !== null;
}

const shortcuts = new Shortcuts();

/** Adds shortcuts while the component is mounted. Keys and titles must not change during that time. */
export function useShortcuts(group: readonly Shortcut[]): void {
  const run = useEffectEvent((index: number) => group[index]?.run());
  const described = useEffectEvent(() => group.map((each, index) => ({ ...each, run: () => run(index) })));
  useEffect(() => shortcuts.add(described()), []);
}

/** Returns the shortcuts that work on the current page. */
export function useActiveShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(
    (observer) => shortcuts.subscribe(observer),
    () => shortcuts.list,
  );
}

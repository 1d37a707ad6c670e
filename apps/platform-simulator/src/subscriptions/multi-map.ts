/** Maps each key to a set of values. */
export class MultiMap<Value> {
  private readonly sets = new Map<string, Set<Value>>();

  get(key: string): ReadonlySet<Value> {
    return this.sets.get(key) ?? new Set();
  }

  has(key: string): boolean {
    return this.sets.has(key);
  }

  keys(): IterableIterator<string> {
    return this.sets.keys();
  }

  /** The values of the oldest key; undefined if the map is empty. */
  first(): ReadonlySet<Value> | undefined {
    return this.sets.values().next().value;
  }

  /** Returns true if the key is new. */
  add(key: string, value: Value): boolean {
    const set = this.sets.get(key);
    if (set === undefined) this.sets.set(key, new Set([value]));
    else set.add(value);
    return set === undefined;
  }

  /** Removes a value, and the key with its last value. Returns true if the key is gone. */
  delete(key: string, value: Value): boolean {
    const set = this.sets.get(key);
    set?.delete(value);
    return set?.size === 0 && this.sets.delete(key);
  }
}

/** Stores tokens and codes by a secret key until they expire. A full store drops its oldest value, to bound memory. */
export class ExpiringStore<Value> {
  private readonly entries = new Map<string, { value: Value; expiresAtMs: number }>();

  constructor(private readonly maxSize: number) {}

  add(key: string, value: Value, expiresAtMs: number): void {
    const [oldest] = this.entries.keys();
    if (this.entries.size >= this.maxSize && oldest !== undefined) this.entries.delete(oldest);
    this.entries.set(key, { value, expiresAtMs });
  }

  /** Returns undefined if the value is missing or expired. */
  find(key: string, nowMs: number): { value: Value; expiresAtMs: number } | undefined {
    const found = this.entries.get(key);
    return found !== undefined && nowMs < found.expiresAtMs ? found : undefined;
  }

  /** Removes the value, so that it works only once. */
  take(key: string, nowMs: number): Value | undefined {
    const found = this.find(key, nowMs);
    this.entries.delete(key);
    return found?.value;
  }

  delete(key: string): boolean {
    return this.entries.delete(key);
  }

  /** Returns how many values were removed. */
  deleteWhere(isDoomed: (value: Value) => boolean): number {
    const doomed = [...this.entries].filter(([, { value }]) => isDoomed(value));
    for (const [key] of doomed) this.entries.delete(key);
    return doomed.length;
  }

  /** Values that have not expired, oldest first. */
  list(nowMs: number): Value[] {
    return [...this.entries.values()].flatMap(({ value, expiresAtMs }) =>
      nowMs < expiresAtMs ? [value] : [],
    );
  }
}

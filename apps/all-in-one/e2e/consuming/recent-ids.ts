/** Remembers the last ids, to recognize an event that is delivered twice. */
export class RecentIds {
  private readonly ids = new Set<string>();

  constructor(private readonly limit = 10_000) {}

  /** Adds an id. Returns whether the id is new. */
  add(id: string): boolean {
    if (this.ids.has(id)) return false;
    this.ids.add(id);
    const [oldest] = this.ids;
    if (this.ids.size > this.limit && oldest !== undefined) this.ids.delete(oldest);
    return true;
  }
}

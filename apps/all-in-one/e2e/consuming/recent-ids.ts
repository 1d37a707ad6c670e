/** Remembers the last ids, to know an event that comes again. */
export class RecentIds {
  private readonly ids = new Set<string>();

  constructor(private readonly limit = 10_000) {}

  /** Whether the id is new. */
  add(id: string): boolean {
    if (this.ids.has(id)) return false;
    this.ids.add(id);
    const [oldest] = this.ids;
    if (this.ids.size > this.limit && oldest !== undefined) this.ids.delete(oldest);
    return true;
  }
}

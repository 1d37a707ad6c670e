/** The ids of the newest events, up to a fixed number. */
export class RecentIds {
  private readonly ids = new Set<string>();
  /** The same ids in order of arrival. When the array is full, each new id overwrites the oldest. */
  private readonly places: string[] = [];
  private nextPlace = 0;

  constructor(
    private readonly capacity: number,
    others?: RecentIds,
  ) {
    for (const id of others?.inOrder() ?? []) this.add(id);
  }

  get oldest(): string | undefined {
    return this.places.length < this.capacity ? this.places[0] : this.places[this.nextPlace];
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }

  /** Adds an id. The caller makes sure that the id is new. */
  add(id: string): void {
    const leaving = this.places[this.nextPlace];
    if (leaving !== undefined) this.ids.delete(leaving);
    this.places[this.nextPlace] = id;
    this.ids.add(id);
    this.nextPlace = (this.nextPlace + 1) % this.capacity;
  }

  private inOrder(): string[] {
    if (this.places.length < this.capacity) return this.places;
    return [...this.places.slice(this.nextPlace), ...this.places.slice(0, this.nextPlace)];
  }
}

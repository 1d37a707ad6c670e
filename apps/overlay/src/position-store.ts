/** Saves the position of a source, so that the source resumes from this position after a reload. */
export class PositionStore {
  private readonly key: string;

  constructor(
    name: string,
    private readonly storage: Pick<Storage, 'getItem' | 'setItem'>,
  ) {
    this.key = `stream-events.overlay.${name}`;
  }

  read(): string | undefined {
    return this.storage.getItem(this.key) ?? undefined;
  }

  write(position: string): void {
    try {
      this.storage.setItem(this.key, position);
    } catch {
      // The disk is full. Alerts continue, and the source tries again with the next position.
    }
  }
}

/** Keeps the position of a source, so that a source that comes back continues where it was. */
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
      // The disk is full. Alerts go on, and the next position is kept again.
    }
  }
}

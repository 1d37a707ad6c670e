import type { Settings } from './settings.js';

/**
 * Saves the position of a source, so that the source resumes from this position after a reload. All sources of a streaming program share
 * its storage, so sources that show other alerts have their own position even if they have the same name.
 */
export class PositionStore {
  private readonly key: string;

  constructor(
    { name, channel, types }: Pick<Settings, 'name' | 'channel' | 'types'>,
    private readonly storage: Pick<Storage, 'getItem' | 'setItem'>,
  ) {
    this.key = [`stream-events.overlay.${name}`, channel ?? '', ...[...types].sort()].join(' ');
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

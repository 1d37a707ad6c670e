import type { Settings } from './settings.js';

/**
 * Saves a source's position so that the source resumes there after a reload. All sources of a streaming program share one storage. Sources
 * with the same name but different alerts still have separate positions.
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
      // The disk is full. Alerts continue, and the next call tries again.
    }
  }
}

import type { Logger } from '@stream-events/service';
import type { EncryptedValues } from './encrypted-columns.js';

const defaultProgressMs = 10_000;

/** Logs the start and the progress of a move, and nothing while there is nothing to move. */
export class MoveProgress {
  private moved = 0;
  private visited = 0;
  private lastLineAt: number | undefined;
  private total: number | undefined;

  constructor(
    private readonly options: { logger: Pick<Logger, 'info'>; progressMs?: number },
    private readonly table: string,
  ) {}

  async note(values: EncryptedValues, moved: number, visited: number): Promise<void> {
    this.moved += moved;
    this.visited += visited;
    if (this.moved === 0) return;
    const { logger, progressMs = defaultProgressMs } = this.options;
    const now = performance.now();
    if (this.lastLineAt !== undefined && now < this.lastLineAt + progressMs) return;
    const message =
      this.lastLineAt === undefined
        ? 'moving stored values to the first key of SECRET_KEY'
        : 'still moving stored values to the first key of SECRET_KEY';
    this.lastLineAt = now;
    this.total ??= await values.count();
    logger.info({ table: this.table, moved: this.moved, visited: this.visited, values: this.total }, message);
  }
}

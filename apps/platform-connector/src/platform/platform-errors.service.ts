import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { PlatformErrorRow } from './platform-error.entity.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';

/** Something that went wrong with the platform, for people. */
export interface PlatformError {
  /** Milliseconds since 1970. */
  at: number;
  message: string;
}

/**
 * The last thing that went wrong with the platform: known at once in the process that met it, and from the database to all.
 * It is written in the background, one statement at a time and only the newest, so that no call waits for it and an outage
 * costs no more than a write.
 */
@Injectable()
export class PlatformErrors implements OnModuleDestroy {
  private readonly clientId: string;
  private readonly failures: FailureLog;
  private newest: PlatformError | null = null;
  private saved: PlatformError | null = null;
  private saving: Promise<void> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(PLATFORM_SETTINGS) settings: PlatformSettings,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.clientId = settings.credentials?.clientId ?? '';
    this.failures = new FailureLog(logger);
  }

  /** The last one that this process has met. */
  get own(): PlatformError | null {
    return this.newest;
  }

  /** Remembers it, and begins to tell the other instances. */
  note(error: PlatformError): void {
    this.newest = error;
    this.saving ??= this.saveNewest().finally(() => {
      this.saving = undefined;
    });
  }

  /** The last one that any instance has met. */
  async read(): Promise<PlatformError | null> {
    const row = await this.dataSource.manager.findOneBy(PlatformErrorRow, { clientId: this.clientId });
    const stored = row && { at: row.at.getTime(), message: row.message };
    const { newest } = this;
    return newest && (!stored || newest.at >= stored.at) ? newest : stored;
  }

  async onModuleDestroy(): Promise<void> {
    await this.saving;
  }

  private async saveNewest(): Promise<void> {
    while (this.newest && this.newest !== this.saved) {
      const error = this.newest;
      this.saved = error;
      await this.save(error);
    }
  }

  private async save({ at, message }: PlatformError): Promise<void> {
    try {
      await this.dataSource.query(
        `INSERT INTO platform_errors (client_id, at, message) VALUES ($1, $2, $3)
         ON CONFLICT (client_id) DO UPDATE SET at = excluded.at, message = excluded.message
         WHERE platform_errors.at <= excluded.at`,
        [this.clientId, new Date(at), message],
      );
    } catch (error) {
      this.failures.warn('failure of the platform not told to the other instances', { err: error });
    }
  }
}

import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { PlatformErrorRow } from './platform-error.entity.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';

/** An error of a call to the platform, as the status shows it. */
export interface PlatformError {
  /** In milliseconds since 1970. */
  at: number;
  message: string;
}

/**
 * Stores the last error of a call to the platform. The process with the error shows it immediately; other instances read it from the
 * database. A background task writes one error at a time, always the newest. Calls therefore never wait for a write, and an outage does not
 * flood the database.
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

  /** The last error in this process. */
  get own(): PlatformError | null {
    return this.newest;
  }

  /** Records an error, and starts to write it for the other instances. */
  note(error: PlatformError): void {
    this.newest = error;
    this.saving ??= this.saveNewest().finally(() => {
      this.saving = undefined;
    });
  }

  /** Returns the last error in any instance. */
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
      this.failures.warn('cannot save the last platform error, other instances will not show it', {
        err: error,
      });
    }
  }
}

import { Writable } from 'node:stream';
import { toLoggedError, type Logger } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { pino } from 'pino';

/** A logger that keeps its lines. Unlike a service's logger, it redacts nothing. */
export class LogRecorder {
  text = '';
  readonly logger: Logger;

  constructor() {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.text += chunk.toString();
        done();
      },
    });
    this.logger = pino(
      { level: 'trace', serializers: { err: (error: unknown) => toLoggedError(error) } },
      stream,
    );
  }

  async waitFor(message: string): Promise<void> {
    await eventually(() => expect(this.text).toContain(message));
  }
}

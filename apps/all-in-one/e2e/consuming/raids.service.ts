import { Injectable } from '@nestjs/common';
import type { EventRecord } from './event-record.js';

/** Stores each raid once. In your program, use a table whose key is the id. */
@Injectable()
export class RaidsService {
  readonly raids = new Map<string, EventRecord>();

  onRaid(event: EventRecord, id: string): void {
    if (!this.raids.has(id)) this.raids.set(id, event);
  }
}

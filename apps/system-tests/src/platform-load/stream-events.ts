import { runSql } from '../system/servers.js';

/** A stream-online or stream-offline message from the platform. */
export interface StreamEvent {
  kind: 'online' | 'offline';
  userId: string;
  /** Id on the platform. Offline messages have none. */
  streamId: string | null;
  /** Milliseconds since 1970, by the platform's clock. */
  at: number;
}

/** Reads the stored stream messages since `since` (milliseconds since 1970). Messages that a fault lost are not there. */
export function readStreamEvents(databaseUrl: string, since: number): Promise<StreamEvent[]> {
  return runSql<StreamEvent>(
    databaseUrl,
    `SELECT substr(event_type, 8) AS kind, event_data ->> 'broadcaster_user_id' AS "userId",
       event_data ->> 'id' AS "streamId", (extract(epoch FROM occurred_at) * 1000)::float8 AS at
     FROM events.events
     WHERE event_type IN ('stream-online', 'stream-offline') AND origin = 'platform' AND event_id IS NOT NULL
       AND occurred_at >= to_timestamp(${since / 1_000})`,
  );
}

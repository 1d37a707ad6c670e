/** An event, as the HTTP API returns it. */
export interface EventRecord {
  id: string | null;
  event_id: string | null;
  event_type: string;
  event_source: string;
  event_data: Record<string, unknown>;
  created: string;
  origin: 'platform' | 'test' | 'replay';
}

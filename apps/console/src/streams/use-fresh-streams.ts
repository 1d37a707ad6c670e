import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { streamersQuery } from '../api/queries.js';
import { streamEvents } from '../layout/layout.js';
import { useLiveEvents } from '../live/live.js';

// The streamer monitor gets the same event as this page but records the stream a moment later. Refresh after these delays.
const delaysMs = [1_000, 4_000];

/** When any stream starts, ends, or changes, refreshes the streamer list and the given streamer's streams. */
export function useFreshStreams(streamerId?: string): void {
  const queries = useQueryClient();
  const [changes, setChanges] = useState(0);
  // Shares the layout's live connection. The layout refreshes the streamers immediately.
  useLiveEvents(streamEvents, { onEvents: () => setChanges((count) => count + 1) });
  useEffect(() => {
    if (changes === 0) return;
    const refresh = (): void => {
      void queries.invalidateQueries({ queryKey: streamersQuery.queryKey });
      if (streamerId !== undefined) void queries.invalidateQueries({ queryKey: ['streams', streamerId] });
    };
    const timers = delaysMs.map((delay) => setTimeout(refresh, delay));
    return () => timers.forEach((timer) => clearTimeout(timer));
  }, [changes, queries, streamerId]);
}

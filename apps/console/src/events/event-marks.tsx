import type { EventRecord } from '@stream-events/client';
import { Badge } from '@mantine/core';
import { useIsSimulated } from '../kit/simulation-badge.js';
import classes from './event-marks.module.css';

type Mark = 'test' | 'replay' | 'simulated' | 'added';

const titles: Record<Mark, [text: string, title: string]> = {
  test: ['test', 'A test event'],
  replay: ['replay', 'A stored event that was sent again'],
  simulated: ['sim', 'From the simulated platform'],
  added: ['added', 'Added by a client of the API'],
};

/** Marks events that did not come from the platform in the usual way. */
export function EventMarks({ event }: { event: Pick<EventRecord, 'origin' | 'event_source'> }) {
  const mark = useMark(event);
  if (!mark) return null;
  const [text, title] = titles[mark];
  return (
    <Badge className={classes.mark} data-mark={mark} size="xs" radius="sm" tt="none" title={title}>
      {text}
    </Badge>
  );
}

function useMark({ origin, event_source }: Pick<EventRecord, 'origin' | 'event_source'>): Mark | undefined {
  const isSimulated = useIsSimulated();
  if (origin !== 'platform') return origin;
  if (event_source !== 'PlatformSub') return 'added';
  return isSimulated ? 'simulated' : undefined;
}

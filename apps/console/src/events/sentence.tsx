import type { EventRecord } from '@stream-events/client';
import { describeEvent } from '@stream-events/sentences';
import { UserText } from '../kit/user-text.js';
import classes from './sentence.module.css';

/** Renders an event's sentence. Names and texts come from platform users, so render them as plain text. */
export function Sentence({ event }: { event: Pick<EventRecord, 'event_type' | 'event_data'> }) {
  return (
    <span>
      {describeEvent(event).map(({ kind, text }, index) =>
        kind === 'words' ? (
          text
        ) : (
          <span key={index} className={classes[kind]}>
            <UserText text={text} />
          </span>
        ),
      )}
    </span>
  );
}

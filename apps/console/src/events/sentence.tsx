import type { EventRecord } from '@stream-events/client';
import { describeEvent } from '@stream-events/sentences';
import { UserText } from '../kit/user-text.js';
import classes from './sentence.module.css';

/** Shows the sentence about an event. Names and texts come from users, so they are shown as plain text. */
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

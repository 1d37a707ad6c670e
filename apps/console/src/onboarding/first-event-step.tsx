import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { readNewestEvent } from '../api/onboarding.js';
import { Sentence } from '../events/sentence.js';
import { AnchorLink } from '../kit/links.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import { useLiveEvents } from '../live/live.js';
import classes from './onboarding.module.css';

interface FirstEventStepProps {
  channelId: string;
  channel: string;
  isSimulated: boolean;
  /** Called when the channel's first event has arrived. */
  onArrived: () => void;
}

/** Waits for the channel's first event from the platform and shows it. */
export function FirstEventStep({ channelId, channel, isSimulated, onArrived }: FirstEventStepProps) {
  const queries = useQueryClient();
  const queryKey = ['onboarding', 'newest-event', channelId];
  const query = useQuery({ queryKey, queryFn: () => readNewestEvent(channelId), staleTime: Infinity });
  const isThere = query.data != null;
  const readAgain = (): void => {
    // Keep showing the first event. A step that changes every second is hard to read.
    if (!isThere) void queries.invalidateQueries({ queryKey });
  };
  useLiveEvents({ channel_id: channelId, origin: 'platform' }, { onEvents: readAgain, onConnect: readAgain });
  const announce = useEffectEvent(onArrived);
  useEffect(() => {
    if (isThere) announce();
  }, [isThere]);
  return (
    <QueryView query={query}>
      {(event) =>
        event ? (
          <div className={classes.event} role="status">
            <Time value={event.created} />
            <Sentence event={event} />
            <AnchorLink inherit underline="always" to="/events" search={{ event: event.id ?? '' }}>
              Inspect it
            </AnchorLink>
          </div>
        ) : (
          <>
            <div role="status">
              <StatusText tone="warning">
                <span>
                  Waiting for an event from <UserText text={channel} />
                </span>
              </StatusText>
            </div>
            <div>
              {isSimulated ? (
                <>
                  The simulator sends an event after some time. To cause an event now, run{' '}
                  <code>npm run simulator -- live {channel}</code> in a second terminal.
                </>
              ) : (
                'Go live, write in the chat, or ask somebody to follow the channel.'
              )}{' '}
              To see what an event looks like,{' '}
              <AnchorLink inherit underline="always" to="/test-event">
                send a test event
              </AnchorLink>
              .
            </div>
          </>
        )
      }
    </QueryView>
  );
}
